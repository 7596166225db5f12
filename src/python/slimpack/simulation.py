"""Timeline of a schedule under a model and a device: where time and memory go."""

from __future__ import annotations

import ctypes
from typing import List, NamedTuple, Sequence, cast

from . import _abi
from ._abi import MEMORY_KINDS, lib
from ._core import Handle, Ints, Owner, check, int32, numpy, record


class Stage(NamedTuple):
    """What the simulator says of the device at one rank."""

    static_bytes: int
    """Weights, gradients and optimiser state."""
    peak_bytes: int
    """Largest memory at any time, static part included."""
    peak_live_tokens: int
    """Most tokens between their forward and their backward."""
    busy_ps: int
    """Time spent in ops."""


class Stats(NamedTuple):
    """How good a plan is. Shares are in parts per million, times in picoseconds."""

    samples: int
    """Samples planned."""
    tokens: int
    """Tokens planned: the denominator of the global mean loss."""
    slices: int
    """Slices over all samples."""
    merges: int
    """Samples shared by replicas."""
    forward_packs: int
    """Forward packs of each replica."""
    backward_packs: int
    """Backward packs of each replica."""
    makespan_ps: int
    """Simulated time of the step."""
    ideal_ps: int
    """Compute of the heaviest stage at full rate over DP x CP."""
    bound_ps: int
    """Proven lower bound of any plan's makespan."""
    ratio_ppm: int
    """makespan / ideal: 1000000 has no loss at all."""
    bubble_ppm: int
    """Idle share of all devices over the makespan."""
    imbalance_dp_ppm: int
    """Largest replica's work over the mean, less one, on the stage with the most."""
    imbalance_pp_ppm: int
    """Largest stage's work over the mean, less one."""
    imbalance_cp_ppm: int
    """Time lost to uneven CP ranks within packs."""
    imbalance_forward_ppm: int
    """Largest forward pack over the mean, less one."""
    imbalance_backward_ppm: int
    """Largest backward pack over the mean, less one."""
    peak_bytes: int
    """Largest memory of any device."""
    peak_live_tokens: int
    """Most live tokens of any device."""
    memory_bytes: int
    """The cap planned under, 2**63 - 1 for none."""
    load_ps: int
    """Largest replica's work as assigned, on the stage with the most."""
    load_bound_ps: int
    """Proven lower bound of load_ps over all assignments."""
    exact_nodes: int
    """Nodes that the exact assignment looked at."""
    step_ps: int
    """Makespan, then what is not hidden of reduction, optimiser step and gather."""
    tokens_per_s: int
    """tokens / step."""
    model_gflop: int
    """10^9 FLOPs of the step, recomputation not counted."""
    device_gflops: int
    """model_gflop / step, per device."""
    mfu_ppm: int
    """device_gflops over the device's peak."""


class OpTimes(NamedTuple):
    """Simulated times of one op, picoseconds."""

    start_ps: int
    end_ps: int


class DeviceTime(NamedTuple):
    """Where the time of a device goes. The first five add up to the makespan."""

    forward_ps: int
    """Forward ops, communication left out."""
    backward_ps: int
    """Backward ops, likewise."""
    weight_ps: int
    """Weight-gradient ops."""
    communication_ps: int
    """Within ops, and sends that block the stage."""
    bubble_ps: int
    """Idle until the makespan."""
    reduce_ps: int
    """Gradient reduction after the stage's ops, less what they hide."""
    optimizer_ps: int
    """Optimiser step."""
    gather_ps: int
    """Parameter gather, hidden part left out."""
    finish_ps: int
    """When all of it is done."""
    peak_ps: int
    """Start of the first op at which memory is largest."""


class PathOp(NamedTuple):
    """One op of the critical path."""

    rank: int
    """Rank with TP and CP index 0."""
    op: int
    """Index of its op in Schedule.ops(rank)."""
    wait: int
    """What it had to wait for last, one of Wait."""
    transfer_ps: int
    """Between the end of the op before and the start: a hand-over, or 0."""
    start_ps: int
    """Start."""
    end_ps: int
    """End."""


class Simulation(Owner):
    """A replay, made by Schedule.simulate(). Never changes; threads may share it."""

    def __init__(self, handle: Handle, plan: Handle, op_count: int) -> None:
        if not isinstance(handle, Handle):
            raise TypeError("Simulation: a schedule makes it")
        self._handle = handle
        self._plan = plan  # 1.0.0 looks up the packs' merges there
        self._op_count = op_count

    def ops(self, rank: int) -> List[OpTimes]:
        """Times of all ops of a rank, in the order of Schedule.ops(rank)."""
        handle, at, times = self._use(), int32(rank, "rank"), []
        start, end = ctypes.c_int64(), ctypes.c_int64()
        to = ctypes.byref(start), ctypes.byref(end)
        for i in range(self._op_count):
            check(lib.sp_simulation_op(handle, at, i, *to))
            times.append(OpTimes(start.value, end.value))
        return times

    def stage(self, rank: int) -> Stage:
        """Memory and work of the device at a rank."""
        view = _abi.StageView()
        check(lib.sp_simulation_stage(self._use(), int32(rank, "rank"), ctypes.byref(view)))
        return record(Stage, view, Stage._fields)

    def memory(self, rank: int) -> Sequence[Ints]:
        """Bytes on the device at a rank while each op runs: a row for each op, a column
        for each of MEMORY_KINDS. A numpy array of its own, or a list of lists."""
        kinds = len(MEMORY_KINDS)
        values = (ctypes.c_int64 * (self._op_count * kinds))()
        check(lib.sp_simulation_memory(self._use(), int32(rank, "rank"), values))
        if numpy is not None:
            table = numpy.frombuffer(values, dtype="i8").reshape(-1, kinds)
            return cast(Sequence[Ints], table)
        return [list(values[i * kinds : (i + 1) * kinds]) for i in range(self._op_count)]

    def device(self, rank: int) -> DeviceTime:
        """Where the time of the device at a rank goes."""
        view = _abi.DeviceView()
        check(lib.sp_simulation_device(self._use(), int32(rank, "rank"), ctypes.byref(view)))
        return record(DeviceTime, view, DeviceTime._fields)

    @property
    def path(self) -> List[PathOp]:
        """The critical path, from the start of the step."""
        handle, view, path = self._use(), _abi.PathView(), []
        for i in range(int(lib.sp_simulation_path_count(handle))):
            check(lib.sp_simulation_path(handle, i, ctypes.byref(view)))
            path.append(record(PathOp, view, PathOp._fields))
        return path

    @property
    def stats(self) -> Stats:
        """How good the plan is under these costs."""
        view = _abi.StatsStruct()
        check(lib.sp_simulation_stats(self._use(), ctypes.byref(view)))
        return record(Stats, view, Stats._fields)
