"""A matrix on disk, cut into cells by stripes of rows and stripes of columns.

    cell (a, b)    triples with i in stripe a and j in stripe b, in the order they came
    record         place in the row stripe and in the column stripe (4 bytes each), value (8 bytes; none if all are 1)

Triples are read once. Runs of them, as many as memory allows, are sorted by cell and written as they come; then every
run is dealt out to the places of its cells, which are known by now. Reading a cell is reading one piece of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Whole
from assay.errors import DataError
from assay.summary.triples.allowance import Plan, stripes
from assay.summary.triples.in_order import in_order

Records = NDArray[np.uint32]
Triple = tuple[Whole, Whole, Array | None]

LARGEST = 2**31  # of a stripe, so that places in it fit a record


@dataclass(frozen=True, slots=True, eq=False)
class TripleCells:
    """Cells of a matrix in one file.

    Attributes:
        path: of the file.
        shape: of the matrix.
        plan: its stripes.
        valued: whether triples have values.
        offsets: (cells + 1,) where each cell begins, in records.
    """

    path: Path
    shape: tuple[int, int]
    plan: Plan
    valued: bool
    offsets: Whole

    @property
    def down(self) -> int:
        """How many stripes of rows."""
        return stripes(self.shape[0], self.plan.rows)

    @property
    def across(self) -> int:
        """How many stripes of columns."""
        return stripes(self.shape[1], self.plan.columns)

    def rows(self, a: int) -> tuple[int, int]:
        """The first row of a stripe, and the row after its last."""
        return a * self.plan.rows, min((a + 1) * self.plan.rows, self.shape[0])

    def columns(self, b: int) -> tuple[int, int]:
        """The first column of a stripe, and the column after its last."""
        return b * self.plan.columns, min((b + 1) * self.plan.columns, self.shape[1])

    def count(self, a: int, b: int) -> int:
        """Triples in a cell."""
        cell = a * self.across + b
        return int(self.offsets[cell + 1] - self.offsets[cell])

    def read(self, a: int, b: int) -> Iterator[tuple[Records, Array]]:
        """Places and values of a cell, a run at a time."""
        cell, width = a * self.across + b, 4 if self.valued else 2
        for at in range(int(self.offsets[cell]), int(self.offsets[cell + 1]), self.plan.run):
            many = min(self.plan.run, int(self.offsets[cell + 1]) - at)
            records = np.fromfile(self.path, np.uint32, many * width, offset=at * width * 4)
            if len(records) < many * width:
                raise DataError(f"{self.path} ended early: something cut the scratch file of a product; run it again")
            yield split(records.reshape(many, width))

    def triples(self, a: int, b: int) -> Iterator[Triple]:
        """The same as triples of the matrix."""
        for ends, values in self.read(a, b):
            i = ends[:, 0].astype(np.int64) + self.rows(a)[0]
            j = ends[:, 1].astype(np.int64) + self.columns(b)[0]
            yield i, j, values if self.valued else None


def split(records: Records) -> tuple[Records, Array]:
    """Places and values of records."""
    return records, records.view(np.float64)[:, 1] if records.shape[1] == 4 else np.empty(0)


def cut(
    blocks: Iterable[Any],
    convert: Callable[[Any], Triple],
    shape: tuple[int, int],
    plan: Plan,
    path: Path,
    *,
    valued: bool,
) -> TripleCells:
    """Write a matrix in cells.

    Args:
        blocks: what is to be read.
        convert: from a block to its triples, inside the shape; runs in worker threads.
        shape: of the matrix.
        plan: its stripes.
        path: of the file to be made; one beside it is made on the way and removed.
        valued: whether to keep values.
    """
    from assay.summary.triples._kernels import into_cells

    across = stripes(shape[1], plan.columns)
    count = plan.cells(shape)

    def sort(block: Any) -> tuple[Records, Whole]:
        i, j, value = convert(block)
        counts, records = np.zeros(count, np.int64), np.empty((len(i), 4 if valued else 2), np.uint32)
        ends, values = split(records)
        if value is None:
            value = np.ones(len(i)) if valued else np.empty(0)
        into_cells(i, j, value, plan.rows, plan.columns, across, counts, ends, values)
        return records, counts

    runs = path.with_suffix(".runs")
    counted = path.with_suffix(".counts")
    totals = np.zeros(count, np.int64)
    lengths: list[int] = []
    with runs.open("wb") as handle, counted.open("wb") as tally:

        def keep(part: tuple[Records, Whole]) -> None:
            records, counts = part
            handle.write(records.view(np.uint8).data)
            tally.write(counts.view(np.uint8).data)
            np.add(totals, counts, out=totals)
            lengths.append(len(records))

        in_order(blocks, sort, keep)
    offsets = np.concatenate([[0], np.cumsum(totals)])
    if len(lengths) <= 1:
        runs.replace(path)
    else:
        _deal(runs, counted, path, lengths, offsets, 16 if valued else 8)
        runs.unlink()
    counted.unlink()
    return TripleCells(path, shape, plan, valued, offsets)


def _deal(runs: Path, counted: Path, path: Path, lengths: list[int], offsets: Whole, size: int) -> None:
    """Every run, sorted by cell, to the places of its cells."""
    place = offsets[:-1] * size
    with runs.open("rb") as handle, counted.open("rb") as tally, path.open("wb", buffering=0) as out:
        for length in lengths:
            counts = np.fromfile(tally, np.int64, len(place))
            run = memoryview(handle.read(length * size))
            there = np.flatnonzero(counts)
            begin = 0
            for cell, bytes_, at in zip(
                there.tolist(), (counts[there] * size).tolist(), place[there].tolist(), strict=True
            ):
                out.seek(at)
                out.write(run[begin : begin + bytes_])
                begin += bytes_
                place[cell] += bytes_
