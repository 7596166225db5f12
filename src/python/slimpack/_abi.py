"""The C side of the module: structs, constants, signatures, and the library itself.

What stands here mirrors include/slimpack.h field by field; tests/python/test_layout.py
holds it against the C compiler. Nothing here knows what a plan is.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple, Type

ABI = 1
"""SP_VERSION_MAJOR that this module speaks to; the number in the SONAME."""

SONAME = f"libslimpack.so.{ABI}"


class Status(IntEnum):
    """Result of a call, SP_OK and the SP_ERR values of the header."""

    OK = 0
    INVALID = -1
    RANGE = -2
    MEMORY = -3
    OVERFLOW = -4
    INFEASIBLE = -5
    NAME = -6
    ABI = -7
    INVARIANT = -8
    STATE = -9
    SYSTEM = -10
    FORMAT = -11


class Pass(IntEnum):
    """Pass of a pack (forward or backward) or of an op (also weight)."""

    FORWARD = 0
    BACKWARD = 1
    WEIGHT = 2


class PackFlag(IntFlag):
    """Bits of Pack.flags."""

    EMPTY = 1
    OVERSIZE = 2


class Wait(IntEnum):
    """What an op of the critical path had to wait for last."""

    NOTHING = 0
    STAGE = 1
    INPUT = 2


MEMORY_KINDS = (
    "weights",
    "gradients",
    "optimizer",
    "activations",
    "kv",
    "dkv",
    "logits",
    "buffers",
)
"""Kinds of memory on a device: the columns of Simulation.memory(), as sp_memory_kind."""


class Sized(ctypes.Structure):
    """A struct that begins with its size; a new one is its SP_..._INIT."""

    def __init__(self) -> None:
        super().__init__(ctypes.sizeof(self))


def _struct(name: str, *fields: Tuple[str, Any]) -> Type[Sized]:
    return type(name, (Sized,), {"_fields_": [("struct_size", c_size_t), *fields]})


def _all(kind: Any, names: str) -> List[Tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


Coordinates = _struct("sp_coordinates", *_all(c_int32, "dp tp pp cp"))
ParamInfo = _struct(
    "sp_param_info",
    *_all(c_int32, "key reserved"),
    *_all(c_char_p, "name unit help values"),
    *_all(c_int64, "minimum maximum fallback"),
)
Fit = _struct("sp_fit", *_all(c_int64, "used outliers mean_error_ppm largest_error_ppm"))
# Arrays are kept as addresses: who looks at them decides between a view and a list.
PackView = _struct(
    "sp_pack_view",
    *_all(c_int32, "count merge flags max_seqlen_q max_seqlen_k reserved"),
    *_all(c_void_p, "sample start cu_seqlens_q cu_seqlens_k cu_seqlens_q_padded"),
    *_all(c_int64, "tokens padded_tokens pack_tokens"),
)
SliceView = _struct(
    "sp_slice_view",
    *_all(c_int32, "count merge"),
    *_all(c_void_p, "sample start length"),
    ("tokens", c_int64),
)
OpView = _struct(
    "sp_op_view",
    *_all(c_int32, "pass_ pack merge recv_rank send_rank chunk"),
    *_all(c_int64, "recv_tokens send_tokens start_ps end_ps"),
)
PipelineView = _struct("sp_pipeline_view", *_all(c_int32, "virtual_stages pipeline"))
StageView = _struct(
    "sp_stage_view", *_all(c_int64, "static_bytes peak_bytes peak_live_tokens busy_ps")
)
MergeView = _struct("sp_merge_view", *_all(c_int32, "sample first_replica replicas reserved"))
StatsStruct = _struct(
    "sp_stats",
    *_all(c_int64, "samples tokens slices merges forward_packs backward_packs"),
    *_all(c_int64, "makespan_ps ideal_ps bound_ps ratio_ppm bubble_ppm"),
    *_all(c_int64, "imbalance_dp_ppm imbalance_pp_ppm imbalance_cp_ppm"),
    *_all(c_int64, "imbalance_forward_ppm imbalance_backward_ppm"),
    *_all(c_int64, "peak_bytes peak_live_tokens memory_bytes"),
    *_all(c_int64, "load_ps load_bound_ps exact_nodes step_ps tokens_per_s"),
    *_all(c_int64, "model_gflop device_gflops mfu_ppm"),
)
DeviceView = _struct(
    "sp_device_view",
    *_all(c_int64, "forward_ps backward_ps weight_ps communication_ps bubble_ps"),
    *_all(c_int64, "reduce_ps optimizer_ps gather_ps finish_ps peak_ps"),
)
PathView = _struct(
    "sp_path_view",
    *_all(c_int32, "rank op wait reserved"),
    *_all(c_int64, "transfer_ps start_ps end_ps"),
)

STRUCTS: List[Type[Sized]] = [Coordinates, ParamInfo, Fit, PackView, SliceView, OpView]
STRUCTS += [PipelineView, StageView, MergeView, StatsStruct, DeviceView, PathView]

# i: int32, l: int64, p: any pointer, s: string, z: size_t, u: uint64, -: nothing. The
# result comes first; a status is an i.
_LETTERS: Dict[str, Any] = {
    "i": c_int32, "l": c_int64, "p": c_void_p, "s": c_char_p, "z": c_size_t, "u": c_uint64,
    "-": None,
}  # fmt: skip

SIGNATURES = {
    "sp_status_name": "si", "sp_status_text": "si", "sp_error_message": "s",
    "sp_version": "i", "sp_version_string": "s",
    "sp_batch_create": "iplpp", "sp_batch_destroy": "-p", "sp_batch_count": "lp",
    "sp_batch_tokens": "lp", "sp_batch_longest": "lp",
    "sp_topology_create": "iiiiipp", "sp_topology_parse": "isp", "sp_topology_destroy": "-p",
    "sp_topology_size": "ip", "sp_topology_degrees": "ipp", "sp_topology_coordinates": "ipip",
    "sp_topology_rank": "ippp",
    "sp_model_create": "ispp", "sp_model_destroy": "-p", "sp_model_preset_name": "si",
    "sp_model_set": "ipil", "sp_model_get": "ipip", "sp_model_set_stage_layers": "ippi",
    "sp_model_param_info": "iip", "sp_model_param_find": "isp", "sp_model_fit": "ipilppppppp",
    "sp_device_create": "ispp", "sp_device_destroy": "-p", "sp_device_preset_name": "si",
    "sp_device_set": "ipil", "sp_device_get": "ipip", "sp_device_param_info": "iip",
    "sp_device_param_find": "isp", "sp_device_calibrate": "ipipppippp",
    "sp_planner_create": "ippppp", "sp_planner_destroy": "-p", "sp_planner_set": "ipil",
    "sp_planner_get": "ipip", "sp_planner_param_info": "iip", "sp_planner_param_find": "isp",
    "sp_policy_name": "si", "sp_policy_find": "isp",
    "sp_plan_batch": "ippp", "sp_planner_submit": "ipp", "sp_planner_collect": "ipp",
    "sp_planner_ready": "ip", "sp_planner_cancel": "ip",
    "sp_schedule_destroy": "-p", "sp_schedule_pack_count": "ipi", "sp_schedule_pack": "ipiiip",
    "sp_schedule_pack_slices": "ipiiip", "sp_schedule_block": "ipipp",
    "sp_schedule_op_count": "ip", "sp_schedule_op": "ipiip", "sp_schedule_pipeline": "ipp",
    "sp_schedule_stage": "ipip", "sp_schedule_merge_count": "ip", "sp_schedule_merge": "ipip",
    "sp_schedule_lengths": "pp", "sp_schedule_stats": "ipp", "sp_schedule_digest": "up",
    "sp_schedule_check": "ip", "sp_schedule_encode": "ipipzp", "sp_schedule_decode": "ipzipp",
    "sp_simulate": "ipppp", "sp_simulation_destroy": "-p", "sp_simulation_op": "ipiipp",
    "sp_simulation_stage": "ipip", "sp_simulation_memory": "ipip",
    "sp_simulation_device": "ipip", "sp_simulation_path_count": "ip",
    "sp_simulation_path": "ipip", "sp_simulation_stats": "ipp",
}  # fmt: skip


def _candidates() -> Iterator[str]:
    """Where the library may lie: what SLIMPACK_LIBRARY names, else beside the module,
    else where the loader looks."""
    named = os.environ.get("SLIMPACK_LIBRARY")
    if named:
        yield named  # alone: a wrong one is an error, not a reason to take another
        return
    base = Path(__file__).resolve().parents[3]  # the repository, or PREFIX/lib
    for path in (base / "lib" / SONAME, base / SONAME):
        if path.exists():
            yield str(path)
    yield ctypes.util.find_library("slimpack") or SONAME
    yield SONAME


def _bind(library: ctypes.CDLL, path: str) -> ctypes.CDLL:
    """Checks the version and declares every function."""
    try:
        library.sp_version.restype = c_int32
        version = int(library.sp_version())
        if version // 10000 != ABI:
            raise ImportError(
                f"slimpack: {path} is version {version // 10000}.{version // 100 % 100}."
                f"{version % 100}, this module needs {ABI}.x ({SONAME})"
            )
        for name, letters in SIGNATURES.items():
            function = getattr(library, name)
            function.restype = _LETTERS[letters[0]]
            function.argtypes = [_LETTERS[letter] for letter in letters[1:]]
    except AttributeError as error:
        raise ImportError(f"slimpack: {path} is no libslimpack, or an older one: {error}") from None
    return library


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            tried.append(str(error))
        else:
            return _bind(library, path)
    raise ImportError(
        f"slimpack: {SONAME} was not found; set SLIMPACK_LIBRARY to its path ({'; '.join(tried)})"
    )


lib = _load()
