"""What is judged while the words of a command are read, before anything large is imported."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from assay.cli.terminal import explained
from assay.data.file_exists import check_there
from assay.engine.named import engine_named
from assay.errors import ParameterError


def judged(check: Callable[[Any], object]) -> Callable[[typer.Context, Any], Any]:
    """A callback for an option or argument: each of its values is checked, and refused in a sentence.

    Args:
        check: raises where a value is wrong.
    """

    def callback(context: typer.Context, value: Any) -> Any:
        with explained(bool(context.params.get("debug"))):
            for each in value if isinstance(value, (list, tuple)) else (value,):
                if each is not None:
                    check(each)
        return value

    return callback


def _there(given: Any) -> None:
    text = str(given)
    # addresses, patterns and standard input are for the reader to judge
    if text not in ("", "-") and not re.search(r"[:*?]|\[.*\]", text):
        check_there(text)
    _room()


_TO_BEGIN = 400_000_000  # bytes of address space; the libraries that read and compute take a little more


def _room() -> None:
    """Refuse a limit that leaves no room for what is imported: OpenBLAS up to 0.3.28 waits for room for ever."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if 0 <= limit < _TO_BEGIN:
        raise MemoryError(f"a limit of {limit / 1e6:,.0f} MB of address space, where 400 are too few")


def _reference(given: str) -> None:
    if not given.isdigit() and Path(given).suffix:
        _there(given)


def _writable(given: Path) -> None:
    from assay.data.files import check_writable

    if str(given) != "-":
        check_writable(given)


def _drawable(given: Path) -> None:
    if given.suffix.lower() not in (".html", ".png", ".svg"):
        raise ParameterError(f"a figure is an .html, .png or .svg file; got --plot {given}")
    _writable(given)


there, reference, writable, drawable = map(judged, (_there, _reference, _writable, _drawable))
engine = judged(engine_named)


def share(context: typer.Context, param: typer.CallbackParam, value: float) -> float:
    """A callback for a number from 0 to 1; what else it must be, its user says."""
    with explained(bool(context.params.get("debug"))):
        if not 0 <= value <= 1:
            raise ParameterError(f"--{param.name} must be a number from 0 to 1; got {value:g}")
    return value
