"""What the numbers of an encoding are called, which column each comes from, and how they are kept in a file."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns._codecs import Codec, LevelCodec, Number
from assay.data.columns._codecs_parts import WordCodec, codec_from
from assay.data.columns.encoding_notes import EncodedColumn
from assay.data.columns.units import unit_in_name
from assay.data.field import Field
from assay.data.files import write_archive
from assay.errors import FileFormatError, ParameterError

Index: TypeAlias = int | np.integer[Any]


@dataclass(frozen=True)
class EncodingLayout:
    """The D numbers that stand for the columns of a table.

    Attributes:
        fields: the columns of the user, as the whole data show them.
        columns: what was done with each, in words.
        codecs: what does it.
        rows: rows it was decided on.
    """

    fields: tuple[Field, ...]
    columns: tuple[EncodedColumn, ...]
    codecs: tuple[Codec, ...]
    rows: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers, no two alike."""
        taken: dict[str, int] = {}
        names = []
        for known, codec in zip(self.fields, self.codecs, strict=True):
            for name in codec.names(known.name):
                unique, copies = name, 1
                while unique in taken:
                    copies = taken[name] = taken[name] + 1
                    unique = f"{name} ({copies})"
                taken[unique] = 1
                names.append(unique)
        return tuple(names)

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """For each column of the user, which of the numbers stand for it."""
        stops = np.cumsum([0, *(column.outputs for column in self.columns)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(stops))

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """(D,) index of the column that each number comes from; each word of a text is a group of its own."""
        groups, more = [], len(self.fields)
        for j, codec in enumerate(self.codecs):
            count = self.columns[j].outputs
            own = isinstance(codec, WordCodec)
            groups += list(range(more, more + count)) if own else [j] * count
            more += count if own else 0
        return np.array(groups, dtype=np.int64)

    def levels(self, column: str) -> tuple[str, ...]:
        """What the numbers of a column stand for: the level of each, the pooled rare ones last; or, where a column of
        yes and no or of steps is a single number, its values from 0. Empty for columns without levels.

        Args:
            column: its name.
        """
        return self.codecs[self._place[column]].told()

    def level_shares(self, group: int) -> Array:
        """The share of the rows in each level of a category, in the order of its numbers.

        Args:
            group: index of the column.
        """
        codec = self.codecs[group] if 0 <= group < len(self.codecs) else None
        if not isinstance(codec, LevelCodec):
            raise ParameterError(f"group {group} is not a category that was encoded by levels")
        return np.array(codec.shares)

    def label(self, j: Index) -> str:
        """How number j is called where it is shown: its name, with the unit where it has one that its name does not."""
        known, codec = self.fields[self._source[j]], self.codecs[self._source[j]]
        if isinstance(codec, Number) and known.unit:
            plain, own = unit_in_name(known.name)
            return codec.names(known.name if own == known.unit else f"{plain} [{known.unit}]")[0]
        return self.names[j]

    @cached_property
    def logged(self) -> frozenset[str]:
        """The columns that log(1 + x) is taken of."""
        pairs = zip(self.fields, self.codecs, strict=True)
        return frozenset(known.name for known, codec in pairs if isinstance(codec, Number) and codec.log)

    def source_column(self, j: Index) -> str:
        """The column of the user that number j comes from."""
        return self.fields[self._source[j]].name

    @cached_property
    def _place(self) -> dict[str, int]:
        return {known.name: j for j, known in reversed(list(enumerate(self.fields)))}

    @cached_property
    def _source(self) -> list[int]:
        return [i for i, column in enumerate(self.columns) for _ in range(column.outputs)]

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of a file, which hold data only."""
        header = {
            "rows": self.rows,
            "fields": [asdict(known) for known in self.fields],
            "columns": [asdict(column) for column in self.columns],
            "codecs": [codec.header() for codec in self.codecs],
        }
        return header, {}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the encoding to a file that holds data only; read it with `assay.load`."""
        write_archive(path, "Encoding", *self.to_parts())

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Rebuild from the content of a file."""
        try:
            fields = tuple(
                Field(**{**known, "levels": None if known["levels"] is None else tuple(known["levels"])})
                for known in header["fields"]
            )
            columns = tuple(EncodedColumn(**column) for column in header["columns"])
            codecs = tuple(codec_from(codec) for codec in header["codecs"])
            found = cls(fields, columns, codecs, int(header["rows"]))
            counts = [len(codec.names("")) for codec in codecs]
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"the encoding in the file is damaged: {error}") from error
        if not len(fields) == len(columns) == len(codecs) or counts != [c.outputs for c in columns]:
            raise FileFormatError("the encoding in the file is damaged: its parts do not fit together")
        return found
