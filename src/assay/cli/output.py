"""Where a command writes: to files, or by the name - to standard output."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

STANDARD = Path("-")


def check_places(places: Sequence[Path | None], data: Sequence[str | Path]) -> None:
    """Refuse places where nothing can be written, before any work is done.

    Args:
        places: to be written to; None for those that nobody asked for.
        data: what is read, and must not be overwritten.
    """
    from assay.data.files import check_writable
    from assay.errors import ParameterError

    named = [place for place in places if place is not None]
    if named.count(STANDARD) > 1:
        raise ParameterError("two things cannot both go to standard output; give one of them the name of a file")
    files = [place for place in named if place != STANDARD]
    for place in files:
        for given in data or ("",):
            check_writable(place, unlike=Path(given))
    if len({os.path.realpath(place) for place in files}) < len(files):
        raise ParameterError(f"two things cannot both be written to {files[0]}; give two names")


@contextmanager
def delivered(place: Path | None) -> Iterator[Path | None]:
    """A path to write to: the place itself; for -, a file of its own, which goes to standard output once it is whole.

    Args:
        place: as it was given; None for nothing.
    """
    if place != STANDARD:
        yield place
        return
    from assay.leftovers import TemporaryFolder

    with TemporaryFolder() as folder:
        yield folder / "output"
        _send(folder / "output")


def _send(file: Path) -> None:
    from assay.errors import DataError
    from assay.system_errors import with_remedy

    try:
        sys.stdout.flush()
        with file.open("rb") as whole:
            shutil.copyfileobj(whole, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except AttributeError:
        raise DataError("cannot write to standard output: it is closed; give the name of a file") from None
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be flushed goes nowhere
        if isinstance(error, BrokenPipeError):  # who reads only the first lines wants no more
            raise typer.Exit(0) from None
        raise DataError(f"cannot write to standard output: {with_remedy(error)}") from error
