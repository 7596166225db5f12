"""What the tests share: plans of all kinds, handles that are counted."""

import contextlib
import gc
import random

import slimpack
from slimpack import _abi

TOPOLOGIES = [
    "dp=2",
    "dp=4 pp=2",
    "dp=2 pp=2 cp=2",
    "dp=1 pp=4 tp=2",
    "dp=8 pp=4 order=tp-cp-pp-dp",
]


def long_tail(seed, count=24):
    """Lengths with a long tail; one of them is most of the work."""
    draw = random.Random(seed)
    lengths = [1 + int(draw.lognormvariate(6, 1.2)) for _ in range(count)]
    lengths[draw.randrange(count)] = 20000
    return lengths


def planner(topology="dp=4 pp=2", model="llama2-7b", device="ideal", **params):
    params.setdefault("max_packs", 12)
    return slimpack.Planner(
        slimpack.Topology(topology), slimpack.Model(model), slimpack.Device(device), **params
    )


def plan(seed=1, topology="dp=4 pp=2", **params):
    return planner(topology, **params).plan(long_tail(seed))


def listed(values):
    """Integers of an array or a list as a list."""
    return [int(v) for v in values]


class Counted:
    """Pointers that were freed while it counted, by kind."""

    def __init__(self):
        self.freed = []

    def of(self, kind):
        return [pointer for k, pointer in self.freed if k == kind]


@contextlib.contextmanager
def counted():
    """Counts what the library is told to free. Handles that live before are not touched."""
    gc.collect()
    counter, real = Counted(), {}
    for name in _abi.SIGNATURES:
        if name.endswith("_destroy"):
            real[name] = getattr(_abi.lib, name)

            def free(pointer, name=name):
                counter.freed.append((name.split("_")[1], pointer))
                real[name](pointer)

            setattr(_abi.lib, name, free)
    try:
        yield counter
    finally:
        gc.collect()
        for name, function in real.items():
            setattr(_abi.lib, name, function)
