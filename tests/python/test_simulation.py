"""Replays: times, memory and the critical path agree with each other and with the plan."""

import unittest

import slimpack
from slimpack import MEMORY_KINDS, Device, Model, Status, Wait
from slimpack._core import numpy

from support import plan

MODEL, SLOW, RANKS = Model("llama2-7b"), Device("a100-80g"), 8


class Simulations(unittest.TestCase):
    def test_replay_under_the_same_costs_is_the_plan(self):
        s = plan(1)
        r = s.simulate(MODEL, Device("ideal"))
        self.assertEqual(r.stats.makespan_ps, s.stats.makespan_ps)
        for rank in range(RANKS):
            self.assertEqual(r.ops(rank), [(op.start_ps, op.end_ps) for op in s.ops(rank)])
            self.assertEqual(r.stage(rank), s.stage(rank))

    def test_slower_device_takes_longer(self):
        s = plan(1)
        self.assertGreater(s.simulate(MODEL, SLOW).stats.makespan_ps, s.stats.makespan_ps)

    def test_device_times_add_up_to_the_makespan(self):
        r = plan(1).simulate(MODEL, SLOW)
        for rank in range(RANKS):
            self.assertEqual(sum(r.device(rank)[:5]), r.stats.makespan_ps)

    def test_memory_reaches_its_peak(self):
        r = plan(1).simulate(MODEL, SLOW)
        for rank in range(RANKS):
            rows = [[int(v) for v in row] for row in r.memory(rank)]
            self.assertEqual(len(rows), len(r.ops(rank)))
            self.assertEqual({len(row) for row in rows}, {len(MEMORY_KINDS)})
            self.assertEqual(max(map(sum, rows)), r.stage(rank).peak_bytes)
            self.assertEqual({sum(row[:3]) for row in rows}, {r.stage(rank).static_bytes})
        if numpy is not None:
            self.assertEqual(r.memory(0).shape, (len(rows), len(MEMORY_KINDS)))

    def test_path_leads_to_the_end(self):
        r = plan(1).simulate(MODEL, SLOW)
        path = r.path
        self.assertEqual((path[0].start_ps, path[0].wait), (0, Wait.NOTHING))
        for before, op in zip(path, path[1:]):
            self.assertEqual(op.start_ps, before.end_ps + op.transfer_ps)
        for op in path:
            self.assertEqual((op.start_ps, op.end_ps), r.ops(op.rank)[op.op])

    def test_simulation_outlives_its_schedule(self):
        s = plan(1)
        r = s.simulate(MODEL, SLOW)
        before = r.stats, r.ops(0), r.device(5)
        s.close()
        del s
        others = [plan(seed) for seed in range(4)]
        self.assertEqual((r.stats, r.ops(0), r.device(5)), before)
        del others

    def test_wrong_arguments_are_refused(self):
        s = plan(1)
        for wrong in ((SLOW, MODEL), (MODEL, None), (MODEL, "h100")):
            with self.assertRaises(TypeError):
                s.simulate(*wrong)
        r = s.simulate(MODEL, SLOW)
        for call in (r.ops, r.stage, r.memory, r.device):
            for rank in (-1, RANKS, 2**32):
                with self.assertRaises(slimpack.Error) as caught:
                    call(rank)
                self.assertEqual(caught.exception.status, Status.RANGE)
