"""What all handles share: errors, arguments that C can take, lifetimes, arrays.

A Handle owns one C handle and frees it when the last Python object that uses it is
gone: its owner, a call that runs, a view of its memory. So close() and the garbage
collector may come in any order and in any thread.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import threading
import weakref
from array import array
from contextlib import ExitStack, contextmanager
from operator import index
from typing import Any, Callable, Iterator, Optional, Sequence, Type, TypeVar, cast

from ._abi import Status, lib

try:
    numpy: Any = importlib.import_module("numpy")
except ImportError:
    numpy = None

T = TypeVar("T")
Ints = Sequence[int]
"""Whole numbers: a read-only numpy array onto the library's memory where numpy is
installed, else a list."""


class Error(RuntimeError):
    """A call of the library that failed.

    status: a Status, such as Status.RANGE. name: as in C, such as "SP_ERR_RANGE".
    message: argument, value and bound in words.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message

    @property
    def name(self) -> str:
        """Name of the status, as in C."""
        return str(lib.sp_status_name(self.status).decode())

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


def check(status: int) -> None:
    """Raises what a failed call says. It says so to its own thread alone."""
    if status != Status.OK:
        message = lib.sp_error_message().decode("utf-8", "replace")
        known = status in Status.__members__.values()
        raise Error(Status(status) if known else status, message)


# ---- arguments: ctypes cuts integers and strings to size without a word


def whole(value: Any, bits: int, argument: str) -> int:
    """A value as a signed integer of that many bits."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{argument}: {value!r} is not a whole number") from None
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise Error(Status.RANGE, f"{argument}: {number} does not fit an int{bits}")
    return number


def int32(value: Any, argument: str) -> int:
    return whole(value, 32, argument)


def text(value: Any, argument: str) -> bytes:
    """A string without NUL as bytes."""
    if not isinstance(value, str):
        raise TypeError(f"{argument}: {value!r} is not a str")
    if "\0" in value:
        raise ValueError(f"{argument}: {value!r} holds a NUL")
    return value.encode()


def _listed(values: Any, argument: str) -> Iterator[Any]:
    """The items of a sequence that has an order and one dimension."""
    if isinstance(values, (str, bytes, bytearray, set, frozenset, dict)):
        raise TypeError(f"{argument}: a {type(values).__name__} is no sequence of numbers")
    if hasattr(values, "tolist"):  # numpy, array, torch: faster than item by item
        values = values.tolist()
    try:
        return iter(values)
    except TypeError:
        raise TypeError(f"{argument}: {values!r} is no sequence of numbers") from None


def _count_of(value: Any, bits: int, argument: str) -> int:
    if isinstance(value, bool):  # a mask in the place of lengths
        raise TypeError(f"{argument}: {value!r} is not a whole number")
    return whole(value, bits, argument)


def integers(values: Any, bits: int, argument: str) -> Any:
    """A C array of int32 or int64 from any sequence of whole numbers."""
    letter = "i" if bits == 32 else "q"
    try:
        view = memoryview(values)
    except (TypeError, ValueError):
        pass
    else:
        if view.ndim == 1 and view.itemsize * 8 == bits and view.format in ("i", "l", "q"):
            return _c_array(array(letter, view.tobytes()))
    items = _listed(values, argument)
    return _c_array(
        array(letter, [_count_of(v, bits, f"{argument}[{i}]") for i, v in enumerate(items)])
    )


def seconds(values: Any, argument: str) -> Any:
    """A C array of doubles from any sequence of numbers."""
    return _c_array(array("d", [float(v) for v in _listed(values, argument)]))


_C_TYPES = {"i": ctypes.c_int32, "q": ctypes.c_int64, "d": ctypes.c_double}


def _c_array(values: "array[Any]") -> Any:
    """The same memory for ctypes; never NULL, so that the library judges the count."""
    kind: Any = _C_TYPES[values.typecode]
    return (kind * len(values)).from_buffer(values) if values else (kind * 0)()


# ---- lifetimes


class Handle:
    """Owns one C handle. Passed to a call it stays alive until the call returns."""

    __slots__ = ("_as_parameter_", "lock", "__weakref__")

    def __init__(self, pointer: int, destroy: Callable[[int], None]) -> None:
        self._as_parameter_ = ctypes.c_void_p(pointer)
        self.lock = threading.RLock()  # a finalizer may call in the thread that holds it
        # At exit threads may still run, and the system takes the memory anyway.
        weakref.finalize(self, destroy, pointer).atexit = False


def create(destroy: Callable[[int], None], function: Callable[..., int], *arguments: Any) -> Handle:
    """Calls a function that makes a handle through its last parameter."""
    out = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    assert out.value is not None
    return Handle(out.value, destroy)


@contextmanager
def held(*handles: Handle) -> Iterator[None]:
    """Keeps other threads out of handles that a call may change or must not see change;
    always locked in one order, so that no two threads wait for each other."""
    with ExitStack() as stack:
        for handle in sorted(set(handles), key=id):
            stack.enter_context(handle.lock)
        yield


class Owner:
    """Base of all objects that hold a C handle. Freed by close(), at the end of a with
    block, or when it is no longer used; what still uses the memory keeps it alive."""

    _handle: Optional[Handle] = None

    def close(self) -> None:
        """Give the handle back; again is fine. Using the object afterwards is an Error."""
        self._handle = None

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._handle is None

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _use(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise Error(Status.STATE, f"{type(self).__name__.lower()}: it is closed")
        return handle


def use(value: Any, kind: Type[Owner], argument: str) -> Handle:
    """The handle of an argument, which must be of that class."""
    if not isinstance(value, kind):
        raise TypeError(f"{argument}: {value!r} is not a slimpack.{kind.__name__}")
    return value._use()


# ---- what comes back


class _Memory:
    """Shows numpy some memory of a handle. The array keeps this, and this the handle."""

    def __init__(self, handle: Handle, address: int, count: int, size: int) -> None:
        self.handle = handle
        order = "<" if sys.byteorder == "little" else ">"
        self.__array_interface__ = {
            "version": 3,
            "shape": (count,),
            "typestr": f"{order}i{size}",
            "data": (address, True),  # read-only: a schedule never changes
        }


def ints(handle: Handle, address: Optional[int], count: int, size: int = 4) -> Ints:
    """Integers of size bytes in the memory of a handle: a view, or a list without numpy."""
    if numpy is not None:
        if not address or count == 0:
            return cast(Ints, numpy.frombuffer(b"", dtype=f"i{size}"))
        return cast(Ints, numpy.asarray(_Memory(handle, address, count, size)))
    kind: Any = ctypes.c_int32 if size == 4 else ctypes.c_int64
    return list(ctypes.cast(address, ctypes.POINTER(kind))[:count]) if address else []


def record(kind: Callable[..., T], view: ctypes.Structure, fields: Sequence[str]) -> T:
    """A named tuple of the fields of a struct that have the same names."""
    return kind(*[getattr(view, name) for name in fields])
