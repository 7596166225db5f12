"""What a plan says: each query against the others, and all of it against the program."""

import json
import os
import subprocess
import tempfile
import unittest

import slimpack
from slimpack import BACKWARD, FORWARD, Pass, Status
from slimpack._core import numpy

from support import TOPOLOGIES, listed, long_tail, plan, planner

PROGRAM = os.environ.get("SLIMPACK", "build/slimpack")


def shards(pack):
    """[sample, start, length] of each shard."""
    return [list(s) for s in zip(listed(pack.sample), listed(pack.start), listed(pack.length))]


def slices(pack):
    return [list(s) for s in zip(listed(pack.sample), listed(pack.start), listed(pack.length))]


class Schedules(unittest.TestCase):
    def test_every_token_is_once_in_each_pass(self):
        for text in TOPOLOGIES:
            topology, lengths = slimpack.Topology(text), long_tail(5)
            s = planner(text).plan(lengths)
            for pass_ in (FORWARD, BACKWARD):
                tokens = [[0] * n for n in lengths]
                for rank in range(topology.size):
                    at = topology.coordinates(rank)
                    if at.tp or at.pp:
                        continue
                    for k in range(s.pack_count(pass_)):
                        for sample, start, length in shards(s.pack(rank, pass_, k)):
                            for i in range(start, start + length):
                                tokens[sample][i] += 1
                self.assertTrue(all(n == 1 for sample in tokens for n in sample), text)

    def test_offset_tables_belong_together(self):
        s = plan(2, "dp=2 pp=2 cp=2", pad_multiple=64)
        for rank in range(8):
            for op in s.ops(rank):
                pack = s.pack(rank, op.pass_, op.pack)
                q, k, padded = map(
                    listed, (pack.cu_seqlens_q, pack.cu_seqlens_k, pack.cu_seqlens_q_padded)
                )
                lengths = listed(pack.length)
                self.assertEqual((len(q), len(k), len(padded)), (pack.count + 1,) * 3)
                self.assertEqual([b - a for a, b in zip(q, q[1:])], lengths)
                ends = [start + n for start, n in zip(listed(pack.start), lengths)]
                self.assertEqual([b - a for a, b in zip(k, k[1:])], ends)
                self.assertEqual(
                    [b - a for a, b in zip(padded, padded[1:])], [-(-n // 64) * 64 for n in lengths]
                )
                self.assertEqual((pack.tokens, pack.padded_tokens), (q[-1], padded[-1]))
                self.assertEqual(pack.max_seqlen_q, max(lengths, default=0))
                self.assertEqual(pack.max_seqlen_k, max(ends, default=0))
                self.assertEqual(pack.empty, pack.tokens == 0)
                self.assertEqual(pack.merge, op.merge)

    def test_block_holds_all_arrays(self):
        s = plan(2, "dp=2 pp=2 cp=2", pad_multiple=64)
        for rank in range(8):
            block = listed(s.block(rank))
            for pass_ in (FORWARD, BACKWARD):
                for k in range(s.pack_count(pass_)):
                    pack, at = s.pack(rank, pass_, k), s.offsets(rank, pass_, k)
                    for name in at._fields:
                        array, o = listed(getattr(pack, name)), getattr(at, name)
                        self.assertEqual(block[o : o + len(array)], array)

    def test_peers_agree_on_what_they_exchange(self):
        s = plan(3, "dp=2 pp=4")
        sent, received = {}, {}
        for rank in range(8):
            for op in s.ops(rank):
                if op.send_rank >= 0:
                    sent.setdefault((rank, op.send_rank, op.pass_), []).append(op.send_tokens)
                if op.recv_rank >= 0:
                    received.setdefault((op.recv_rank, rank, op.pass_), []).append(op.recv_tokens)
        self.assertEqual(len(sent), 12)
        self.assertEqual(sent, received)

    def test_stats_count_what_the_queries_show(self):
        lengths = long_tail(4)
        s = planner("dp=4 pp=2").plan(lengths)
        stats = s.stats
        self.assertEqual((stats.samples, stats.tokens), (len(lengths), sum(lengths)))
        self.assertEqual(
            (stats.forward_packs, stats.backward_packs),
            (s.pack_count(FORWARD), s.pack_count(BACKWARD)),
        )
        self.assertEqual(s.op_count, stats.forward_packs + stats.backward_packs)
        self.assertEqual(stats.merges, len(s.merges))
        self.assertGreater(stats.merges, 0)
        self.assertEqual(max(op.end_ps for r in range(8) for op in s.ops(r)), stats.makespan_ps)
        self.assertEqual(max(s.stage(r).peak_bytes for r in range(8)), stats.peak_bytes)
        self.assertEqual(listed(s.lengths), lengths)

    def test_merged_packs_show_the_same_slices(self):
        s, found = planner("dp=4 pp=2").plan(long_tail(4)), 0
        for index, merge in enumerate(s.merges):
            shared = []
            for replica in range(merge.first_replica, merge.first_replica + merge.replicas):
                packs = [s.pack_slices(replica, FORWARD, k) for k in range(s.pack_count(FORWARD))]
                shared.append([slices(p) for p in packs if p.merge == index])
                found += len(shared[-1])
                self.assertTrue(all(x[0] == merge.sample for p in shared[-1] for x in p))
            self.assertTrue(all(x == shared[0] for x in shared))
        self.assertGreater(found, 1)

    def test_pipelines_are_told(self):
        m = slimpack.Model("llama2-7b", virtual_stages=2)
        p = slimpack.Planner(
            slimpack.Topology("pp=2"), m, slimpack.Device("ideal"), pipeline="zero-bubble"
        )
        s = p.plan(long_tail(1))
        self.assertEqual(s.pipeline, (2, 1))
        self.assertEqual({op.pass_ for op in s.ops(0)}, set(Pass))
        self.assertEqual({op.chunk for op in s.ops(0)}, {0, 1})
        for op in s.ops(0):
            if op.pass_ == Pass.WEIGHT:
                weight, back = (s.pack(0, p, op.pack) for p in (op.pass_, Pass.BACKWARD))
                self.assertEqual(list(weight.start), list(back.start))

    def test_oversize_packs_are_flagged(self):
        s = planner("dp=1", slicing=False, oversize="alone", max_pack_tokens=100).plan(
            [500, 40, 30]
        )
        packs = [s.pack(0, FORWARD, k) for k in range(s.pack_count(FORWARD))]
        self.assertEqual([p.tokens for p in packs if p.oversize], [500])

    def test_plans_pass_their_check(self):
        for text in TOPOLOGIES:
            plan(6, text).check()

    def test_bytes_give_the_plan_again_whole_or_a_ranks_part(self):
        s = plan(3, "dp=4 pp=2")
        data = s.encode()
        whole, part = slimpack.Schedule.decode(data), slimpack.Schedule.decode(data, 1)
        self.assertEqual(whole.digest, s.digest)
        self.assertEqual(whole.encode(), data)
        self.assertEqual(part.digest, s.digest)
        for k in range(s.pack_count(FORWARD)):
            self.assertEqual(shards(part.pack(1, FORWARD, k)), shards(s.pack(1, FORWARD, k)))
        self.assertEqual(slimpack.Schedule.decode(s.encode(1)).encode(), part.encode())

    def test_damaged_bytes_are_refused(self):
        data = bytearray(plan(1).encode())
        data[50] ^= 1
        for wrong in (bytes(data), b"", b"slimpack", data[:60]):
            with self.assertRaises(slimpack.Error) as caught:
                slimpack.Schedule.decode(wrong)
            self.assertEqual(caught.exception.status, Status.FORMAT)
        with self.assertRaises(TypeError):
            slimpack.Schedule.decode("slimpack")

    def test_digest_tells_plans_apart(self):
        self.assertEqual(plan(1).digest, plan(1).digest)
        self.assertNotEqual(plan(1).digest, plan(2).digest)
        self.assertGreaterEqual(plan(1).digest, 0)

    def test_places_out_of_bounds_are_refused(self):
        s = plan(1, "dp=2 pp=2")
        calls = [
            lambda v: s.pack(v, FORWARD, 0), lambda v: s.pack(0, FORWARD, v), lambda v: s.ops(v),
            lambda v: s.pack_slices(v, FORWARD, 0), lambda v: s.block(v), lambda v: s.stage(v),
            lambda v: s.offsets(0, FORWARD, v),
        ]  # fmt: skip
        for call in calls:
            for value in (-1, 1000, 2**32, -(2**32), 2**64):
                with self.assertRaises(slimpack.Error) as caught:
                    call(value)
                self.assertEqual(caught.exception.status, Status.RANGE)
            for value in (None, "0", 0.0):
                with self.assertRaises(TypeError):
                    call(value)
        with self.assertRaises(slimpack.Error):
            s.pack(0, 3, 0)
        with self.assertRaises(ValueError):
            s.pack_count(3)

    def test_arrays_are_views_or_lists(self):
        s = plan(1)
        pack = s.pack(0, FORWARD, 0)
        arrays = [
            pack.sample,
            pack.start,
            pack.cu_seqlens_q,
            pack.cu_seqlens_k,
            s.block(0),
            s.lengths,
        ]
        if numpy is None:
            self.assertTrue(all(type(a) is list and all(type(v) is int for v in a) for a in arrays))
            return
        for a in arrays:
            self.assertEqual(a.dtype.itemsize, 8 if a is arrays[-1] else 4)
            self.assertFalse(a.flags.owndata)
            with self.assertRaises(ValueError):
                a[0] = 1
        address = pack.sample.__array_interface__["data"][0]
        block = s.block(0).__array_interface__["data"][0]
        self.assertEqual(address, block + 4 * s.offsets(0, FORWARD, 0).sample)
        self.assertEqual(block % 64, 0)

    def test_plan_is_that_of_the_program(self):
        said = subprocess.run([PROGRAM, "--version"], stdout=subprocess.PIPE).stdout.decode()
        if "JSON: none" in said:
            self.skipTest("the program was built without JSON")
        lengths = long_tail(7)
        with tempfile.TemporaryDirectory() as work:
            data, out = os.path.join(work, "lengths"), os.path.join(work, "plan.json")
            with open(data, "w") as file:
                file.write("\n".join(map(str, lengths)))
            degrees = "--dp 4 --pp 2 --cp 2 --device ideal --set max_packs=12".split()
            subprocess.run([PROGRAM, "plan", data, *degrees, "--quiet", "--json", out], check=True)
            with open(out) as file:
                wanted = json.load(file)
        topology = slimpack.Topology("dp=4 pp=2 cp=2")
        s = planner("dp=4 pp=2 cp=2").plan(lengths)
        self.assertEqual(f"{s.digest:016x}", wanted["stats"]["digest"])
        self.assertEqual(s.stats.makespan_ps, wanted["stats"]["makespan_ps"])
        self.assertEqual(
            [
                {
                    "sample": m.sample,
                    "replicas": list(range(m.first_replica, m.first_replica + m.replicas)),
                }
                for m in s.merges
            ],
            wanted["merges"],
        )
        for replica in wanted["replicas"]:
            dp = replica["dp"]
            for pass_, name in ((FORWARD, "forward"), (BACKWARD, "backward")):
                self.assertEqual(len(replica[name]), s.pack_count(pass_))
                for k, pack in enumerate(replica[name]):
                    shown = s.pack_slices(dp, pass_, k)
                    self.assertEqual((slices(shown), shown.merge), (pack["slices"], pack["merge"]))
                    ranks = [topology.rank(dp=dp, cp=cp) for cp in range(2)]
                    self.assertEqual([shards(s.pack(r, pass_, k)) for r in ranks], pack["shards"])
            for stage in replica["stages"]:
                rank = topology.rank(dp=dp, pp=stage["pp"])
                ops = [["FBW"[op.pass_], op.pack, op.start_ps, op.end_ps] for op in s.ops(rank)]
                self.assertEqual(ops, stage["ops"])
                self.assertEqual(s.stage(rank).peak_bytes, stage["peak_bytes"])
