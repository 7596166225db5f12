"""The planner: lengths in, schedules out."""

from __future__ import annotations

from typing import Any

from ._abi import lib
from ._core import Handle, check, create, held, integers, use
from .inputs import Device, Model, Topology, Tunable, Value
from .schedule import Schedule


def _batch(lengths: Any) -> Handle:
    """A batch of lengths, which the library copies."""
    values = integers(lengths, 64, "lengths")
    return create(lib.sp_batch_destroy, lib.sp_batch_create, values, len(values), None)


class Planner(Tunable):
    """Plans one batch after another, with scratch memory of its own.

    Planner(topology, model, device, max_packs=64, policy="slimpack"): parameters are
    those of parameters("planner"). Topology, model and device are copied. One call at
    a time: a thread waits until another's is through. Planners are
    independent, and a call lets other threads of Python run.
    """

    _kind = "planner"

    def __init__(self, topology: Topology, model: Model, device: Device, **params: Value) -> None:
        t = use(topology, Topology, "topology")
        m, d = use(model, Model, "model"), use(device, Device, "device")
        with held(m, d):
            self._handle = create(lib.sp_planner_destroy, lib.sp_planner_create, t, m, d, None)
        self.set(**params)

    def plan(self, lengths: Any) -> Schedule:
        """Plan one step.

        lengths: tokens of each sample of the global batch, in one order on all ranks: a
        list, an array, a numpy array or a tensor of whole numbers, each >= 1. The same
        inputs give the same plan on every rank.
        """
        handle, batch = self._use(), _batch(lengths)
        with held(handle):
            plan = create(lib.sp_schedule_destroy, lib.sp_plan_batch, handle, batch)
        return Schedule(plan)

    def submit(self, lengths: Any) -> None:
        """Hand over the batch of a coming step, to be planned by a thread of the library
        while this step runs. At most queue_depth batches may wait to be collected."""
        handle, batch = self._use(), _batch(lengths)
        with held(handle):
            check(lib.sp_planner_submit(handle, batch))

    def collect(self) -> Schedule:
        """Take the plan of the oldest batch that was submitted; waits for it. A batch that
        could not be planned raises here what plan() would have raised."""
        handle = self._use()
        with held(handle):
            plan = create(lib.sp_schedule_destroy, lib.sp_planner_collect, handle)
        return Schedule(plan)

    @property
    def ready(self) -> int:
        """Batches that can be collected without waiting."""
        handle = self._use()
        with held(handle):
            return int(lib.sp_planner_ready(handle))

    def cancel(self) -> None:
        """Drop all batches that are submitted and not collected."""
        handle = self._use()
        with held(handle):
            check(lib.sp_planner_cancel(handle))
