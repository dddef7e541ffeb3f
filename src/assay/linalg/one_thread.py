"""One thread for BLAS while many small products run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]

_lock = Lock()
_inside = 0
_limits: Any = None
_controller: Any = None  # looking for the libraries takes milliseconds, as long as what runs inside


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside the block.

    Products and eigenproblems of a few hundred columns gain nothing from threads, and on a busy machine the threads
    wait for each other at every call: 200 draws of a 200 x 100 table took 0.2 s with one thread and 6 s with two,
    beside one other process. Blocks may overlap in several Python threads: the last one out restores what the first
    one found.

    >>> with one_blas_thread():
    ...     pass
    """
    global _inside, _limits, _controller
    with _lock:
        if _inside == 0:
            _controller = _controller or _found()
            _limits = _controller.limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()


def _found() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  SciPy brings a BLAS of its own, which must be loaded to be found

    return ThreadpoolController()
