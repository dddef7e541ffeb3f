"""Summaries as files that hold numbers and text only."""

from __future__ import annotations

import os
from typing import Any, Self

from numpy.typing import NDArray

from assay.data.files import read_archive, write_archive
from assay.errors import FileFormatError


class Stored:
    """A summary that knows its parts: a JSON-ready header and named arrays."""

    __slots__ = ()

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of the file."""
        raise NotImplementedError

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Rebuild from the content of a file."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the summary to a file that holds data only; read it with `load` or `assay.load`."""
        write_archive(path, type(self).__name__, *self.to_parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote, bit for bit."""
        kind, header, arrays = read_archive(path)
        if kind != cls.__name__:
            raise FileFormatError(f"{path} holds a {kind}, not {cls.__name__}")
        return cls.from_parts(header, arrays)
