"""Timing side by side: contenders take turns, medians are compared, peak memory and a quality figure stand beside."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def compare(
    question: str,
    contenders: Mapping[str, Callable[[], Any]],
    *,
    against: str,
    quality: Callable[[Any], str] = lambda _: "",
    rounds: int = 7,
) -> list[dict[str, Any]]:
    """Run the contenders in turns and compare medians.

    Args:
        question: what is measured, on which data.
        contenders: name to function.
        against: the contender that ratios refer to.
        quality: from a contender's result to a figure.
        rounds: timed turns, after one to warm up.
    """
    peaks, results = {}, {}
    for who, run in contenders.items():
        before = _memory("VmRSS")
        _reset_peak()
        results[who] = quality(run())
        peaks[who] = max(_memory("VmHWM") - before, 0.0)
    times: dict[str, list[float]] = {who: [] for who in contenders}
    for _ in range(rounds):
        for who, run in contenders.items():
            start = time.perf_counter()
            run()
            times[who].append(time.perf_counter() - start)
    seconds = {who: statistics.median(spent) for who, spent in times.items()}
    return [
        {
            "question": question,
            "who": who,
            "seconds": round(seconds[who], 4),
            "ratio": round(seconds[who] / seconds[against], 3),
            "peak_mb": round(peaks[who], 1),
            "quality": results[who],
        }
        for who in contenders
    ]


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows of one or several questions as a table."""
    question = None
    for row in rows:
        if row["question"] != question:
            question = row["question"]
            print(f"\n{question}")
        cells = {k: v for k, v in row.items() if k not in ("question", "who") and v not in ("", None)}
        print(f"  {row['who']:<34}" + "  ".join(f"{k} {v}" for k, v in cells.items()))


def keep(name: str, rows: list[dict[str, Any]]) -> None:
    """Write rows to benchmarks/results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(rows, indent=2) + "\n")


def _reset_peak() -> None:
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")


def _memory(field: str) -> float:
    """Resident memory (VmRSS) or its peak (VmHWM) in MB; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024
