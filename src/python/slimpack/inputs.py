"""What a planner is made for: topology, model, device; and parameters by name."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _abi
from ._abi import Status, lib
from ._core import Error, Owner, check, create, held, int32, integers, record, seconds, text, use
from ._core import whole

Value = Union[int, str]
"""Value of a parameter: a whole number, a bool, or one of its names."""


class Parameter(NamedTuple):
    """One row of a parameter table."""

    key: int
    """Key in C."""
    name: str
    """Name, as in Planner(..., name=value)."""
    unit: str
    """Unit, "" for a pure number."""
    help: str
    """One line."""
    values: Tuple[str, ...]
    """Names of the values from minimum up; empty when the value is a number."""
    minimum: int
    """Smallest value."""
    maximum: int
    """Largest value."""
    default: int
    """Value of a new handle (a preset may set another)."""


@lru_cache(maxsize=None)
def _table(kind: str) -> Tuple[Parameter, ...]:
    row_of = getattr(lib, f"sp_{kind}_param_info")
    rows: List[Parameter] = []
    while True:
        info: Any = _abi.ParamInfo()
        if row_of(len(rows), ctypes.byref(info)) != Status.OK:
            return tuple(rows)
        names = info.values.decode()
        rows.append(
            Parameter(
                info.key,
                info.name.decode(),
                info.unit.decode(),
                info.help.decode(),
                tuple(names.split(",")) if names else (),
                info.minimum,
                info.maximum,
                info.fallback,
            )
        )


def parameters(kind: str) -> List[Parameter]:
    """All parameters of a "planner", "model" or "device"."""
    if kind not in ("planner", "model", "device"):
        raise Error(Status.NAME, f"kind: {kind!r} is not planner, model or device")
    return list(_table(kind))


def _names(name_of: Callable[[int], Optional[bytes]]) -> List[str]:
    names: List[str] = []
    while True:
        name = name_of(len(names))
        if name is None:
            return names
        names.append(name.decode())


def models() -> List[str]:
    """Names of the model presets."""
    return _names(lib.sp_model_preset_name)


def devices() -> List[str]:
    """Names of the device presets."""
    return _names(lib.sp_device_preset_name)


def policies() -> List[str]:
    """Names of the planning policies."""
    return _names(lib.sp_policy_name)


class Tunable(Owner):
    """A handle with parameters by name."""

    _kind = ""

    def _key(self, name: str) -> int:
        key = ctypes.c_int32()
        find = getattr(lib, f"sp_{self._kind}_param_find")
        check(find(text(name, "name"), ctypes.byref(key)))
        return key.value

    def _number(self, key: int, name: str, value: Value) -> int:
        """The number that a value stands for."""
        if not isinstance(value, str):
            return whole(value, 64, f"{self._kind} parameter {name}")
        row = next(r for r in _table(self._kind) if r.key == key)
        if value in row.values:
            return row.minimum + row.values.index(value)
        choice = f"one of {', '.join(row.values)}" if row.values else "a number"
        raise Error(Status.NAME, f"{self._kind} parameter {name}: {value!r} is not {choice}")

    def set(self, **params: Value) -> None:
        """Set parameters by name, in the order given; those before a wrong one are set."""
        handle = self._use()
        for name, value in params.items():
            key = self._key(name)
            number = self._number(key, name, value)
            with held(handle):
                check(getattr(lib, f"sp_{self._kind}_set")(handle, key, number))

    def get(self, name: str) -> int:
        """Read a parameter."""
        handle, key, value = self._use(), self._key(name), ctypes.c_int64()
        with held(handle):
            check(getattr(lib, f"sp_{self._kind}_get")(handle, key, ctypes.byref(value)))
        return value.value

    def params(self) -> Dict[str, int]:
        """All parameters and their values."""
        return {row.name: self.get(row.name) for row in _table(self._kind)}


class Coordinates(NamedTuple):
    """Place of a rank along each dimension, or the degrees of a topology."""

    dp: int
    tp: int
    pp: int
    cp: int


class Topology(Owner):
    """DP x TP x PP x CP devices and how global ranks are numbered. Immutable.

    Topology("dp=8 pp=4 order=tp-cp-pp-dp") or Topology(dp=8, pp=4). Degrees that are
    not named are 1; the default order is Megatron-LM's, tp-cp-dp-pp.
    """

    def __init__(self, line: Optional[str] = None, **degrees: int) -> None:
        arguments: Tuple[Any, ...]
        if line is None:
            unknown = set(degrees) - set(Coordinates._fields)
            if unknown:
                raise TypeError(f"Topology: {sorted(unknown)[0]} is not dp, tp, pp or cp")
            of = [int32(degrees.get(name, 1), name) for name in Coordinates._fields]
            make, arguments = lib.sp_topology_create, (*of, None)
        elif degrees:
            raise TypeError("Topology: a line or degrees, not both")
        else:
            make, arguments = lib.sp_topology_parse, (text(line, "line"),)
        self._handle = create(lib.sp_topology_destroy, make, *arguments)

    @property
    def size(self) -> int:
        """Number of ranks, DP * TP * PP * CP."""
        return int(lib.sp_topology_size(self._use()))

    @property
    def degrees(self) -> Coordinates:
        """DP, TP, PP and CP."""
        at = _abi.Coordinates()
        check(lib.sp_topology_degrees(self._use(), ctypes.byref(at)))
        return record(Coordinates, at, Coordinates._fields)

    def coordinates(self, rank: int) -> Coordinates:
        """Coordinates of a global rank."""
        at = _abi.Coordinates()
        check(lib.sp_topology_coordinates(self._use(), int32(rank, "rank"), ctypes.byref(at)))
        return record(Coordinates, at, Coordinates._fields)

    def rank(self, dp: int = 0, tp: int = 0, pp: int = 0, cp: int = 0) -> int:
        """Global rank at some coordinates."""
        at: Any = _abi.Coordinates()
        rank = ctypes.c_int32()
        for name, value in zip(Coordinates._fields, (dp, tp, pp, cp)):
            setattr(at, name, int32(value, name))
        check(lib.sp_topology_rank(self._use(), ctypes.byref(at), ctypes.byref(rank)))
        return rank.value


class Fit(NamedTuple):
    """What a fit found, as relative errors in parts per million."""

    used: int
    """Measurements that shaped the fit."""
    outliers: int
    """Measurements that were left out."""
    mean_error_ppm: int
    """Mean absolute error of those used."""
    largest_error_ppm: int
    """Largest absolute error of those used."""


class Model(Tunable):
    """Shape of a transformer and its training set-up.

    Model("llama2-7b", layers=16, recompute="full"): a preset of models(), changed by
    parameters of parameters("model"). Planners made earlier keep their own copy.
    """

    _kind = "model"

    def __init__(self, preset: str, **params: Value) -> None:
        name = text(preset, "preset")
        self._handle = create(lib.sp_model_destroy, lib.sp_model_create, name, None)
        self.set(**params)

    def set_stage_layers(self, layers: Optional[Sequence[int]]) -> None:
        """Set how many layers each pipeline stage holds; None is the even spread."""
        handle = self._use()
        counts = None if layers is None else integers(layers, 32, "layers")
        count = 0 if counts is None else len(counts)
        if counts is not None and count == 0:
            raise Error(Status.RANGE, "layers: it is empty; None is the even spread")
        with held(handle):
            check(lib.sp_model_set_stage_layers(handle, counts, count))

    def fit(
        self,
        layers: int,
        start: Sequence[int],
        length: Sequence[int],
        forward_s: Sequence[float],
        backward_s: Sequence[float],
    ) -> Fit:
        """Fit a layer's costs to measured slices, and let the model use them.

        layers: layers that were run for each time. start, length: first token and
        tokens of each slice. forward_s, backward_s: seconds. Fit on one rank and hand
        params() to all: ranks whose models differ make different plans.
        """
        handle, found = self._use(), _abi.Fit()
        first, tokens = integers(start, 64, "start"), integers(length, 64, "length")
        forward, backward = seconds(forward_s, "forward_s"), seconds(backward_s, "backward_s")
        if not len(first) == len(tokens) == len(forward) == len(backward):
            raise ValueError("fit: start, length, forward_s and backward_s differ in length")
        run, count = int32(layers, "layers"), len(first)
        with held(handle):
            check(
                lib.sp_model_fit(
                    handle, run, count, first, tokens, forward, backward, None, None,
                    ctypes.byref(found),
                )
            )  # fmt: skip
        return record(Fit, found, Fit._fields)


class Device(Tunable):
    """Achievable rates, overheads, memory and links of one accelerator.

    Device("h100", memory_bytes=60 * 10**9): a preset of devices(), changed by
    parameters of parameters("device"). Planners made earlier keep their own copy.
    """

    _kind = "device"

    def __init__(self, preset: str, **params: Value) -> None:
        name = text(preset, "preset")
        self._handle = create(lib.sp_device_destroy, lib.sp_device_create, name, None)
        self.set(**params)

    def calibrate(self, steps: Sequence[Tuple[Any, Model, float]], names: Sequence[str]) -> Fit:
        """Calibrate by measured steps: scales the named parameters so that simulated
        steps come as close to the measured ones as they can.

        steps: of each its Schedule, its Model and the seconds that it took. Calibrate
        on one rank and hand params() to all.
        """
        from .schedule import Schedule

        handle, found = self._use(), _abi.Fit()
        ran = [use(s[0], Schedule, f"steps[{i}]") for i, s in enumerate(steps)]
        made = [use(s[1], Model, f"steps[{i}]") for i, s in enumerate(steps)]
        took = seconds([s[2] for s in steps], "steps")
        keys = integers([self._key(name) for name in names], 32, "names")
        pointers = ctypes.c_void_p * len(steps)
        schedules = pointers(*[h._as_parameter_ for h in ran])
        models_ = pointers(*[h._as_parameter_ for h in made])
        with held(handle, *made):
            check(
                lib.sp_device_calibrate(
                    handle, len(steps), schedules, models_, took, len(keys), keys, None,
                    ctypes.byref(found),
                )
            )  # fmt: skip
        return record(Fit, found, Fit._fields)
