"""Summaries as files that hold numbers and text only."""

from __future__ import annotations

import os
from typing import Any, Self

from numpy.typing import NDArray

from assay.data.files import load_archive, write_archive
from assay.errors import DataError, FileFormatError

# A summary of fewer rows can tell them: the mean of one row is the row.
FEWEST_ROWS = 10


def known_labels(found: Any) -> tuple[Any, ...]:
    """The labels of groups in a file; others than text, numbers and booleans were never written.

    Args:
        found: in the header.
    """
    if not isinstance(found, list) or not all(isinstance(label, (str, int, float)) for label in found):
        raise FileFormatError("its labels are no list of texts or numbers")
    return tuple(found)


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

    def save(self, path: str | os.PathLike[str], *, fewest_rows: int = FEWEST_ROWS) -> None:
        """Write the summary to a file that holds data only and no rows; read it with `load` or `assay.load`.

        Args:
            path: the file.
            fewest_rows: refuse if a group has fewer rows, since its summary would tell them. Groups without rows tell
                nothing.
        """
        header, arrays = self.to_parts()
        counts = header.get("counts", [part["count"] for part in header.get("parts", ())])
        small = [count for count in counts or [header["count"]] if 0 < count < fewest_rows]
        if small:
            of = f"{len(small)} of its groups have" if counts else "it has"
            raise DataError(
                f"cannot write {path}: {of} fewer than {fewest_rows} rows ({small[0]}), so the summary could tell "
                "them; merge groups, or set fewest_rows if the rows are no secret"
            )
        write_archive(path, type(self).__name__, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote, bit for bit."""

        def built(kind: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
            if kind != cls.__name__:
                raise FileFormatError(f"it holds a {kind}, not {cls.__name__}")
            return cls.from_parts(header, arrays)

        found: Self = load_archive(path, built)
        return found
