"""Handles: freed once, never while something uses them, in whatever order and thread."""

import copy
import gc
import pickle
import random
import subprocess
import sys
import threading
import unittest

import slimpack
from slimpack import FORWARD, Status
from slimpack._core import numpy

from support import counted, listed, long_tail, plan, planner


def public(thing):
    """Names of the public methods and properties that need an open handle."""
    return [n for n in dir(type(thing)) if not n.startswith("_") and n not in ("close", "closed")]


def everything():
    """One of each class that holds a handle."""
    t, m, d = slimpack.Topology("dp=2 pp=2"), slimpack.Model("llama2-7b"), slimpack.Device("h100")
    p = slimpack.Planner(t, m, d)
    s = p.plan([4000, 200, 30])
    return [t, m, d, p, s, s.simulate(m, d)]


class Lifetime(unittest.TestCase):
    def test_use_after_close_is_an_error(self):
        arguments = {
            "coordinates": (0,), "rank": (), "get": ("x",), "set_stage_layers": (None,),
            "fit": (1, [], [], [], []), "calibrate": ([], []), "plan": ([5],), "submit": ([5],),
            "pack_count": (0,), "pack": (0, 0, 0), "pack_slices": (0, 0, 0), "block": (0,),
            "offsets": (0, 0, 0), "ops": (0,), "stage": (0,), "memory": (0,), "device": (0,),
            "simulate": (None, None),
        }  # fmt: skip
        tried = 0
        for thing in everything():
            thing.close()
            thing.close()
            self.assertTrue(thing.closed)
            for name in public(thing):
                if name == "decode":  # makes a schedule, needs none
                    continue
                with self.subTest(name=f"{type(thing).__name__}.{name}"):
                    with self.assertRaises(slimpack.Error) as caught:
                        found = getattr(thing, name)
                        found(*arguments.get(name, ()))
                    self.assertEqual(caught.exception.status, Status.STATE)
                    self.assertIn("closed", str(caught.exception))
                    tried += 1
        self.assertGreater(tried, 40)

    def test_closed_arguments_are_an_error(self):
        t, m, d, p, s, r = everything()
        m.close()
        for call in (lambda: slimpack.Planner(t, m, d), lambda: s.simulate(m, d)):
            with self.assertRaises(slimpack.Error) as caught:
                call()
            self.assertIn("model: it is closed", str(caught.exception))

    def test_with_blocks_close(self):
        for thing in everything():
            with thing as same:
                self.assertIs(same, thing)
                self.assertFalse(thing.closed)
            self.assertTrue(thing.closed)

    def test_handles_are_freed_once(self):
        with counted() as count:
            things = everything()
            del things[0]
            for thing in things:
                thing.close()
                thing.close()
            del things, thing
        kinds = sorted(kind for kind, _ in count.freed)
        self.assertEqual(
            kinds, ["batch", "device", "model", "planner", "schedule", "simulation", "topology"]
        )

    def test_any_order_of_collection_is_fine(self):
        for seed in range(20):
            with counted() as count:
                things = everything()
                s = things[4]
                things += [
                    s.pack(0, FORWARD, 0),
                    s.block(1),
                    s.lengths,
                    s.pack_slices(1, FORWARD, 0),
                ]
                del s
                random.Random(seed).shuffle(things)
                while things:
                    things.pop()
            self.assertEqual(len(count.freed), 7)
            self.assertEqual(len(set(count.freed)), 7)

    def test_cycles_are_collected(self):
        with counted() as count:
            things = everything()
            for thing in things:
                thing.all_of_them = things
            del things, thing
            gc.collect()
            self.assertEqual(len(count.freed), 7)

    def test_arrays_outlive_the_schedule(self):
        with counted() as count:
            s = plan(1)
            pack = s.pack(0, FORWARD, 0)
            arrays = [
                pack.cu_seqlens_k,
                s.block(1),
                s.lengths[3:],
                s.pack_slices(1, FORWARD, 1).start,
            ]
            before = [listed(a) for a in arrays]
            s.close()
            del s, pack
            gc.collect()
            others = [plan(seed) for seed in range(8)]
            self.assertEqual([listed(a) for a in arrays], before)
            while arrays:  # lists need no schedule, and the last view takes it along
                self.assertEqual(count.of("schedule") == [], numpy is not None)
                arrays.pop()
            self.assertEqual(len(count.of("schedule")), 1)
            del others

    def test_schedules_outlive_their_planner(self):
        p = planner()
        s = p.plan([500, 40])
        p.submit([7])
        digest = s.digest
        p.close()
        self.assertEqual(s.digest, digest)

    def test_failed_constructors_leave_nothing(self):
        with counted() as count:
            for make in (
                lambda: slimpack.Topology("dp=0"),
                lambda: slimpack.Topology("dp=2\0pp=2"),
                lambda: slimpack.Topology("dp=2", pp=2),
                lambda: slimpack.Topology(ep=2),
                lambda: slimpack.Topology(dp=2.0),
                lambda: slimpack.Topology(dp=2**32 + 1),
                lambda: slimpack.Model("lama"),
                lambda: slimpack.Model(7),
                lambda: slimpack.Model("llama2-7b", layrs=3),
                lambda: slimpack.Device("h100", memory_bytes=-1),
                lambda: slimpack.Schedule(1),
                lambda: slimpack.Simulation(1, 1, 1),
            ):
                with self.assertRaises((slimpack.Error, TypeError, ValueError)):
                    make()
        self.assertEqual(sorted(k for k, _ in count.freed), ["device", "model"])

    def test_errors_travel_between_processes(self):
        with self.assertRaises(slimpack.Error) as caught:
            slimpack.Model("lama")
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((error.status, str(error)), (Status.NAME, str(caught.exception)))
        self.assertTrue(str(error).startswith("SP_ERR_NAME: "))

    def test_handles_do_not_travel(self):
        for thing in everything():
            with self.assertRaises((TypeError, ValueError)):
                pickle.dumps(thing)
            same = copy.copy(thing)
            thing.close()
            self.assertFalse(same.closed)

    def test_interpreter_ends_with_handles_open(self):
        code = (
            "import slimpack, threading\n"
            "def planner(line):\n"
            "    model, device = slimpack.Model('llama2-7b'), slimpack.Device('ideal')\n"
            "    return slimpack.Planner(slimpack.Topology(line), model, device)\n"
            "p = planner('dp=4 pp=4')\n"
            "s = p.plan([5, 6]); v = s.block(0); p.submit([70000] * 200)\n"
            "def work():\n"
            "    q = planner('dp=4')\n"
            "    while True: q.plan([3000] * 50)\n"
            "threading.Thread(target=work, daemon=True).start()\n"
        )
        for _ in range(5):
            run = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=120)
            self.assertEqual((run.returncode, run.stderr), (0, b""))


class Threads(unittest.TestCase):
    def run_all(self, work, count=6):
        """Runs work(i) in threads; the first exception of any is this test's."""
        failures = []

        def guarded(i):
            try:
                work(i)
            except BaseException as error:  # noqa: B902
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def test_threads_share_a_planner(self):
        p = planner()
        wanted = [planner().plan(long_tail(i)).digest for i in range(6)]

        def work(i):
            for _ in range(10):
                assert p.plan(long_tail(i)).digest == wanted[i]

        self.run_all(work)

    def test_threads_share_a_schedule(self):
        s, m = plan(1), slimpack.Model("llama2-7b")
        wanted = s.digest, s.ops(3), s.stats

        def work(i):
            for _ in range(10):
                assert (s.digest, s.ops(3), s.stats) == wanted
                assert (
                    s.simulate(m, slimpack.Device("ideal")).stats.makespan_ps
                    == wanted[2].makespan_ps
                )

        self.run_all(work)

    def test_threads_read_their_own_errors(self):
        p = planner()

        def work(i):
            for _ in range(200):
                try:
                    p.plan([5] * i + [0])
                except slimpack.Error as error:
                    assert f"lengths[{i}]" in str(error), error

        self.run_all(work)

    def test_threads_set_while_others_plan(self):
        p, m, t = planner(), slimpack.Model("llama2-7b"), slimpack.Topology("pp=2")

        def work(i):
            for n in range(20):
                if i % 2:
                    p.set(max_packs=4 + n)
                    m.set_stage_layers([16 + n % 2, 16 - n % 2])
                else:
                    p.plan([500, 40, 3000])
                    slimpack.Planner(t, m, slimpack.Device("ideal"))

        self.run_all(work)

    def test_close_while_others_use_it(self):
        for _ in range(20):
            p = planner()
            s = p.plan([500, 40, 3000])

            def work(i):
                if i == 0:
                    p.close()
                    s.close()
                    return
                try:
                    while True:
                        p.plan([500, 40, 3000]).ops(0)
                        s.ops(0)
                except slimpack.Error as error:
                    assert error.status == Status.STATE, error

            self.run_all(work, 4)
