"""libslimpack from Python: plans the steps of variable-length LLM training.

    planner = slimpack.Planner(                                         # once
        slimpack.Topology("dp=8 pp=4"), slimpack.Model("llama2-7b"), slimpack.Device("h100")
    )
    plan = planner.plan(lengths)                                        # every step
    for op in plan.ops(my_rank):                                        # what to run
        pack = plan.pack(my_rank, op.pass_, op.pack)                    # on which slices

Needs nothing but libslimpack.so.1, which is looked for in $SLIMPACK_LIBRARY, beside the
module and where the loader looks. With numpy, arrays are read-only views of the plan's
memory; without it they are lists. What fails raises slimpack.Error with the library's
message. The manual is include/slimpack.h; docs/python.md tells where each part of it is.
"""

from __future__ import annotations

from ._abi import MEMORY_KINDS, PackFlag, Pass, Status, Wait, lib
from ._core import Error
from .inputs import Coordinates, Device, Fit, Model, Parameter, Topology
from .inputs import devices, models, parameters, policies
from .planner import Planner
from .schedule import Merge, Offsets, Op, Pack, Pipeline, Schedule, Slices
from .simulation import DeviceTime, OpTimes, PathOp, Simulation, Stage, Stats

FORWARD, BACKWARD, WEIGHT = Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT


def version() -> str:
    """Version of the library that runs, such as "1.0.0"."""
    return str(lib.sp_version_string().decode())


__all__ = [
    "BACKWARD", "Coordinates", "Device", "DeviceTime", "Error", "FORWARD", "Fit", "MEMORY_KINDS",
    "Merge", "Model", "Offsets", "Op", "OpTimes", "Pack", "PackFlag", "Parameter", "Pass",
    "PathOp", "Pipeline", "Planner", "Schedule", "Simulation", "Slices", "Stage", "Stats",
    "Status", "Topology", "WEIGHT", "Wait", "devices", "models", "parameters", "policies",
    "version",
]  # fmt: skip
