"""Memory does not grow with rows, once a table is larger than what is held."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.data.read import read
from assay.study.gather import gathered
from assay.study.table import prepare

FEW = 24_000


def peak_of(path):
    """Bytes at the most, of NumPy and Python, while a table is read, judged, summarised and sampled."""
    tracemalloc.start()
    try:
        table, _ = prepare(read(path))
        assert table.rows is None
        gathered(table, frozenset(), 0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_four_times_the_rows_of_every_kind_take_no_more_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", 1 << 18)
    monkeypatch.setattr("assay.data.formats.arrow_files.block_rows", lambda d: 4096)
    rng = np.random.default_rng(0)
    peaks = []
    for n in (FEW, FEW, 4 * FEW):  # the first run pays for what is imported and kept for good
        columns = {f"x{j}": rng.standard_normal(n) for j in range(6)} | {
            "gaps": pa.array(rng.standard_normal(n), mask=rng.random(n) < 0.2),
            "level": np.array([f"level {k}" for k in range(8)])[rng.integers(0, 8, n)],
            "yes": rng.random(n) < 0.3,
            "day": np.datetime64("2020-01-01") + rng.integers(0, 2000, n).astype("timedelta64[D]"),
        }
        pq.write_table(pa.table(columns), tmp_path / f"{n}.parquet", row_group_size=4096)
        peaks.append(peak_of(tmp_path / f"{n}.parquet"))
    # two hashes of 8 bytes are kept of each row, up to two million of each, and merging them takes as much again:
    # 2.3 MB for the 72,000 rows more. One number more held of every row and column (19) would be 11 MB.
    assert peaks[2] - peaks[1] < 6e6
