"""Planning: lengths of every kind, batches ahead, and what cannot be planned."""

import array
import os
import unittest
import warnings

import slimpack
from slimpack import Status
from slimpack._core import numpy

from support import listed, long_tail, planner


class Planning(unittest.TestCase):
    def test_lengths_of_every_kind_give_one_plan(self):
        lengths = long_tail(3)
        p = planner()
        digest = p.plan(lengths).digest
        kinds = [
            tuple(lengths), iter(lengths), array.array("q", lengths), array.array("i", lengths),
            memoryview(array.array("q", lengths)),
            memoryview(array.array("q", [v for n in lengths for v in (n, -1)]))[::2],
        ]  # fmt: skip
        if numpy is not None:
            kinds += [numpy.array(lengths, dtype=t) for t in ("i8", "i4", "u2", ">i8")]
            kinds.append(numpy.array(lengths * 2)[: len(lengths)])
            kinds.append([numpy.int64(n) for n in lengths])
        for kind in kinds:
            with self.subTest(kind=type(kind)):
                self.assertEqual(p.plan(kind).digest, digest)

    def test_plans_are_those_of_a_new_planner(self):
        p = planner()
        for seed in range(4):
            self.assertEqual(p.plan(long_tail(seed)).digest, planner().plan(long_tail(seed)).digest)

    def test_parameters_change_the_plan(self):
        p = planner(max_packs=8)
        many = p.plan(long_tail(1)).stats.forward_packs
        p.set(forward_packs=3)
        self.assertEqual(p.plan(long_tail(1)).stats.forward_packs, 3)
        self.assertNotEqual(many, 3)

    def test_batches_ahead_come_in_order(self):
        p, batches = planner(), [long_tail(seed) for seed in range(6)]
        p.set(queue_depth=3)
        for lengths in batches[:3]:
            p.submit(lengths)
        got = []
        for lengths in batches[3:] + [None] * 3:
            plan = p.collect()
            got.append(listed(plan.lengths))
            self.assertEqual(plan.digest, planner().plan(got[-1]).digest)
            if lengths is not None:
                p.submit(lengths)
        self.assertEqual(got, batches)

    def test_queue_has_an_end(self):
        p = planner(queue_depth=2)
        p.submit([5])
        p.submit([6])
        with self.assertRaises(slimpack.Error) as caught:
            p.submit([7])
        self.assertEqual(caught.exception.status, Status.STATE)
        p.cancel()
        self.assertEqual(p.ready, 0)
        p.submit([8])
        self.assertEqual(listed(p.collect().lengths), [8])

    def test_ready_counts_what_is_planned(self):
        p = planner(queue_depth=2)
        self.assertEqual(p.ready, 0)
        p.submit([5, 6])
        p.submit([7, 8])
        p.collect()
        while p.ready == 0:
            pass
        self.assertEqual(p.ready, 1)
        self.assertEqual(listed(p.collect().lengths), [7, 8])

    def test_collect_without_submit_says_so(self):
        with self.assertRaises(slimpack.Error) as caught:
            planner().collect()
        self.assertEqual(caught.exception.status, Status.STATE)

    def test_infeasible_batch_fails_where_it_is_collected(self):
        p = planner("dp=1", device="h100", memory_bytes=10**9)
        with self.assertRaises(slimpack.Error) as planned:
            p.plan([1000])
        p.submit([1000])
        with self.assertRaises(slimpack.Error) as collected:
            p.collect()
        self.assertEqual(planned.exception.status, Status.INFEASIBLE)
        self.assertEqual(str(collected.exception), str(planned.exception))

    def test_wrong_types_of_lengths_are_refused(self):
        wrong = [
            None, 5, 5.0, "512", b"512", {512}, {512: 1}, [512.0], [512, None], ["512"], [[512]],
            [True, False], array.array("d", [512.0]), object(),
        ]  # fmt: skip
        if numpy is not None:
            wrong += [
                numpy.array([512.0]),
                numpy.array([[512]]),
                numpy.array(512),
                numpy.array([True]),
            ]
        p = planner()
        for lengths in wrong:
            for call in (p.plan, p.submit):
                with self.subTest(lengths=lengths), self.assertRaises(TypeError) as caught:
                    call(lengths)
                self.assertIn("lengths", str(caught.exception))

    def test_wrong_lengths_are_named(self):
        for lengths, said in (
            ([], "count"),
            (array.array("q"), "count"),
            ([4, 0], "lengths[1]"),
            ([4, 5, -3], "lengths[2]"),
            ([4, 2**63], "lengths[1]"),
            ([2**40], "2147483647"),
        ):
            with self.subTest(lengths=lengths), self.assertRaises(slimpack.Error) as caught:
                planner().plan(lengths)
            self.assertIn(said, str(caught.exception))

    def test_planner_is_usable_after_a_failure(self):
        p = planner()
        digest = p.plan([100, 200]).digest
        for lengths in ([], [0], [2**40]):
            with self.assertRaises(slimpack.Error):
                p.plan(lengths)
        self.assertEqual(p.plan([100, 200]).digest, digest)

    def test_arguments_in_the_wrong_place_are_refused(self):
        t, m, d = slimpack.Topology("dp=2"), slimpack.Model("llama2-7b"), slimpack.Device("h100")
        for wrong in ((t, d, m), (m, t, d), (t, m, None), ("dp=2", m, d), (t, "llama2-7b", d)):
            with self.assertRaises(TypeError):
                slimpack.Planner(*wrong)

    def test_forked_process_is_told(self):
        p = planner()
        p.submit([5, 6])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of the worker thread
            child = os.fork()
        if child == 0:
            code = 1
            try:
                p.collect()
            except slimpack.Error as error:
                code = 0 if error.status == Status.STATE and p.plan([5, 6]).op_count > 0 else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(listed(p.collect().lengths), [5, 6])
