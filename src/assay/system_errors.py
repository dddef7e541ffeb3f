"""What the system says when a file cannot be read or written, with what to do about it."""

from __future__ import annotations

import errno

_REMEDIES = {
    errno.ENOSPC: "make room there, or take another disk",
    errno.EDQUOT: "make room there, or take another disk",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), or take another disk",
    errno.EROFS: "take a place that can be written to",
    errno.EACCES: "take another place, or have it allowed to you",
    errno.EPERM: "take another place, or have it allowed to you",
    errno.ENAMETOOLONG: "take a shorter one",
    errno.ELOOP: "its links lead in a circle; take another place",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.ENFILE: "close other programs",
    errno.EIO: "the disk or the terminal is damaged or gone; take another one",
    errno.ESTALE: "the share was lost; try again",
    errno.EBUSY: "something else holds it; take another place",
}


def with_remedy(error: Exception) -> str:
    """What the system says, and where it is known what to do, that.

    Args:
        error: raised by the system.

    >>> with_remedy(OSError(errno.ENOSPC, "No space left on device"))
    'No space left on device; make room there, or take another disk'
    """
    words = (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip().splitlines()[0]
    remedy = _REMEDIES.get(getattr(error, "errno", None) or 0)
    return f"{words}; {remedy}" if remedy else words


def of_the_machine(error: OSError) -> bool:
    """Whether the machine is at fault, not the program: a full disk, a right that is missing, a place that is gone."""
    return error.errno in _REMEDIES
