"""Products of triples beside SciPy in memory: M v, M N, and PageRank in stripes.

Peak memory is that of a process of its own, above what it had after the same on a small matrix.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from assay import Triples, pagerank
from benchmarks.harness import _memory, _reset_peak, compare, show

STEP = 1 << 17  # triples of a row group
SMALL = 600_000  # nodes of the small matrix: enough for stripes, so that their code is loaded
Contender = Callable[[Path, int], Any]


def run(n: int = 1_000_000, m: int = 10_000_000, few: int = 2_000_000) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for at, size, counts in ((folder, n, (m, few)), (folder / "small", SMALL, (SMALL // 2, SMALL // 2))):
            at.mkdir(exist_ok=True)
            _drawn(at / "links.parquet", size, counts[0])
            _drawn(at / "few.parquet", size, counts[1])
            np.save(at / "v.npy", np.random.default_rng(1).standard_normal(size))
        y, C, x = _scipy_vector(folder, n), _scipy_matrix(folder, n), pagerank(_loaded(folder, n), tol=1e-12).scores
        vectors = f"vectors of {8 * n // 10**6} MB"
        return [
            *_compared(
                f"M v, {m:,} triples in Parquet, {vectors}; quality: largest difference from SciPy",
                VECTOR,
                folder,
                n,
                lambda found: np.abs(found - y).max(),
            ),
            *_compared(
                f"M M, {few:,} triples, {n:,} x {n:,}; quality: as above",
                MATRIX,
                folder,
                n,
                lambda found: abs((found.to_scipy() if isinstance(found, Triples) else found) - C).max(),
            ),
            *_compared(
                f"PageRank to 1e-10, {n:,} nodes, {m:,} links, five {vectors}; quality: sum of |differences| from "
                "1e-12",
                RANKS,
                folder,
                n,
                lambda found: np.abs(found.scores - x).sum(),
            ),
        ]


def _compared(
    question: str, contenders: dict[str, Contender], folder: Path, n: int, off: Callable[[Any], float]
) -> list[dict[str, Any]]:
    rows = compare(
        question,
        {who: lambda contender=contender: contender(folder, n) for who, contender in contenders.items()},
        against=list(contenders)[-1],
        quality=lambda found: f"{off(found):.0e}",
        rounds=1,
    )
    for row in rows:
        told = [sys.executable, "-m", "benchmarks.products", "alone", str(folder), str(n), row["who"]]
        done = subprocess.run(told, capture_output=True, text=True, check=True)
        row["peak_mb"] = float(done.stdout)
    return rows


def alone(folder: Path, n: int, who: str) -> float:
    """Peak memory of a contender in this process, in MB, above what it had after a small matrix."""
    contender = {**VECTOR, **MATRIX, **RANKS}[who]
    contender(folder / "small", SMALL)
    before = _memory("VmRSS")
    _reset_peak()
    kept = contender(folder, n)
    del kept
    return round(max(_memory("VmHWM") - before, 0.0), 1)


def _loaded(folder: Path, n: int, name: str = "links") -> sparse.csr_array:
    """The whole matrix in memory, as everybody would."""
    table = pq.read_table(folder / f"{name}.parquet")
    i, j, value = (table.column(column).to_numpy() for column in ("i", "j", "value"))
    return sparse.coo_array((value, (i, j)), shape=(n, n)).tocsr()


def _triples(folder: Path, n: int, name: str = "links") -> Triples:
    return Triples.of(folder / f"{name}.parquet", shape=(n, n))


def _scipy_vector(folder: Path, n: int) -> Any:
    return _loaded(folder, n) @ np.load(folder / "v.npy")


def _scipy_matrix(folder: Path, n: int) -> Any:
    M = _loaded(folder, n, "few")
    return M @ M


def _product(folder: Path, n: int, memory: str) -> Triples:
    M = _triples(folder, n, "few")
    return M.product(M, memory=memory)


VECTOR: dict[str, Contender] = {
    "M v, assay, 1 GB": lambda folder, n: _triples(folder, n).dot(folder / "v.npy"),
    "M v, assay, 8 MB": lambda folder, n: _triples(folder, n).dot(folder / "v.npy", memory="8 MB"),
    "M v, pyarrow and SciPy": _scipy_vector,
}
MATRIX: dict[str, Contender] = {
    "M M, assay, 2 GB": lambda folder, n: _product(folder, n, "2 GB"),
    "M M, assay, 32 MB": lambda folder, n: _product(folder, n, "32 MB"),
    "M M, pyarrow and SciPy": _scipy_matrix,
}
RANKS: dict[str, Contender] = {
    "PageRank, Triples in 16 MB": lambda folder, n: pagerank(_triples(folder, n), memory="16 MB"),
    "PageRank, in memory": lambda folder, n: pagerank(_loaded(folder, n)),
}


def _drawn(path: Path, n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    schema = pa.schema([("i", pa.int64()), ("j", pa.int64()), ("value", pa.float64())])
    with pq.ParquetWriter(path, schema) as file:
        for lo in range(0, m, STEP):
            count = min(STEP, m - lo)
            file.write_table(pa.table([*rng.integers(0, n, (2, count)), rng.random(count)], schema=schema))


if __name__ == "__main__":
    if sys.argv[1:2] == ["alone"]:
        print(alone(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
    else:
        show(run(*map(int, sys.argv[1:])))
