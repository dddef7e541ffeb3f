"""JSON lines: one object a line. Fields of an object inside an object become columns "outer.inner"."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import closing

import pyarrow as pa

from assay.data.field import Declared
from assay.data.formats.json_format import JsonFormat
from assay.data.formats.lines import LineChunk, LinesSource, Parsed, whole_lines
from assay.data.place import Place
from assay.errors import DataError

# A file that is one JSON array has to be held whole.
_LARGEST_ARRAY = 1 << 28


class JsonSource(LinesSource):
    """JSON lines, or a small JSON array of objects. Columns and their types are those of the first 4 MB.

    A line that is no JSON object is left out; a value that contradicts the type of its column is missing; a key that
    appears later is left out; each is counted with its line.
    """

    def __init__(self, place: Place, declared: Declared | None = None) -> None:
        super().__init__(place, declared)
        self._array: bytes | None = None
        self._unit = "line"
        with closing(self._chunks()) as chunks:
            first = next(chunks, None)
        if first is not None and first.text.lstrip()[:1] == b"[":
            first = self._with_array()
        if first is None or not first.text.strip():
            raise DataError(f"cannot read {place}: there are no records in it")
        try:
            self._format = JsonFormat(first, self.declared, unit=self._unit)
        except DataError as error:
            raise DataError(f"cannot read {place}: {error}") from error
        self.notes = (*self._encoding_notes, *self._format.notes)

    def _with_array(self) -> LineChunk | None:
        """Turn a JSON array into lines, which are kept."""
        parts: list[bytes] = []
        size = self._size
        for chunk in super()._chunks():
            size = max(size, sum(map(len, parts)) + len(chunk.text))  # the file may be compressed
            if size > _LARGEST_ARRAY:
                raise DataError(
                    f"cannot read {self.place}: it is one JSON array of more than {_LARGEST_ARRAY >> 20} MB, to be "
                    "held whole; save it as JSON lines, one object a line (jq -c '.[]' does it)"
                )
            parts.append(chunk.text)
        text = b"".join(parts)
        try:
            records = [json.dumps(record).encode() for record in json.loads(text)]
        except (ValueError, RecursionError) as error:
            told = "it is nested too deeply"
            if isinstance(error, json.JSONDecodeError):
                told = f"line {error.lineno}: {error.msg}"
            raise DataError(f"cannot read {self.place}: it is not a JSON array that can be read ({told})") from error
        self._array = b"\n".join(records)
        self._unit = "record"
        return next(self._chunks(), None)

    def _chunks(self) -> Generator[LineChunk, None, None]:
        if self._array is None:
            yield from super()._chunks()
            return
        view = memoryview(self._array)
        position = 0

        def read(size: int) -> bytes:
            nonlocal position
            position += size
            return bytes(view[position - size : position])

        yield from whole_lines(read)

    def _arrow_schema(self) -> pa.Schema:
        return self._format.schema

    def _parse(self, chunk: LineChunk) -> Parsed:
        return self._format.parse(chunk)
