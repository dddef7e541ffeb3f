"""`assay report` beside ydata-profiling: the same files, a page each, every contender in a process of its own.

Time is wall time and, since machines are shared, seconds of processor; then the size of the page and peak memory.
ydata-profiling wants older libraries, so it runs in an environment of its own, whose Python `ASSAY_YDATA` names:

    uv venv ydata && uv pip install --python ydata/bin/python ydata-profiling "setuptools<81"
    ASSAY_YDATA=ydata/bin/python python -m benchmarks report

Without it assay is measured alone. Both have run once before, so that compiled code is there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from benchmarks.harness import show

_WHOLESALE = Path(__file__).parents[1] / "examples" / "data" / "wholesale_customers.csv"
_YDATA = """
import sys, warnings
warnings.simplefilter("ignore")
import pandas as pd
from ydata_profiling import ProfileReport
ProfileReport(pd.read_csv(sys.argv[1]), minimal=sys.argv[3] == "minimal", progress_bar=False).to_file(sys.argv[2])
"""


def run() -> list[dict[str, Any]]:
    """Measure, and give a row for each contender and file."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        many, wide = place / "10000x20.csv", place / "10000x50.csv"
        pa_csv.write_csv(_table(10_000, 20), many)
        pa_csv.write_csv(_table(10_000, 50), wide)
        for what, path, mode, flags in (
            ("440 x 8", _WHOLESALE, "full", ()),
            ("440 x 8, quick", _WHOLESALE, "full", ("--quick",)),
            ("10,000 x 20", many, "full", ()),
            ("10,000 x 50, theirs minimal", wide, "minimal", ()),
        ):
            rows += _measured(what, path, mode, flags, place)
    return rows


def _table(n: int, d: int) -> pa.Table:
    """Numbers with three factors, some skewed, counts and a category: what reports are made of."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) * 0.4 + rng.standard_normal((n, d))
    X[:, ::10] = np.exp(X[:, ::10] / 2)
    columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(d)}
    columns["x1"] = np.round(3 * X[:, 1] + 20).astype(int)
    columns["x2"] = np.array(list("abcd"))[rng.integers(0, 4, n)]
    return pa.table(columns)


def _measured(question: str, path: Path, mode: str, flags: Sequence[str], place: Path) -> list[dict[str, Any]]:
    page = place / "page.html"
    report = ["-m", "assay", "report", str(path), "-o", str(page), "--force", "--no-cache", *flags]
    contenders = {"assay": [sys.executable, *report]}
    theirs = os.environ.get("ASSAY_YDATA", "")
    if theirs:
        contenders["ydata-profiling"] = [theirs, "-c", _YDATA, str(path), str(page), mode]
    found = {}
    for who, command in contenders.items():
        _cost(command)
        found[who] = (*_cost(command), page.stat().st_size / 1e6)
    against = found.get("ydata-profiling", found["assay"])
    return [
        {
            "question": question,
            "who": who,
            "seconds": round(wall, 2),
            "ratio": round(wall / against[0], 3),
            "peak_mb": round(peak),
            "quality": f"{processor:.1f} s of processor ({processor / against[1]:.2f}), page of {size:.1f} MB",
        }
        for who, (wall, processor, peak, size) in found.items()
    ]


def _cost(command: list[str]) -> tuple[float, float, float]:
    """Seconds, seconds of processor and peak memory in MB of a process and its children."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {said.decode(errors='replace')[-500:]}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    show(run())
