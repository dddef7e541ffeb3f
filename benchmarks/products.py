"""Products of triples beside SciPy in memory: M v, M N, and PageRank in stripes, with their peak memory."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from assay import Triples, pagerank
from benchmarks.harness import compare, show

STEP = 1 << 17  # triples of a row group


def run(n: int = 1_000_000, m: int = 10_000_000, small: int = 2_000_000) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _drawn(folder / "links.parquet", n, m)
        _drawn(folder / "few.parquet", n, small)
        np.save(folder / "v.npy", np.random.default_rng(1).standard_normal(n))
        return _vector(folder, n, m) + _matrix(folder, n, small) + _ranks(folder, n, m)


def _vector(folder: Path, n: int, m: int) -> list[dict[str, Any]]:
    file, v = folder / "links.parquet", folder / "v.npy"
    exact = loaded(file, n) @ np.load(v)
    return compare(
        f"M v, {m:,} triples of {n:,} x {n:,} in Parquet, v in a file; quality: largest difference from SciPy",
        {
            "assay, 1 GB": lambda: Triples.of(file, shape=(n, n)).dot(v),
            "assay, 8 MB": lambda: Triples.of(file, shape=(n, n)).dot(v, memory="8 MB"),
            "pyarrow and SciPy": lambda: loaded(file, n) @ np.load(v),
        },
        against="pyarrow and SciPy",
        quality=lambda y: f"{np.abs(y - exact).max():.0e}",
        rounds=1,
    )


def _matrix(folder: Path, n: int, m: int) -> list[dict[str, Any]]:
    file = folder / "few.parquet"
    exact = loaded(file, n)
    exact = exact @ exact

    def triples(memory: str) -> Triples:
        M = Triples.of(file, shape=(n, n))
        return M.product(M, memory=memory)

    def off(C: Any) -> str:
        found = C.to_scipy() if isinstance(C, Triples) else C
        return f"{abs(found - exact).max():.0e}"

    return compare(
        f"M M, {m:,} triples of {n:,} x {n:,} in Parquet; quality: as above",
        {
            "assay, 2 GB": lambda: triples("2 GB"),
            "assay, 32 MB": lambda: triples("32 MB"),
            "pyarrow and SciPy": lambda: loaded(file, n) @ loaded(file, n),
        },
        against="pyarrow and SciPy",
        quality=off,
        rounds=1,
    )


def _ranks(folder: Path, n: int, m: int) -> list[dict[str, Any]]:
    positive = folder / "positive.parquet"
    _drawn(positive, n, m, absolute=True)
    exact = pagerank(loaded(positive, n), tol=1e-12).scores
    return compare(
        f"PageRank to 1e-10, {n:,} nodes, {m:,} links in Parquet; vectors {5 * 8 * n // 10**6} MB; quality: sum of "
        "|differences| from 1e-12",
        {
            "assay, in memory": lambda: pagerank(loaded(positive, n)).scores,
            "assay, Triples in 16 MB": lambda: pagerank(Triples.of(positive, shape=(n, n)), memory="16 MB").scores,
        },
        against="assay, in memory",
        quality=lambda scores: f"{np.abs(scores - exact).sum():.0e}",
        rounds=1,
    )


def loaded(file: Path, n: int) -> sparse.csr_array:
    """The whole matrix in memory, as everybody would."""
    table = pq.read_table(file)
    i, j, value = (table.column(name).to_numpy() for name in ("i", "j", "value"))
    return sparse.coo_array((value, (i, j)), shape=(n, n)).tocsr()


def _drawn(path: Path, n: int, m: int, *, absolute: bool = False) -> None:
    rng = np.random.default_rng(0)
    schema = pa.schema([("i", pa.int64()), ("j", pa.int64()), ("value", pa.float64())])
    with pq.ParquetWriter(path, schema) as file:
        for lo in range(0, m, STEP):
            count = min(STEP, m - lo)
            ends, value = rng.integers(0, n, (2, count)), rng.standard_normal(count)
            file.write_table(pa.table([*ends, np.abs(value) if absolute else value], schema=schema))


if __name__ == "__main__":
    show(run(*map(int, sys.argv[1:])))
