"""Whether there is such a file, told before anything large is imported."""

from __future__ import annotations

import os
from pathlib import Path

from assay.errors import DataError


def check_there(text: str) -> None:
    """Refuse the path of a file or folder that is not there, or may not be read.

    Args:
        text: the path.

    >>> check_there("no-such-file.csv")
    Traceback (most recent call last):
        ...
    assay.errors.DataError: cannot read no-such-file.csv: there is no such file
    """
    try:
        there = Path(text).exists()
    except (OSError, ValueError) as error:  # too long, or with a null character
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(f"cannot read {text}: {said}; give the path of a file") from None
    if not there:
        raise DataError(f"cannot read {text}: there is no such file")
    if not os.access(text, os.R_OK):
        raise DataError(f"cannot read {text}: it is not a file that may be read; check its permissions")
