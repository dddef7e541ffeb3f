"""One number for a piece of work: the same in every process for the same code and values, another for any other.

Pickles will not do: the bytes that cloudpickle gives for a function depend on the order in which sets of texts are
walked, on which equal texts are one object, and on what was computed and remembered before. Here sets are sorted, what
is remembered (`cached_property`) is left out, and equal values count as equal. What is not known for certain is refused
by `NoFingerprintError`: work without a fingerprint is done anew, never taken for other work.
"""

from __future__ import annotations

import copyreg
import hashlib
import platform
import struct
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


class NoFingerprintError(Exception):
    """A value that cannot be told from others."""


def fingerprint(*values: Any) -> bytes:
    """(32,) bytes that stand for values and for the code that works on them.

    An object of assay with a method `identity` is told by what that gives; where it gives None, by nothing.

    Args:
        values: numbers, texts, arrays, functions with what they captured, and objects that can be pickled.

    >>> fingerprint({"a", "b"}) == fingerprint({"b", "a"}) != fingerprint({"a"})
    True
    """
    walk = _Walk()
    for value in (_surroundings(), *values):
        walk.take(value)
    return walk.digest()


class _Walk:
    """Walks through a value and feeds a hash."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=32)
        self._inside: list[int] = []

    def digest(self) -> bytes:
        return self._hash.digest()

    def take(self, value: Any) -> None:
        if id(value) in self._inside:  # a value that holds itself: told by how far out it is
            self._say("self", str(len(self._inside) - self._inside.index(id(value))))
            return
        self._inside.append(id(value))
        try:
            self._say(type(value).__qualname__)
            for kind, how in _HOW.items():
                if isinstance(value, kind) and (kind not in _EXACT or type(value) is kind):
                    how(self, value)
                    break
            else:
                self._object(value)
        finally:
            self._inside.pop()

    def _say(self, *texts: str) -> None:
        for text in texts:
            self._bytes(text.encode("utf-8", "surrogatepass"))

    def _bytes(self, content: bytes | memoryview) -> None:
        self._hash.update(struct.pack("<q", len(content)))
        self._hash.update(content)

    def _float(self, value: float) -> None:
        self._bytes(struct.pack("<d", value))

    def _sequence(self, values: Any) -> None:
        self._say(str(len(values)))
        for value in values:
            self.take(value)

    def _set(self, values: Any) -> None:
        self._sequence(sorted(_alone(value) for value in values))

    def _dict(self, values: Any) -> None:
        # the order is that in which columns, say, are worked on
        self._sequence([pair for item in values.items() for pair in item])

    def _array(self, values: Any) -> None:
        # BLAS rounds otherwise for a transposed matrix
        self._say(str(values.dtype), str(values.shape), str(values.strides))
        if values.dtype.hasobject:
            self._sequence(values.ravel().tolist())
        else:
            self._bytes(np.ascontiguousarray(values).tobytes())

    def _function(self, value: Any) -> None:
        if _reachable(value):
            self._say("named", *_named(value))
            return
        self._code(value.__code__)
        self.take(value.__defaults__)
        self.take(value.__kwdefaults__)
        for cell in value.__closure__ or ():
            self.take(cell.cell_contents)
        for name in sorted(set(_names(value.__code__)) & set(value.__globals__)):
            self._say(name)
            self.take(value.__globals__[name])

    def _code(self, code: types.CodeType) -> None:
        self._bytes(code.co_code)
        self._say(*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
        self._sequence(code.co_consts)

    def _method(self, value: Any) -> None:
        self.take(value.__func__)
        self.take(value.__self__)

    def _builtin(self, value: Any) -> None:
        self._say(value.__qualname__, sys.version)
        owner = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
        if owner is not None:
            self.take(owner)

    def _named(self, value: Any) -> None:
        """A class or a function that every process finds by its name."""
        if not _reachable(value):
            raise NoFingerprintError(f"{value!r} cannot be found by its name")
        self._say(*_named(value))

    def _module(self, value: Any) -> None:
        self._say(value.__name__, _version(value.__name__))

    def _object(self, value: Any) -> None:
        if type(value).__module__.startswith("assay.") and hasattr(value, "identity"):
            told = value.identity()
            if told is None:
                raise NoFingerprintError(f"a {type(value).__name__} has no identity")
            self._named(type(value))
            self.take(told)
            return
        try:
            known = copyreg.dispatch_table.get(type(value))
            reduced = value.__reduce_ex__(4) if known is None else known(value)
        except Exception as error:
            raise NoFingerprintError(f"a {type(value).__name__} cannot be told from others") from error
        if isinstance(reduced, str):
            self._say(reduced, *_named(type(value)))
            return
        made, (state, items, pairs) = reduced[:2], ((*reduced[2:5], None, None, None)[:3])
        self.take(made)
        for part in state if isinstance(state, tuple) else (state,):
            self._state(type(value), part)
        self.take(None if items is None else list(items))
        self.take(None if pairs is None else [each for pair in pairs for each in pair])

    def _state(self, kind: type, state: Any) -> None:
        if not isinstance(state, dict):
            self.take(state)
            return
        for name in sorted(map(str, state)):
            if not isinstance(getattr(kind, name, None), cached_property):
                self._say(name)
                self.take(state[name])


_BUILTINS = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)
_HOW: dict[type, Callable[[_Walk, Any], None]] = {
    type(None): lambda walk, value: None,
    bool: lambda walk, value: walk._say(str(value)),
    int: lambda walk, value: walk._say(str(value)),
    float: _Walk._float,
    str: lambda walk, value: walk._say(value),
    bytes: _Walk._bytes,
    tuple: _Walk._sequence,
    list: _Walk._sequence,
    set: _Walk._set,
    frozenset: _Walk._set,
    dict: _Walk._dict,
    np.ndarray: _Walk._array,
    types.CodeType: _Walk._code,
    types.FunctionType: _Walk._function,
    types.MethodType: _Walk._method,
    **dict.fromkeys(_BUILTINS, _Walk._builtin),
    types.ModuleType: _Walk._module,
    type: _Walk._named,
}
# of these, sub-classes may hold more than shows
_EXACT = (bool, int, float, str, bytes, tuple, list, set, frozenset, dict, np.ndarray)


def _alone(value: Any) -> bytes:
    walk = _Walk()
    walk.take(value)
    return walk.digest()


def _reachable(value: Any) -> bool:
    """Whether the name of a class or function leads to it in every process."""
    module = getattr(value, "__module__", None)
    if module is None or module == "__main__":
        return False
    found: Any = sys.modules.get(module)
    try:
        found = found or import_module(module)
        for step in value.__qualname__.split("."):
            found = getattr(found, step)
    except (ImportError, AttributeError):
        return False
    return found is value or getattr(found, "__func__", None) is value


def _named(value: Any) -> tuple[str, str, str]:
    return value.__module__, value.__qualname__, _version(value.__module__)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


@cache
def _version(module: str) -> str:
    """What changes with the code of a module; of assay that is known for all of it together."""
    if module.split(".")[0] == "assay":
        return ""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return sys.version
    try:
        known = Path(file).stat()
    except OSError as error:
        raise NoFingerprintError(f"the code of {module} cannot be told from other code") from error
    return f"{known.st_size} {known.st_mtime_ns}"


@cache
def _surroundings() -> tuple[str, ...]:
    """The code of assay, and the libraries whose results may differ in the last digits."""
    import pyarrow
    import scipy

    code = hashlib.blake2b(digest_size=32)
    house = Path(__file__).parents[1]
    for file in sorted(house.rglob("*.py")):
        code.update(str(file.relative_to(house)).encode())
        code.update(hashlib.blake2b(file.read_bytes(), digest_size=32).digest())
    return sys.version, platform.machine(), np.__version__, scipy.__version__, pyarrow.__version__, code.hexdigest()
