"""Standard output and error as they may be: closed, full, or of another encoding; and what is told on them."""

import codecs
import io
import os
import sys
import warnings
from contextlib import suppress
from typing import Any, NoReturn, TextIO

from assay.errors import Caution, DataError
from assay.shown import safe

_PLAIN = "assay.plain"
# narrower terminals, and wider ones, are none
_WIDTHS = range(20, 10_000)
# what terminals without Unicode show in the place of signs that assay writes itself
_SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "…": "...", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "±": "+-",
    "×": "x", "·": ".", "•": "*", "●": "*", "○": "o", "✓": "+", "✗": "x", "²": "^2", "³": "^3", "∞": "inf", "→": "->",
    "←": "<-", "‘": "'", "’": "'", "“": '"', "”": '"', "«": '"', "»": '"', "\N{NO-BREAK SPACE}": " ", "°": " deg",
}  # fmt: skip


def prepare() -> None:
    """Let both streams take any text and tell where it cannot go; let warnings be sentences."""
    codecs.register_error(_PLAIN, _plain)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed: what is opened next would take its number, and what is printed there
            descriptor = os.open(os.devnull, os.O_RDWR)
            if number:
                opened = os.fdopen(descriptor, "w", encoding="utf-8")
                setattr(sys, name, opened)
                setattr(sys, f"__{name}__", opened)
    sys.stdout, sys.stderr = _checked(sys.stdout, _Output), _checked(sys.stderr, _Errors)
    for name in ("COLUMNS", "LINES"):
        given = os.environ.get(name, "80")
        if not (given.isascii() and given.isdigit() and int(given[:9]) in _WIDTHS):
            del os.environ[name]
    warnings.showwarning = _show
    if not sys.warnoptions:
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # of workers that are started


def reader_left() -> bool:
    """Whether who read standard output wants no more."""
    return getattr(sys.stdout, "left", False)


def say(words: str) -> None:
    """One line on standard error; where that cannot be written, nothing."""
    with suppress(OSError, ValueError):
        print(f"assay: {safe(' '.join(words.split()))}", file=sys.stderr)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Signs by their likes, and all else by its escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    some = error.object[error.start : error.end]
    return "".join(_SIGNS.get(c) or c.encode("ascii", "backslashreplace").decode() for c in some), error.end


class _Output(io.TextIOWrapper):
    """A stream that tells in a sentence that it cannot be written to; a reader who leaves is told as ever."""

    left = False

    def write(self, text: str) -> int:
        try:
            return super().write(text) if text != "" else 0  # by which the parser asks what the stream takes
        except OSError as error:
            self._refuse(error)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._refuse(error)

    def _refuse(self, error: OSError) -> NoReturn:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # what is still to be flushed at the end goes nowhere
        if isinstance(error, BrokenPipeError):
            self.left = True
            raise error
        raise DataError(f"cannot write to standard output: {error.strerror or error}; let it go elsewhere") from None


class _Errors(_Output):
    """A stream whose loss changes nothing."""

    def write(self, text: str) -> int:
        with suppress(DataError, BrokenPipeError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(DataError, BrokenPipeError):
            super().flush()


def _checked(stream: Any, kind: type[_Output]) -> TextIO:
    if type(stream) is not io.TextIOWrapper:  # somebody's own
        return stream  # type: ignore[no-any-return]
    with suppress(OSError, DataError):
        stream.flush()
    lines = kind is _Errors or stream.line_buffering
    return kind(stream.buffer, stream.encoding, _PLAIN, line_buffering=lines, write_through=stream.write_through)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Warnings of assay are notes; those of libraries are shown to who asks for them by -W or PYTHONWARNINGS."""
    if issubclass(category, Caution):
        say(f"note: {message}")
    elif sys.warnoptions:
        say(f"{category.__name__} of {filename}:{lineno}: {message}")
