"""Where a command writes: to files, or by the name - to standard output. What is not assay's own is not overwritten."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

STANDARD = Path("-")
_START = 1 << 14
_TABLE_MARK = b"assay"  # a key of the schema of tables that assay writes


def check_places(places: Sequence[Path | None], data: Sequence[str | Path], *, force: bool) -> None:
    """Refuse places where nothing can be written, before any work is done.

    Args:
        places: to be written to; None for those that nobody asked for.
        data: what is read, and must not be overwritten.
        force: whether what is there and was not written by assay may be overwritten.
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
        if not force and place.exists() and not is_ours(place):
            raise ParameterError(
                f"cannot write {place}: it is there, and assay did not write it; give another name, or --force to "
                "overwrite it"
            )
    if len({os.path.realpath(place) for place in files}) < len(files):
        raise ParameterError(f"two things cannot both be written to {files[0]}; give two names")


def check_tables(folder: Path, format: str, data: Sequence[str | Path], *, force: bool) -> None:
    """Refuse a folder where tables cannot go, before any work is done.

    Args:
        folder: for the tables.
        format: "parquet" or "csv".
        data: what is read, and must not be overwritten.
        force: whether what is there and was not written by assay may be overwritten.
    """
    from assay.asking.table_files import check_folder
    from assay.errors import ParameterError

    check_folder(folder, format, ("findings",), force=force)
    for given in map(Path, data):
        if given.suffix == f".{format}" and os.path.realpath(given.parent) == os.path.realpath(folder):
            raise ParameterError(f"cannot write tables to {folder}: the data are there; take another folder")


def is_ours(place: Path) -> bool:
    """Whether a file says that assay wrote it: a page, findings as JSON, something saved, a Parquet or Arrow table.

    Text tables and pictures say nothing of that kind.

    Args:
        place: a file that is there.
    """
    from assay.data.files import archive_kind

    try:
        with place.open("rb") as file:
            start = file.read(_START)
            if not start:
                return True  # nothing is lost
            if start.lstrip()[:1] == b"{":
                return _says_assay(start + file.read())
        if b'<meta name="generator" content="assay ' in start:
            return True
        if start[:4] == b"PAR1" or start[:6] == b"ARROW1":
            return _marked(place, parquet=start[:4] == b"PAR1")
        return archive_kind(place) is not None
    except Exception:  # what cannot be looked at is not known to be ours
        return False


def _says_assay(text: bytes) -> bool:
    import json

    return "assay" in json.loads(text)


def _marked(place: Path, *, parquet: bool) -> bool:
    if parquet:
        from pyarrow.parquet import read_schema

        schema = read_schema(place)
    else:
        from pyarrow import ipc, memory_map

        with memory_map(str(place)) as mapped, ipc.open_file(mapped) as file:
            schema = file.schema
    return _TABLE_MARK in (schema.metadata or {})


def written(page: Path | None) -> str:
    """What stands if a command ends while its findings are shown.

    Args:
        page: where it is.
    """
    if page is None:
        return "nothing was written"
    return "the page is written" if page == STANDARD else f"the page is {page}"


def draw(found: Any, figure: Path | None, tell: Callable[[str, int | None, float | None], object]) -> None:
    """Write the figure of what was found, where one was asked for.

    Args:
        found: what `assay.plot` takes.
        figure: where it goes; None for nowhere.
        tell: told what is being done.
    """
    if figure is not None:
        from assay.views.plot import plot

        tell("Drawing", None, None)
        plot(found).save(figure)


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


def write_json(found: Any, place: Path | None) -> None:
    """Write what was found as JSON that says it is assay's, where that was asked for.

    Args:
        found: a study, a comparison or a decision process, or JSON-ready values by name.
        place: where it goes; None for nowhere.
    """
    if place is None:
        return
    import json

    from assay.data.files import atomic_write
    from assay.shown import visible_json
    from assay.version import __version__

    if isinstance(found, dict):
        told = json.dumps({"assay": __version__, **found}, indent=2, ensure_ascii=False, allow_nan=False)
        text = visible_json(told) + "\n"
    else:
        from assay.report.findings_json import dumps

        text = dumps(found)
    with delivered(place) as path:
        if path is not None:
            with atomic_write(path) as handle:
                handle.write(text.encode())


def _send(file: Path) -> None:
    from assay.errors import DataError

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
        raise DataError(f"cannot write to standard output: {error.strerror or error}; let it go elsewhere") from error
