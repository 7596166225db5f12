"""Topology, model, device and parameters by name."""

import itertools
import unittest

import slimpack
from slimpack import Coordinates, Device, Model, Status, Topology

from support import plan, planner


class Inputs(unittest.TestCase):
    def test_topology_numbers_ranks_both_ways(self):
        topology = Topology("dp=2 tp=3 pp=4 cp=5 order=pp-dp-cp-tp")
        self.assertEqual(topology.size, 120)
        self.assertEqual(topology.degrees, Coordinates(2, 3, 4, 5))
        seen = set()
        for at in itertools.product(range(2), range(3), range(4), range(5)):
            rank = topology.rank(*at)
            self.assertEqual(topology.coordinates(rank), at)
            seen.add(rank)
        self.assertEqual(seen, set(range(120)))

    def test_topology_by_degrees_is_that_of_the_line(self):
        one, other = Topology(dp=2, pp=4, cp=3), Topology("dp=2 pp=4 cp=3")
        self.assertEqual(one.degrees, Coordinates(dp=2, tp=1, pp=4, cp=3))
        self.assertEqual(
            [one.coordinates(r) for r in range(24)], [other.coordinates(r) for r in range(24)]
        )

    def test_parameters_are_tables(self):
        for kind in ("planner", "model", "device"):
            rows = slimpack.parameters(kind)
            self.assertGreater(len(rows), 15)
            self.assertEqual(len({row.name for row in rows}), len(rows))
            for row in rows:
                self.assertLessEqual(row.minimum, row.default)
                self.assertLessEqual(row.default, row.maximum)
                self.assertTrue(row.help)
        policy = slimpack.parameters("planner")[0]
        self.assertEqual((policy.name, policy.values), ("policy", tuple(slimpack.policies())))

    def test_presets_are_listed(self):
        self.assertIn("llama2-7b", slimpack.models())
        self.assertIn("ideal", slimpack.devices())
        for name in slimpack.models():
            self.assertGreater(Model(name).get("layers"), 1)
        for name in slimpack.devices():
            self.assertGreater(Device(name).get("linear_flops"), 1)

    def test_values_have_names(self):
        model = Model("llama2-7b", layers=16, recompute="full", gated=False)
        self.assertEqual([model.get(n) for n in ("layers", "recompute", "gated")], [16, 2, 0])
        with planner(policy="fixed-pack", slicing=True, merges="no") as p:
            self.assertEqual([p.get(n) for n in ("policy", "slicing", "merges")], [3, 1, 0])
            p.set(policy="slimpack", merges=1)
            self.assertEqual([p.get(n) for n in ("policy", "merges")], [0, 1])

    def test_params_lists_all_values(self):
        values = Model("llama2-7b").params()
        self.assertEqual(list(values), [row.name for row in slimpack.parameters("model")])
        self.assertEqual((values["layers"], values["hidden"]), (32, 4096))

    def test_large_values_pass_unharmed(self):
        cap = 2**63 - 1
        self.assertEqual(Device("h100", memory_bytes=cap).get("memory_bytes"), cap)

    def test_wrong_parameters_say_so(self):
        for status, said, params in (
            (Status.NAME, "did you mean 'max_packs'?", {"max_pack": 3}),
            (Status.RANGE, "planner parameter max_packs: 0 is below 1", {"max_packs": 0}),
            (Status.RANGE, "planner parameter effort: 3 is above 2", {"effort": 3}),
            (Status.RANGE, "does not fit an int64", {"max_packs": 2**63}),
            (Status.NAME, "'slimpak' is not one of slimpack, uniform-slice", {"policy": "slimpak"}),
            (Status.NAME, "planner parameter max_packs: '3' is not a number", {"max_packs": "3"}),
        ):
            with self.subTest(params=params), self.assertRaises(slimpack.Error) as caught:
                planner(**params)
            self.assertEqual(caught.exception.status, status)
            self.assertIn(said, str(caught.exception))
        for value in (1.0, None, [1]):
            with self.subTest(value=value), self.assertRaisesRegex(
                TypeError, "planner parameter max_packs"
            ):
                planner(max_packs=value)

    def test_stage_layers_shape_the_plan(self):
        model = Model("llama2-7b")
        args = Topology("pp=2"), model, Device("ideal")
        even = slimpack.Planner(*args).plan([4000, 2000]).stats
        model.set_stage_layers([20, 12])
        uneven = slimpack.Planner(*args).plan([4000, 2000]).stats
        self.assertGreater(uneven.imbalance_pp_ppm, even.imbalance_pp_ppm)
        model.set_stage_layers([20, 13])
        with self.assertRaises(slimpack.Error):
            slimpack.Planner(*args)
        model.set_stage_layers(None)
        again = slimpack.Planner(*args).plan([4000, 2000]).stats
        self.assertEqual(again, even)

    def test_fit_finds_the_costs_it_was_given(self):
        model = Model("llama2-7b")
        start = [0, 0, 0, 2048, 4096, 8192]
        length = [256, 1024, 4096, 1024, 2048, 512]
        pairs = [n * a + n * (n + 1) // 2 for a, n in zip(start, length)]
        forward = [1e-7 * n + 1e-12 * p for n, p in zip(length, pairs)]
        found = model.fit(1, start, length, forward, [2 * t for t in forward])
        self.assertEqual((found.used, found.outliers), (6, 0))
        self.assertLess(found.largest_error_ppm, 10)
        self.assertAlmostEqual(model.get("forward_token_as") / 1e11, 1, delta=1e-3)
        self.assertAlmostEqual(model.get("backward_pair_as") / 2e6, 1, delta=1e-3)

    def test_calibration_finds_a_rate_again(self):
        model, truth = Model("llama2-7b"), Device("h100", linear_flops=400 * 10**12)
        plans = [plan(seed) for seed in (1, 2, 3)]
        steps = [(p, model, p.simulate(model, truth).stats.step_ps * 1e-12) for p in plans]
        device = Device("h100")
        before = device.get("linear_flops")
        found = device.calibrate(steps, ["linear_flops"])
        self.assertEqual(found.used, 3)
        self.assertNotEqual(before, truth.get("linear_flops"))
        self.assertAlmostEqual(
            device.get("linear_flops") / truth.get("linear_flops"), 1, delta=1e-3
        )
