"""A finished plan: what each rank runs, in which order, and how good it is.

Arrays are views of the schedule's memory where numpy is installed. A view keeps that
memory alive, whatever becomes of the Schedule.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, List, NamedTuple, cast

from . import _abi
from ._abi import PackFlag, lib
from ._core import Handle, Ints, Owner, check, create, held, int32, ints, numpy, record, use
from .inputs import Device, Model
from .simulation import Simulation, Stage, Stats


@dataclass(frozen=True, eq=False)
class Pack:
    """What one rank computes of one pack: shards, ready for a varlen kernel."""

    count: int
    """Shards of this rank in the pack."""
    merge: int
    """Index of the merge that shares the pack, or -1."""
    flags: int
    """Bits of PackFlag."""
    max_seqlen_q: int
    """Longest shard, tokens."""
    max_seqlen_k: int
    """Longest prefix including the shard, tokens."""
    sample: Ints
    """[count] index of the sample in the batch."""
    start: Ints
    """[count] first token of the shard within its sample."""
    cu_seqlens_q: Ints
    """[count + 1] offsets of the shards' queries."""
    cu_seqlens_k: Ints
    """[count + 1] offsets of the shards' keys: a shard attends its sample's tokens
    [0, start + length)."""
    cu_seqlens_q_padded: Ints
    """[count + 1] offsets with each shard padded to pad_multiple."""
    tokens: int
    """Real tokens of this rank, cu_seqlens_q[count]."""
    padded_tokens: int
    """cu_seqlens_q_padded[count]."""
    pack_tokens: int
    """Real tokens of the pack over all its ranks."""

    @property
    def length(self) -> Ints:
        """[count] tokens of each shard. Computed, not a view."""
        ends = self.cu_seqlens_q
        if numpy is not None:
            return cast(Ints, numpy.diff(ends))
        return [ends[j + 1] - ends[j] for j in range(self.count)]

    @property
    def empty(self) -> bool:
        """This rank has no tokens here; the pack is still run on every stage."""
        return bool(self.flags & PackFlag.EMPTY)

    @property
    def oversize(self) -> bool:
        """Holds one whole sample above the token cap."""
        return bool(self.flags & PackFlag.OVERSIZE)


class Offsets(NamedTuple):
    """Where the arrays of a pack begin in Schedule.block(), in int32 elements."""

    sample: int
    start: int
    cu_seqlens_q: int
    cu_seqlens_k: int
    cu_seqlens_q_padded: int


@dataclass(frozen=True, eq=False)
class Slices:
    """All slices of one pack of one replica, before context parallelism."""

    count: int
    """Slices in the pack."""
    merge: int
    """Index of the merge that shares the pack, or -1."""
    sample: Ints
    """[count] index of the sample in the batch."""
    start: Ints
    """[count] first token within the sample."""
    length: Ints
    """[count] tokens."""
    tokens: int
    """Sum of the lengths."""


class Op(NamedTuple):
    """One op of a rank: which pack to run, and what to exchange before and after."""

    pass_: int
    """One of Pass: forward, backward, or the weight gradients of a backward pack."""
    pack: int
    """Pack of that pass."""
    merge: int
    """Index of the merge that shares the pack, or -1."""
    recv_rank: int
    """Rank to receive from before the op, or -1."""
    send_rank: int
    """Rank to send to after the op, or -1."""
    chunk: int
    """Model chunk of the stage."""
    recv_tokens: int
    """Tokens to receive."""
    send_tokens: int
    """Tokens to send."""
    start_ps: int
    """Simulated start, picoseconds."""
    end_ps: int
    """Simulated end, picoseconds."""


class Merge(NamedTuple):
    """A sample shared by consecutive replicas."""

    sample: int
    first_replica: int
    replicas: int


class Pipeline(NamedTuple):
    """How the pipeline of a schedule runs."""

    virtual_stages: int
    """Model chunks of each stage."""
    pipeline: int
    """0: 1F1B, 1: zero bubble."""


_SHARDS = ("sample", "start", "cu_seqlens_q", "cu_seqlens_k", "cu_seqlens_q_padded")


class Schedule(Owner):
    """A finished plan, made by Planner.plan() or collect(). Never changes; any number of
    threads may read it. It depends on no planner."""

    def __init__(self, handle: Handle) -> None:
        if not isinstance(handle, Handle):
            raise TypeError("Schedule: a planner makes it")
        self._handle = handle

    def pack_count(self, pass_: int) -> int:
        """Packs of each replica in one pass, forward or backward."""
        count = int(lib.sp_schedule_pack_count(self._use(), int32(pass_, "pass_")))
        if count < 0:
            raise ValueError(f"pass_: {pass_!r} is not Pass.FORWARD or Pass.BACKWARD")
        return count

    def _pack(self, handle: Handle, rank: int, pass_: int, k: int) -> Any:
        view = _abi.PackView()
        at = int32(rank, "rank"), int32(pass_, "pass_"), int32(k, "pack")
        check(lib.sp_schedule_pack(handle, *at, ctypes.byref(view)))
        return view

    def pack(self, rank: int, pass_: int, k: int) -> Pack:
        """What a rank computes of pack k of a pass. Shards are listed in the order to run."""
        handle = self._use()
        view = self._pack(handle, rank, pass_, k)
        n = view.count
        return Pack(
            n,
            view.merge,
            view.flags,
            view.max_seqlen_q,
            view.max_seqlen_k,
            ints(handle, view.sample, n),
            ints(handle, view.start, n),
            ints(handle, view.cu_seqlens_q, n + 1),
            ints(handle, view.cu_seqlens_k, n + 1),
            ints(handle, view.cu_seqlens_q_padded, n + 1),
            view.tokens,
            view.padded_tokens,
            view.pack_tokens,
        )

    def pack_slices(self, replica: int, pass_: int, k: int) -> Slices:
        """All slices of pack k of a replica. A pack of a merge shows the same slices in
        each of its replicas."""
        handle = self._use()
        view: Any = _abi.SliceView()
        at = int32(replica, "replica"), int32(pass_, "pass_"), int32(k, "pack")
        check(lib.sp_schedule_pack_slices(handle, *at, ctypes.byref(view)))
        sample, start, length = (
            ints(handle, array, view.count) for array in (view.sample, view.start, view.length)
        )
        return Slices(view.count, view.merge, sample, start, length, view.tokens)

    def _block(self, handle: Handle, rank: int) -> Any:
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        to = ctypes.byref(data), ctypes.byref(size)
        check(lib.sp_schedule_block(handle, int32(rank, "rank"), *to))
        return data.value, size.value // 4

    def block(self, rank: int) -> Ints:
        """The one block that holds every int32 array of a rank's packs: copy it to the
        accelerator once, and find the arrays by offsets()."""
        handle = self._use()
        return ints(handle, *self._block(handle, rank))

    def offsets(self, rank: int, pass_: int, k: int) -> Offsets:
        """Where the arrays of a rank's pack begin in block(rank)."""
        handle = self._use()
        view, (base, _) = self._pack(handle, rank, pass_, k), self._block(handle, rank)
        return Offsets(*[(getattr(view, name) - base) // 4 for name in _SHARDS])

    @property
    def op_count(self) -> int:
        """Ops of each rank."""
        return int(lib.sp_schedule_op_count(self._use()))

    def ops(self, rank: int) -> List[Op]:
        """All ops of a rank, in the order to run."""
        handle, at, view = self._use(), int32(rank, "rank"), _abi.OpView()
        to, ops = ctypes.byref(view), []
        for i in range(int(lib.sp_schedule_op_count(handle))):
            check(lib.sp_schedule_op(handle, at, i, to))
            ops.append(record(Op, view, Op._fields))
        return ops

    @property
    def pipeline(self) -> Pipeline:
        """How the pipeline runs."""
        view = _abi.PipelineView()
        check(lib.sp_schedule_pipeline(self._use(), ctypes.byref(view)))
        return record(Pipeline, view, Pipeline._fields)

    @property
    def merges(self) -> List[Merge]:
        """The samples that replicas share; Pack.merge and Op.merge are its indices."""
        handle, view, merges = self._use(), _abi.MergeView(), []
        for i in range(int(lib.sp_schedule_merge_count(handle))):
            check(lib.sp_schedule_merge(handle, i, ctypes.byref(view)))
            merges.append(record(Merge, view, Merge._fields))
        return merges

    def stage(self, rank: int) -> Stage:
        """Memory and work of the device at a rank."""
        view = _abi.StageView()
        check(lib.sp_schedule_stage(self._use(), int32(rank, "rank"), ctypes.byref(view)))
        return record(Stage, view, Stage._fields)

    @property
    def stats(self) -> Stats:
        """How good the plan is."""
        view = _abi.StatsStruct()
        check(lib.sp_schedule_stats(self._use(), ctypes.byref(view)))
        return record(Stats, view, Stats._fields)

    @property
    def lengths(self) -> Ints:
        """Sample lengths in input order."""
        handle = self._use()
        return ints(handle, lib.sp_schedule_lengths(handle), self.stats.samples, 8)

    @property
    def digest(self) -> int:
        """Eight bytes that ranks which planned independently compare before they start.
        Time linear in the plan's size."""
        return int(lib.sp_schedule_digest(self._use()))

    def encode(self, rank: int = -1) -> bytes:
        """The plan as bytes for ranks that did not make it, or one rank's part of it:
        versioned, checksummed, the same on every machine."""
        handle, at, size = self._use(), int32(rank, "rank"), ctypes.c_size_t()
        check(lib.sp_schedule_encode(handle, at, None, 0, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        check(lib.sp_schedule_encode(handle, at, buffer, size.value, ctypes.byref(size)))
        return buffer.raw[: size.value]

    @classmethod
    def decode(cls, data: bytes, rank: int = -1) -> Schedule:
        """A schedule from what encode() gave. With a rank it is that rank's part: it answers
        for the replicas that the rank shares work with. Bytes that are damaged or hostile
        raise an Error of Status.FORMAT or Status.INVARIANT."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"data: {type(data).__name__} is not bytes")
        copy, at = bytes(data), int32(rank, "rank")
        return cls(
            create(lib.sp_schedule_destroy, lib.sp_schedule_decode, copy, len(copy), at, None)
        )

    def check(self) -> None:
        """Verify the invariants I1 to I8; an Error of Status.INVARIANT names the first
        that does not hold."""
        check(lib.sp_schedule_check(self._use()))

    def simulate(self, model: Model, device: Device) -> Simulation:
        """Replay the plan, its op order kept, under another model and device."""
        handle = self._use()
        m, d = use(model, Model, "model"), use(device, Device, "device")
        with held(m, d):
            run = create(lib.sp_simulation_destroy, lib.sp_simulate, handle, m, d)
        return Simulation(run, handle, int(lib.sp_schedule_op_count(handle)))
