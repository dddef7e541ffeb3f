"""Datasets of pyarrow as sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pa_dataset

from assay.data.arrow_validation import sound_batches
from assay.data.field import Declared
from assay.data.file_fingerprint import Unchanged
from assay.data.memory.arrays import block_rows
from assay.data.memory.tables import viewless, without_views
from assay.data.names import columns_to_read
from assay.data.place import Place
from assay.data.source import Source
from assay.errors import DataError

# Formats that tell how many rows a file has without reading them.
_COUNTED = (pa_dataset.ParquetFileFormat, pa_dataset.IpcFileFormat)


class DatasetSource(Source):
    """A pyarrow dataset, scanned block by block."""

    _drops_sensitive = True

    def __init__(self, dataset: pa_dataset.Dataset, name: str = "data", declared: Declared | None = None) -> None:
        super().__init__(name, declared)
        self._dataset = dataset
        columns = columns_to_read(dataset.schema.names, self.declared)
        if columns.notes:
            raise DataError(f"cannot read {name}: its column names must differ; {columns.notes[0]}")
        self._names = columns.names
        if isinstance(dataset, pa_dataset.FileSystemDataset):
            self.unchanged = Unchanged(Place(path, dataset.filesystem) for path in dataset.files)

    def _arrow_schema(self) -> pa.Schema:
        found = self._dataset.schema
        return without_views(pa.schema([found.field(name) for name in self._names], metadata=found.metadata))

    def partitions(self) -> Sequence[Source]:
        """The files of Parquet and Arrow data sets; of others, whose rows are known only when read, itself."""
        plain = isinstance(self._dataset, pa_dataset.FileSystemDataset)
        if not plain or not isinstance(self._dataset.format, _COUNTED):
            return (self,)
        fragments = list(self._dataset.get_fragments())
        if len(fragments) < 2:
            return (self,)
        parts, row = [], self.first_row
        for fragment in fragments:
            rows = fragment.count_rows()
            own = pa_dataset.FileSystemDataset([fragment], self._dataset.schema, fragment.format, fragment.filesystem)
            files = None if self.unchanged is None else self.unchanged.only(fragment.path)
            parts.append(self._partition(row, rows, _dataset=own, unchanged=files))
            row += rows
        return parts

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self.arrow_schema
        # the default reads sixteen blocks ahead in each of four files, and with Parquet whole files
        how: dict[str, Any] = {"batch_readahead": 2, "fragment_readahead": 1}
        if isinstance(getattr(self._dataset, "format", None), pa_dataset.ParquetFileFormat):
            how["fragment_scan_options"] = pa_dataset.ParquetFragmentScanOptions(pre_buffer=False)
        batches = self._dataset.to_batches(columns=self._names, batch_size=block_rows(len(schema)), **how)
        for batch in sound_batches(batches, self.name):
            yield viewless(batch, schema)
