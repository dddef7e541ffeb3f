"""The LIBSVM text format: a label and index:value pairs a line. Columns are "label", "f1", "f2", ..."""

from __future__ import annotations

import io
import re
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_svmlight_file

from assay.data.field import Declared
from assay.data.formats.lines import LineChunk, LinesSource, Parsed
from assay.data.memory.arrays import arrow_array, block_rows
from assay.data.memory.sparse import held_columns, left_out, packed, refuse_mostly_empty
from assay.data.names import columns_to_read, refuse_many
from assay.data.place import Place
from assay.data.problems import Problems
from assay.errors import DataError

_INDEX = re.compile(rb"\s(\d{1,9}):")
_BAD = "lines are not a label and index:value pairs, and were left out"


class LibsvmSource(LinesSource):
    """A file in LIBSVM format. Opening reads it once, for the columns; blocks of it are dense.

    Indices count from 1, or from 0 if that occurs. Query numbers (qid) become a column. Of more than 10,000 columns
    those are handed out that occur in the file.
    """

    _positions: Sequence[int] = ()  # none is known while the file is read for them

    def __init__(self, place: Place, declared: Declared | None = None) -> None:
        super().__init__(place, declared)
        lines, stored, self._queries = 0, 0, False
        used = np.empty(0, dtype=np.int64)
        for chunk in self._chunks():
            indices = np.array(_INDEX.findall(_without_comments(chunk.text)), dtype="S9").astype(np.int64)
            lines, stored = lines + chunk.text.count(b"\n"), stored + len(indices)
            used = np.union1d(used, indices)
            self._queries = self._queries or b" qid:" in chunk.text
        if not len(used) or used[-1] == 0:
            raise DataError(f"cannot read {place}: it has no index:value pairs, as the LIBSVM format has")
        low = min(1, int(used[0]))
        self._zero_based = low == 0
        self._features = int(used[-1]) + self._zero_based
        self._held = held_columns(used - low, self._features, self.declared, "f")
        held = range(self._features) if self._held is None else self._held.tolist()
        refuse_many(len(held), str(place))
        refuse_mostly_empty((lines, self._features), len(held), stored, str(place))
        names = ["label", *(["qid"] if self._queries else []), *(f"f{j + 1}" for j in held)]
        columns = columns_to_read(names, self.declared)
        self._positions = columns.positions
        self._schema = pa.schema([(name, pa.float64()) for name in columns.names])
        self.notes = self._encoding_notes
        if self._held is not None:
            self.notes = (*self.notes, left_out(self._features, len(held)))

    def _arrow_schema(self) -> pa.Schema:
        return self._schema

    def _chunks(self) -> Generator[LineChunk, None, None]:
        """Chunks that are small enough to be dense."""
        most = block_rows(len(self._positions))
        for chunk in super()._chunks():
            lines = chunk.text.splitlines(keepends=True)
            for start in range(0, len(lines), most):
                yield LineChunk(b"".join(lines[start : start + most]), chunk.line + start)

    def _parse(self, chunk: LineChunk) -> Parsed:
        problems = Problems()
        lines = list(enumerate(chunk.text.splitlines(), chunk.line))
        skipped = [line for line, text in lines if not text.partition(b"#")[0].strip()]
        found = self._loaded(chunk.text)
        if found is None:
            good = []
            for line, text in lines:
                if self._loaded(text) is not None:
                    good.append(text)
                elif line not in skipped:
                    skipped.append(line)
                    problems.add(_BAD, place=f"line {line}")
            found = self._loaded(b"\n".join(good))
        return Parsed(self._batch(found), problems, sorted(skipped))

    def _loaded(self, text: bytes) -> tuple[Any, ...] | None:
        try:
            found: tuple[Any, ...] = load_svmlight_file(
                io.BytesIO(text), n_features=self._features, zero_based=self._zero_based, query_id=self._queries
            )
        except (ValueError, OverflowError):
            return None
        whole = len({part.shape[0] for part in found}) == 1  # a line may lack its query number
        return found if whole else None

    def _batch(self, found: tuple[Any, ...] | None) -> pa.RecordBatch:
        if found is None:
            return self._schema.empty_table().to_batches()[0]
        features, *beside = found
        columns = [
            *(np.asarray(column, dtype=np.float64) for column in beside),
            *(features if self._held is None else packed(features, self._held)).toarray(order="F").T,
        ]
        arrays = [arrow_array(columns[i], pa.float64()) for i in self._positions]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _without_comments(text: bytes) -> bytes:
    return re.sub(rb"#[^\n]*", b"", text) if b"#" in text else text
