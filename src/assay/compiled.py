"""Loops that numba compiles: kept on disk between runs where that is possible, compiled anew where it is not.

Imported only by modules of compiled loops: numba takes a second to load. What is kept bears a digest of itself, of
the processor and of the version of assay, so that a file that was damaged, or written by two processes at once, is
never run but compiled anew.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numba
from numba.core import sigutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

from assay.errors import NotCached
from assay.version import __version__

Function = TypeVar("Function", bound=Callable[..., Any])
_said = False


def njit(*, cache: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Numba's `njit`, with a cache that never stands in the way.

    Args:
        cache: keep what is compiled on disk, where numba finds a place for it.
        options: those of numba.

    >>> @njit(nogil=True)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """

    def compiled(function: Function) -> Function:
        made: Any = numba.njit(**options)(function)
        if cache and hasattr(made, "enable_caching"):  # not where NUMBA_DISABLE_JIT is set
            try:
                made._cache = _Cache(function)
            except (RuntimeError, OSError) as error:  # no folder can be written to
                _say(error)
        return made  # type: ignore[no-any-return]

    return compiled


def inner(**options: Any) -> Callable[[Function], Function]:
    """Compile what only compiled code calls: without wrappers for Python, which take as long to compile as the loop.

    It is kept on disk as a part of the loops that call it. What it gets as a number written out, such as a 0, it is
    compiled for once more; hand it a variable.

    Args:
        options: those of numba.
    """
    return njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


class _Sealed(CompileResultCacheImpl):
    """Compiled code with a digest."""

    def reduce(self, made: Any) -> tuple[bytes, bytes]:
        body = dumps(super().reduce(made))
        return _seal(made.codegen, body), body

    def rebuild(self, target_context: Any, kept: tuple[bytes, bytes]) -> Any:
        seal, body = kept
        if seal != _seal(target_context.codegen(), body):
            raise ValueError("the compiled code is damaged, or of another machine or version")
        return super().rebuild(target_context, pickle.loads(body))


class _Cache(FunctionCache):
    """What cannot be read is compiled; what cannot be written is not kept."""

    _impl_class = _Sealed

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
            # two processes that write at once may swap the code of two signatures
            if found is None or tuple(found.signature.args) == tuple(sigutils.normalize_signature(sig)[0]):
                return found
        except Exception:  # whatever reading damaged bytes may raise
            pass
        with suppress(Exception):
            self.flush()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # a full disk, a folder that is gone
            _say(error)


def _seal(codegen: Any, body: bytes) -> bytes:
    return hashlib.sha256(repr((__version__, codegen.magic_tuple())).encode() + body).digest()


def _say(error: Exception) -> None:
    """Once, however many loops there are."""
    global _said
    if _said:
        return
    _said = True
    why = getattr(error, "strerror", None) or "no folder for it can be written to"
    warnings.warn(
        f"compiled code cannot be kept on disk ({why}) and is compiled anew in every run, which takes up to a minute: "
        "make room, or set NUMBA_CACHE_DIR to a folder of your own",
        NotCached,
        stacklevel=2,
    )
