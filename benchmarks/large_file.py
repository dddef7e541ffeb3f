"""A CSV of 5 GB is summarised within 1 GB of memory: `assay report` and `Moments.of`, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import show
from benchmarks.reading import write_mixed

_BYTES = 5_000_000_000
_MOMENTS = "import sys, assay; print(assay.Moments.of(assay.encode(assay.read(sys.argv[1]), drop=['weight'])).count)"


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write_mixed(path, 1_000_000)
        copies = -(-_BYTES // path.stat().st_size)
        write_mixed(path, 1_000_000, copies=copies)
        size = path.stat().st_size
        question = f"CSV of {size / 1e9:.2f} GB, {copies},000,000 x 10; peak of the whole process"
        page = ["-m", "assay", "report", str(path), "-o", str(Path(folder) / "page.html")]
        return [
            _measured(question, "assay report", page, size),
            _measured(question, "Moments of its encoding", ["-c", _MOMENTS, str(path)], size),
        ]


def _measured(question: str, who: str, arguments: list[str], size: int) -> dict[str, Any]:
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{who} failed with status {status}")
    return {
        "question": question,
        "who": who,
        "seconds": round(seconds, 1),
        "gb_per_second": round(size / seconds / 1e9, 3),
        "peak_mb": round(used.ru_maxrss / 1024),
    }


if __name__ == "__main__":
    show(run())
