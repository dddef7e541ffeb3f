"""Bounds of a process that reads a file which may be hostile."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_MEMORY = 6 << 30


def memory_of_child() -> int:
    """Bytes that such a process may take: never more than three quarters of what the machine has."""
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _MEMORY
    return min(_MEMORY, there * 3 // 4)


def limit(memory: int, seconds: int) -> None:
    """Take no more than so many bytes and seconds of computing, write no file, and be the first to go.

    Args:
        memory: bytes.
        seconds: of computing.
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    try:
        import resource
    except ImportError:  # Windows
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        soft, hard = resource.getrlimit(what)
        unlimited = resource.RLIM_INFINITY
        with suppress(OSError, ValueError):
            resource.setrlimit(what, (most if soft == unlimited else min(soft, most), hard))
