"""From file to encoded blocks, beside bare reads of the same file: at most 1.5x for Parquet of numbers, 2x for a CSV.

The CSV has numbers, whole numbers, categories, dates and gaps. "known encoding" is what a saved model does with a new
file; "encoding fitted, too" first gathers the statistics of every column. Quality is rows and columns delivered.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

import assay
from assay.data.columns.encoded import EncodedSource
from assay.data.row_cache import KeptSource
from benchmarks.harness import compare, show


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        return _parquet(Path(folder) / "numbers.parquet") + _csv(Path(folder) / "mixed.csv")


def _parquet(path: Path) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.standard_normal(2_000_000) for j in range(40)})
    pq.write_table(table, path, row_group_size=1 << 17, compression="zstd", use_dictionary=False)
    del table

    def bare() -> tuple[int, int]:
        rows = 0
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1 << 16):
                block = np.stack([column.to_numpy() for column in batch.columns])
                rows += block.shape[1]
        return rows, len(block)

    return compare(
        f"Parquet of numbers, 2,000,000 x 40, {_megabytes(path)} MB on disk, 640 MB in memory",
        {
            "bare pyarrow to numpy blocks": bare,
            "polars read_parquet": lambda: pl.read_parquet(path).shape,
            **_ours(path),
        },
        against="bare pyarrow to numpy blocks",
        quality=lambda shape: f"{shape[0]:,} x {shape[1]}",
        rounds=5,
    )


def _csv(path: Path) -> list[dict[str, Any]]:
    write_mixed(path, 4_000_000)
    return compare(
        f"CSV of mixed kinds, 4,000,000 x 10, {_megabytes(path)} MB",
        {
            "bare pyarrow read_csv": lambda: pa_csv.read_csv(path).shape,
            "polars read_csv": lambda: pl.read_csv(path, try_parse_dates=True).shape,
            **_ours(path),
        },
        against="bare pyarrow read_csv",
        quality=lambda shape: f"{shape[0]:,} x {shape[1]}",
        rounds=3,
    )


def _ours(path: Path) -> dict[str, Callable[[], tuple[int, int]]]:
    known = assay.encode(assay.read(path), log="never").encoding

    def encoded(source: Any) -> tuple[int, int]:
        rows = columns = 0
        for block in source.float_blocks():
            rows, columns = rows + len(block), block.shape[1]
        return rows, columns

    def apply_known() -> tuple[int, int]:
        return encoded(EncodedSource(assay.read(path), known))

    def fit_and_apply() -> tuple[int, int]:
        return encoded(assay.encode(KeptSource(assay.read(path), 1 << 30)))

    return {"assay, known encoding": apply_known, "assay, encoding fitted, too": fit_and_apply}


def write_mixed(path: Path, n: int, *, copies: int = 1) -> None:
    """A CSV of ten columns of many kinds with gaps; its rows `copies` times one after the other."""
    rng = np.random.default_rng(1)
    towns = np.array(["Oslo", "Rome", "Bern", "Wien", "Porto", "Gent"])
    when = np.datetime64("2015-01-01") + rng.integers(0, 3000, n).astype("timedelta64[D]")
    spend = np.round(np.exp(rng.normal(3, 1.2, n)), 2)
    table = pa.table(
        {
            "customer": np.arange(n),
            "height": np.round(rng.normal(170, 10, n), 2),
            "weight": pa.array(np.round(rng.normal(70, 12, n), 3), mask=rng.random(n) < 0.05),
            "visits": rng.poisson(4, n),
            "spend": spend,
            "town": towns[rng.integers(0, len(towns), n)],
            "member": rng.random(n) < 0.4,
            "joined": pa.array(when),
            "score": rng.standard_normal(n),
            "ratio": rng.random(n),
        }
    )
    with path.open("wb") as handle:
        for copy in range(copies):
            pa_csv.write_csv(table, handle, pa_csv.WriteOptions(include_header=copy == 0, quoting_style="needed"))


def _megabytes(path: Path) -> int:
    return path.stat().st_size >> 20


if __name__ == "__main__":
    show(run())
