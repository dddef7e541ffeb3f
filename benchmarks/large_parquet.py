"""A Parquet data set of 10 GB, 100 columns: one pass beside bare decoding and X.T @ X, Dask and Spark; a whole report.

Each contender runs in a process of its own. The bare loop decodes blocks by pyarrow and adds X.T @ X: assay is to
reach 70% of its rate, and be three times as fast as `dask.array` and as Spark's `RowMatrix` on one of the files.
`python -m benchmarks.large_parquet FOLDER` takes a folder of Parquet files that is there already.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import show

_FILES, _GROUPS, _ROWS, _COLUMNS = 8, 12, 1 << 17, 100

_BARE = """
import sys, glob, numpy as np, pyarrow.parquet as pq
total = np.zeros((100, 100)); rows = 0
for path in sorted(glob.glob(sys.argv[1])):
    for batch in pq.ParquetFile(path, pre_buffer=False).iter_batches(65536):
        X = np.stack([column.to_numpy() for column in batch.columns])
        total += X @ X.T; rows += X.shape[1]
print(rows, total[0, 0] / rows)
"""
_ASSAY = """
import sys, assay
m = assay.Moments.of(assay.read(sys.argv[1])); print(m.count, m.scatter[0, 0] / m.count)
"""
_ENGINE = """
import sys, assay
if __name__ == "__main__":
    with assay.using(sys.argv[2]):
        m = assay.Moments.of(assay.read(sys.argv[1]))
    print(m.count, m.scatter[0, 0] / m.count)
"""
_DASK = """
import sys, dask.dataframe as dd, dask.array as da
frame = dd.read_parquet(sys.argv[1])
X = frame.to_dask_array(lengths=True)
C = da.cov(X, rowvar=False).compute(); print(len(X), C[0, 0])
"""
_SPARK = """
import sys
from pyspark.sql import SparkSession
from pyspark.ml.feature import VectorAssembler
from pyspark.mllib.linalg import Vectors
from pyspark.mllib.linalg.distributed import RowMatrix
spark = (SparkSession.builder.master("local[*]").config("spark.driver.memory", "6g").config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
frame = spark.read.parquet(sys.argv[1])
rows = VectorAssembler(inputCols=frame.columns, outputCol="v").transform(frame).select("v").rdd.map(
    lambda row: Vectors.fromML(row.v))
C = RowMatrix(rows).computeCovariance().toArray(); print(frame.count(), C[0, 0])
spark.stop()
"""


def write(folder: Path) -> None:
    """Write five factors and noise, without compression."""
    rng = np.random.default_rng(0)
    loadings = rng.standard_normal((5, _COLUMNS), dtype=np.float32)
    for i in range(_FILES):
        writer = None
        for _ in range(_GROUPS):
            factors = rng.standard_normal((_ROWS, 5), dtype=np.float32)
            X = factors @ loadings + rng.standard_normal((_ROWS, _COLUMNS), dtype=np.float32)
            table = pa.table({f"x{j}": column for j, column in enumerate(X.T.astype(np.float64))})
            if writer is None:
                path = folder / f"part{i}.parquet"
                writer = pq.ParquetWriter(path, table.schema, use_dictionary=False, compression="none")
            writer.write_table(table, row_group_size=_ROWS)
        if writer is not None:
            writer.close()


def run(folder: str | None = None) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as made:
        place = Path(folder or made)
        if folder is None:
            write(place)
        files = sorted(place.glob("*.parquet"))
        size = sum(path.stat().st_size for path in files)
        every, one = str(place / "*.parquet"), str(files[0])
        whole = f"Parquet of {size / 1e9:.1f} GB, {len(files)} files, {_COLUMNS} columns"
        first = f"one of its files, {files[0].stat().st_size / 1e9:.2f} GB"
        rows = [
            measured(whole, "pyarrow decoding and X.T @ X", ["-c", _BARE, every], size),
            measured(whole, "assay Moments, local", ["-c", _ASSAY, every], size),
            measured(whole, "assay Moments, Dask", ["-c", _ENGINE, every, "dask"], size),
        ]
        for who, code in (("assay Moments, local", _ASSAY), ("dask.array cov", _DASK), ("Spark RowMatrix", _SPARK)):
            rows.append(measured(first, who, ["-c", code, one], files[0].stat().st_size))
        page = ["-m", "assay", "report", every, "-o", str(Path(made) / "page.html")]
        rows.append(measured(whole, "assay report", page, size))
        return rows


def measured(question: str, who: str, arguments: list[str], size: int) -> dict[str, Any]:
    """Run a process and say how long it took, at which rate, and its peak of memory."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = child.stdout.read().strip().splitlines() if child.stdout else []
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    row = {
        "question": question,
        "who": who,
        "seconds": round(seconds, 1),
        "gb_per_second": round(size / seconds / 1e9, 3),
        "peak_mb": round(used.ru_maxrss / 1024),
        "quality": f"status {status}" if status else said[-1][:40] if said and who != "assay report" else "",
    }
    show([row])
    return row


if __name__ == "__main__":
    show(run(sys.argv[1] if len(sys.argv) > 1 else None))
