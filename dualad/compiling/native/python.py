"""How CPython and NumPy lay out what a native function reads and makes.

A native function is called by CPython as its own built-in functions are, with no Python between.
It reads the entries of arrays and the values of NumPy scalars where they lie. Where that is, is
found out here and checked once in each process, on examples; where a check fails nothing is
compiled.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["API", "CORES", "COUNT", "OBJECT", "TUPLE", "builtin", "is_as_expected", "table"]

POINTER = ctypes.sizeof(ctypes.c_void_p)
#: Bytes before the first field of an object, and before the first entry of a tuple.
OBJECT = object.__basicsize__
TUPLE = tuple.__basicsize__

#: Functions of the interpreters by their place in a native function's table.
API = {
    name: k
    for k, name in enumerate(
        [
            "PyTuple_New", "Py_IncRef", "Py_DecRef", "PyObject_Vectorcall", "PyMem_RawMalloc",
            "PyMem_RawFree", "PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_NoMemory",
            "PyErr_Clear", "PyContextVar_Get", "PyLong_FromLong", "PyArray_Empty",
            "PyArray_Scalar", "PyFloat_FromDouble", "PyErr_Occurred",
        ]
    )
}  # fmt: skip
#: Behind them: how many threads help, where the pool lies, and what hands loops to it.
CORES = len(API)
COUNT = CORES + 3
#: Their places in NumPy's own table, which are part of its binary interface.
NUMPY = {"PyArray_Empty": 184, "PyArray_Scalar": 60}


class Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL = 0x80


def builtin(name: str, address: int, own: Any) -> Callable[..., Any]:
    """A built-in function by the address of its code: (own, arguments, number) -> object."""
    method = Method(name.encode(), address, FASTCALL, None)
    new = ctypes.pythonapi.PyCFunction_NewEx
    pointer = ctypes.c_void_p
    new.restype, new.argtypes = ctypes.py_object, (pointer, ctypes.py_object, pointer)
    # CPython keeps a pointer to the method for as long as the function is there.
    _methods.append(method)
    return new(ctypes.addressof(method), own, None)


_methods: list[Method] = []


@functools.cache
def interface() -> tuple[int, ...]:
    """The addresses of the functions in API."""
    return tuple([_numpy(NUMPY[n]) if n in NUMPY else _python(n) for n in API])


def _python(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _numpy(place: int) -> int:
    core = importlib.import_module("numpy._core._multiarray_umath")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    start = get(core._ARRAY_API, None)
    return ctypes.c_void_p.from_address(start + place * POINTER).value or 0


def table(
    objects: Sequence[Any],
    data: Sequence[np.ndarray],
    kept: Sequence[Any] = (),
    cores: tuple[int, int, int] = (0, 0, 0),
) -> tuple[Any, ...]:
    """What a native function has as its own: addresses, and what keeps them valid.

    The addresses are those of the functions in API, of the entries of arrays, and of objects;
    cores are the words at CORES.
    """
    addresses = [*interface(), *cores, *(a.ctypes.data for a in data), *map(id, objects)]
    return (np.array(addresses, np.uintp), tuple(objects), tuple(data), tuple(kept))


@functools.cache
def is_as_expected() -> bool:
    """Whether this interpreter lays objects out as native functions expect."""
    if sys.implementation.name != "cpython" or POINTER != 8:
        return False
    if hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled():
        return False
    try:
        return _arrays() and _scalars() and all(interface())
    except (AttributeError, ImportError, ValueError):
        return False


def _word(x: Any, offset: int) -> int:
    return ctypes.c_uint64.from_address(id(x) + offset).value


def _arrays() -> bool:
    a = np.zeros((2, 3))
    dims = _word(a, OBJECT + 16)
    pair = (a,)
    return (
        _word(a, OBJECT - 8) == id(np.ndarray)
        and _word(a, OBJECT) == a.ctypes.data
        and ctypes.c_int.from_address(id(a) + OBJECT + 8).value == 2
        and ctypes.c_int64.from_address(dims).value == 2
        and ctypes.c_int64.from_address(dims + 8).value == 3
        and _word(a, OBJECT + 40) == id(a.dtype)
        and ctypes.c_int.from_address(id(a) + OBJECT + 48).value & 0x701 == 0x501
        and _word(pair, TUPLE) == id(a)
    )


def _scalars() -> bool:
    examples: list[Any] = [
        np.float64(1.25),
        np.int64(-7),
        np.float32(0.75),
        np.bool_(True),
        np.uint8(200),
    ]
    return all(
        bytes((ctypes.c_char * x.nbytes).from_address(id(x) + OBJECT)) == x.tobytes()
        and _word(x, OBJECT - 8) == id(type(x))
        for x in examples
    )
