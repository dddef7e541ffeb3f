"""What methods cost on many workers: counted by running them, beside the formulas of docs/theory/scale.md.

Small tables in many partitions go through the real code on `CountingEngine`; then tasks of the size of the plan are
given to 1 to 1600 workers by a list scheduler, and the end of the last is printed beside the formula for it.

    python -m benchmarks scale
"""

from __future__ import annotations

import heapq
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._costs import METHODS, Cost, Files, Shape, counted, study_costs


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a cluster can do; all rates are assumptions of a plan, to be measured on one's own.

    Attributes:
        disk: bytes a second that all tasks of one machine read and decode together.
        flops: a second, of one core.
        network: bytes a second into the driver, and out of it.
        merge: bytes a second that the driver unpickles and merges.
        task: seconds of the scheduler for each task.
        cores: of a machine.
    """

    disk: float = 1e9
    flops: float = 1.5e10
    network: float = 1.25e9
    merge: float = 0.4e9
    task: float = 1e-3
    cores: int = 16

    def task_seconds(self, read: float, flops: float) -> float:
        """Of one task on one core, all cores being busy."""
        return read * self.cores / self.disk + flops / self.flops

    def driver_seconds(self, back: float) -> float:
        """Of the driver, for the result of one task."""
        return self.task + back / self.network + back / self.merge

    def formula(self, workers: int, parts: int, read: float, flops: float, back: float, closure: float) -> float:
        """Seconds of a pass: workers and driver at the same time, whichever is slower, and what cannot overlap."""
        task, result = self.task_seconds(read, flops), self.driver_seconds(back)
        return workers * closure / self.network + max(-(-parts // workers) * task + result, task + parts * result)

    def scheduled(self, workers: int, tasks: list[tuple[float, float]], back: float, closure: float) -> float:
        """The same by a list scheduler: each task to whoever is free first, results taken by the driver one by one.

        Args:
            workers: cores in all.
            tasks: bytes and flops of each.
            back: bytes of a result.
            closure: bytes to each worker before it begins.
        """
        begin = workers * closure / self.network
        free = [begin] * workers
        ends = []
        for read, flops in tasks:
            end = heapq.heappop(free) + self.task_seconds(read, flops)
            heapq.heappush(free, end)
            ends.append(end)
        driver = 0.0
        for end in sorted(ends):
            driver = max(driver, end) + self.driver_seconds(back)
        return driver


WORKERS = (1, 10, 100, 1000, 1600)


def grown(cost: Cost, shape: Shape, cluster: Cluster) -> list[tuple[int, float, float]]:
    """Workers, seconds by the scheduler and by the formula, of one pass at a larger shape; parts differ by a fifth."""
    share = 1.0 + np.random.default_rng(0).uniform(-0.2, 0.2, shape.P)
    read, flops = 8.0 * shape.n * shape.d / shape.P, cost.flops / shape.P
    tasks = [(read * s, flops * s) for s in share]
    back, closure = (cost.back or 0) / shape.P, float(cost.closure or 0)
    return [
        (W, cluster.scheduled(W, tasks, back, closure), cluster.formula(W, shape.P, read, flops, back, closure))
        for W in WORKERS
    ]


def run() -> list[dict[str, Any]]:
    """Counts beside formulas on small tables, then seconds of passes over 10 TB."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        files = Files.made(Path(folder), Shape(20_000, 9, 4, 20))
        for name in METHODS:
            passes, costs = counted(files, name)
            known = [(p, c) for p, c in zip(passes, costs, strict=True) if c.back is not None]
            arrays, expected = sum(p.arrays for p, _ in known), sum(c.back or 0 for _, c in known)
            rows.append(
                {
                    "question": "counted, 20,000 x 9 in 20 parts, k = 4",
                    "who": name,
                    "passes": f"{len(passes)} of {len(costs)}",
                    "file_passes": sum(p.read > 0 for p in passes),
                    "read_MB": round(sum(p.read for p in passes) / 1e6, 2),
                    "to_driver_kB": round(sum(p.back for p in passes) / 1e3, 1),
                    "arrays_over_formula": round(arrays / expected, 4) if expected else "",
                    "driver_merges": sum(p.merges for p in passes),
                    "closure_kB": round(max(p.closure.whole for p in passes) / 1e3, 1),
                }
            )
    return rows + planned()


def planned() -> list[dict[str, Any]]:
    """Seconds of the passes of a study of 10 TB, and of others, on 1 to 1000 cores and on those of 100 machines."""
    large = Shape(12_500_000_000, 100, 10, 40_000)
    step = Cost(large.P * 8 * (10 * 100 + 20), 2.0 * large.n * 1000, 8 * 1100)
    passes = study_costs(large, 100, 100) | {"one k-means step": step}
    return [
        {
            "question": "a pass over 10 TB, 12.5 billion rows of 100 columns in 40,000 parts, simulated",
            "who": f"{name}, {W} cores",
            "scheduled_s": round(scheduled, 1),
            "formula_s": round(formula, 1),
            "ratio": round(scheduled / formula, 3),
            "to_driver_GB": round((cost.back or 0) / 1e9, 2),
        }
        for name, cost in passes.items()
        for W, scheduled, formula in grown(cost, large, Cluster())
    ]
