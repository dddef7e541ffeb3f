"""A stream of 20 columns on one core: moments, scores, alerts and drift, beside river's running statistics.

`python -m benchmarks.stream long` watches 50,000,000 rows and prints resident memory on the way.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from assay import Watch, running_moments
from benchmarks.harness import _memory, _reset_peak, show

_D, _BLOCK = 20, 65_536
_NAMES = [f"x{j}" for j in range(_D)]
_QUESTION = f"rows of {_D} columns, one core; rows for each second of it; quality: largest error of a mean or variance"
_MIX = np.linalg.cholesky(0.5 * np.eye(_D) + 0.5)


def _rows(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, _D)) @ _MIX.T + 10.0


def _timed(who: str, n: int, work: Callable[[], tuple[np.ndarray, np.ndarray] | None], X: np.ndarray) -> dict[str, Any]:
    before = _memory("VmRSS")
    _reset_peak()
    best, found = np.inf, None
    for _ in range(3):
        start = time.process_time()  # of this process alone, whatever else runs
        found = work()
        best = min(best, time.process_time() - start)
    quality = ""
    if found is not None:
        part = X[:n]
        quality = f"{max(np.abs(found[0] - part.mean(0)).max(), np.abs(found[1] - part.var(0, ddof=1)).max()):.0e}"
    peak = max(_memory("VmHWM") - before, 0.0)
    return {"question": _QUESTION, "who": who, "rows": n, "rows_per_second": round(n / best), "peak_mb": round(peak, 1),
            "quality": quality}  # fmt: skip


def _watched(blocks: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    watch = Watch(reference=5000)
    for block in blocks:
        watch.update(block)
    moments = watch.moments
    assert moments is not None
    return moments.mean, moments.variance


def _moments(blocks: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    *_, last = running_moments(iter(blocks))
    return last.mean, last.variance


def _river(X: np.ndarray) -> list[dict[str, Any]]:
    from river import covariance, preprocessing, stats

    few = 20_000
    dicts = [dict(zip(_NAMES, row, strict=True)) for row in X[:few].tolist()]
    frames = [pd.DataFrame(X[i : i + _BLOCK], columns=_NAMES) for i in range(0, 10 * _BLOCK, _BLOCK)]

    def variances() -> tuple[np.ndarray, np.ndarray]:
        found = {name: stats.Var() for name in _NAMES}
        for row in dicts:
            for name, value in row.items():
                found[name].update(value)
        return np.array([v.mean.get() for v in found.values()]), np.array([v.get() for v in found.values()])

    def scaler() -> None:
        model = preprocessing.StandardScaler()
        for row in dicts:
            model.learn_one(row)
            model.transform_one(row)

    def scaler_blocks() -> None:
        model = preprocessing.StandardScaler()
        for frame in frames:
            model.learn_many(frame)
            model.transform_many(frame)

    def covariances() -> None:
        model = covariance.EmpiricalCovariance()
        for row in dicts[:2000]:
            model.update(row)

    def covariances_blocks() -> None:
        model = covariance.EmpiricalCovariance()
        for frame in frames:
            model.update_many(frame)

    many = 10 * _BLOCK
    return [
        _timed("river stats.Var of each column", few, variances, X),
        _timed("river StandardScaler, row by row", few, scaler, X),
        _timed("river StandardScaler, in blocks", many, scaler_blocks, X),
        _timed("river EmpiricalCovariance, row by row", 2000, covariances, X),
        _timed("river EmpiricalCovariance, in blocks", many, covariances_blocks, X),
    ]


def _piped(who: str, path: Path, n: int) -> dict[str, Any]:
    """The command with rows on its standard input; starting it is part of the time, two or three seconds."""
    peak = 0.0
    with path.open("rb") as handle:
        child = subprocess.Popen([sys.executable, "-m", "assay", "watch", "-", "--no-view"], stdin=handle,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            # of itself: what wait4 tells begins with the memory of this process, of which it was a copy
            status = Path(f"/proc/{child.pid}/status").read_text()
            peak = max([peak, *(int(line.split()[1]) / 1024 for line in status.splitlines() if line[:5] == "VmHWM")])
            time.sleep(0.1)
        _, code, used = os.wait4(child.pid, 0)
    if code:
        raise SystemExit(f"{who} failed with status {code}")
    return {"question": _QUESTION, "who": who, "rows": n, "rows_per_second": round(n / (used.ru_utime + used.ru_stime)),
            "peak_mb": round(peak), "quality": ""}  # fmt: skip


def run() -> list[dict[str, Any]]:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    n = 1_000_000
    X = _rows(n)
    arrays = [X[i : i + _BLOCK] for i in range(0, n, _BLOCK)]
    batches = [pa.RecordBatch.from_arrays([pa.array(column) for column in block.T], names=_NAMES) for block in arrays]
    _watched(arrays[:2])  # compiled
    rows = [
        _timed("assay Watch, arrays", n, lambda: _watched(arrays), X),
        _timed("assay Watch, Arrow batches", n, lambda: _watched(batches), X),
        _timed("assay running_moments alone, arrays", n, lambda: _moments(arrays), X),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        pa_csv.write_csv(pa.Table.from_batches(batches), path)
        rows.append(_piped("assay watch -, CSV, the whole process", path, n))
        with path.open("w") as handle:
            for block in arrays[: len(arrays) // 2]:
                pd.DataFrame(block, columns=_NAMES).to_json(handle, orient="records", lines=True)
        rows.append(_piped("assay watch -, JSON lines, the whole process", path, _BLOCK * (len(arrays) // 2)))
    rows += _river(X)
    for row in rows:
        row["ratio"] = round(rows[0]["rows_per_second"] / row["rows_per_second"], 2)
    return rows


def long(n: int = 50_000_000) -> None:
    """Resident memory on the way to n rows, alerts counted, drift asked for every 1,000 rows."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng = np.random.default_rng(0)
    watch = Watch(reference=5000)
    spent, told = 0.0, 0
    while watch.rows < n:
        block = rng.standard_normal((_BLOCK, _D)) @ _MIX.T
        start = time.process_time()
        watch.update(block)
        spent += time.process_time() - start
        if watch.rows // 5_000_000 > told:
            told += 1
            rate, resident = watch.rows / spent, _memory("VmRSS")
            print(f"{watch.rows:>12,} rows  {rate:,.0f} rows/s  {resident:.1f} MB resident  {watch.alerts}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["long"]:
        long()
    else:
        show(run())
