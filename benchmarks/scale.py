"""What methods cost on many workers: counted by running them, beside the formulas of docs/theory/scale.md.

Small tables in many partitions go through the real code on `CountingEngine`; then tasks of the size of the plan are given
to 1 to 1000 workers by a list scheduler, and the end of the last is printed beside the formula for it.

    python -m benchmarks scale
"""

from __future__ import annotations

import heapq
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import assay
from assay.data.formats import arrow_files
from assay.engine.current import using
from benchmarks._counting import CountingEngine, Pass


@dataclass(frozen=True, slots=True)
class Shape:
    """Of a table: n rows of d columns in P parts; k groups, classes or components."""

    n: int
    d: int
    k: int
    P: int

    @property
    def b(self) -> int:
        """Rows of a part."""
        return self.n // self.P


@dataclass(frozen=True, slots=True)
class Cost:
    """One pass, as the page has it.

    Attributes:
        back: bytes of arrays from each part; None where the data decide.
        flops: for all rows together.
        closure: bytes of arrays to each worker; None where the data decide.
        reads: whether files are read, rather than what workers keep.
    """

    back: int | None
    flops: float = 0.0
    closure: int | None = 0
    reads: bool = False


@dataclass(frozen=True, slots=True)
class Files:
    """Made for a shape: x0 .. numbers in groups, `price` a line in them, `group` a name; and the numbers with gaps."""

    rows: Path
    gaps: Path
    shape: Shape

    @classmethod
    def made(cls, folder: Path, shape: Shape) -> Files:
        """Write them, a row group for each part."""
        rng = np.random.default_rng(0)
        group = rng.integers(0, shape.k, shape.n)
        X = rng.standard_normal((shape.n, shape.d)) + 2.0 * np.eye(shape.k, shape.d)[group]
        price = X @ rng.standard_normal(shape.d) + rng.standard_normal(shape.n)
        columns = {f"x{j}": X[:, j] for j in range(shape.d)}
        names = np.array([f"group {g}" for g in range(shape.k)])[group]
        made = cls(folder / "rows.parquet", folder / "gaps.parquet", shape)
        pq.write_table(pa.table(columns | {"price": price, "group": names}), made.rows, row_group_size=shape.b)
        X[rng.random(X.shape) < 0.1] = np.nan
        holes = {f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(shape.d)}
        pq.write_table(pa.table(holes), made.gaps, row_group_size=shape.b)
        return made

    def plain(self) -> Any:
        """The numbers alone."""
        return assay.read(str(self.rows), sensitive=["price", "group"])

    def towards(self, target: str) -> Any:
        """The numbers and a target."""
        return assay.read(str(self.rows), sensitive=sorted({"price", "group"} - {target}))

    @contextmanager
    def in_parts(self) -> Iterator[None]:
        """Every row group a partition and a block, however small."""
        with (
            patch.object(arrow_files, "_SMALLEST", 1),
            patch.object(arrow_files, "block_rows", lambda columns: self.shape.b),
        ):
            yield


def moments(d: int) -> int:
    """Bytes of `Moments` of d columns: weight, mean and scatter, each a pair of float64."""
    return 16 * (d * d + d + 1)


def _encoding(s: Shape) -> Cost:
    return Cost(113 * s.d, 40.0 * s.n * s.d, reads=True)


def _target(s: Shape) -> Cost:
    return Cost(None, 0.0, reads=True)


def _keeping() -> Cost:
    return Cost(0, reads=True)


def _look(s: Shape) -> Cost:
    return Cost(40 * s.d, 6.0 * s.n * s.d)


def _kmeans(s: Shape, model: Any, seeding: list[Cost]) -> list[Cost]:
    work, step, centres = 2.0 * s.n * s.k * s.d, 8 * (s.k * s.d + 2 * s.k), 8 * (s.k * s.d + s.d)
    last = Cost(step + 4 * s.b, work, centres)
    return [_encoding(s), _keeping(), _look(s), *seeding, *[Cost(step, work, centres)] * model.n_iter_, last]


def _apart(s: Shape) -> list[Cost]:
    """k-means||: any row, five rounds of a sum and a draw, the weights of what was drawn."""
    work = 8.0 * s.n * s.k * s.d
    return [Cost(8 * s.d, 0.0, 8 * s.d), *[Cost(0, work, None), Cost(None, work, None)] * 5, Cost(None, work, None)]


def _mixture(s: Shape, model: Any) -> list[Cost]:
    small = s.k * (s.d * s.d + s.d + 1)
    step = Cost(8 * small, 4.0 * s.n * s.k * s.d**2, 8 * (small + 3 * s.d))
    sample = Cost(8 * s.b * s.d, 0.0, 24 * s.d)  # all rows of so small a table
    return [_encoding(s), _keeping(), _look(s), sample, *[step] * (model.n_iter_ + 1)]


def _newton(s: Shape, model: Any) -> list[Cost]:
    m = (s.k - 1) * (s.d + 1)
    start = [_target(s), _encoding(s), _keeping(), Cost(8 * s.d), Cost(16 * s.d, 0.0, 8 * s.d), Cost(None)]
    slope = Cost(8 * m, 4.0 * s.n * m, 8 * (m + s.d))
    step = Cost(8 * (m * m + m), 2.0 * s.n * m * m / 2, 8 * (m + s.d))
    return [*start, slope, slope, *[step] * (model.n_iter_ - 1)]


def _em(s: Shape, model: Any) -> list[Cost]:
    step = Cost(8 * (s.d**2 + s.d), 4.0 * s.n * s.d**2, 8 * (2 * s.d**2 + s.d))
    look = Cost(40 * s.d, 6.0 * s.n * s.d, reads=True)
    return [_encoding(s), look, _keeping(), Cost(None), *[step] * (model.n_iter_ + 1)]


def _classes(s: Shape, model: Any) -> list[Cost]:
    return [_target(s), _encoding(s), Cost(s.k * moments(s.d), 2.0 * s.n * s.d**2, reads=True)]


def _folds(s: Shape, model: Any) -> list[Cost]:
    return [_target(s), _encoding(s), Cost(5 * moments(s.d + 1), 2.0 * s.n * (s.d + 1) ** 2, reads=True)]


def _products(s: Shape) -> Cost:
    return Cost(moments(s.d), 2.0 * s.n * s.d**2, reads=True)


def _scored(s: Shape, model: Any) -> list[Cost]:
    score = Cost(8 * s.b, 2.0 * s.n * s.d**2, 8 * (s.d**2 + 3 * s.d), reads=True)
    return [_encoding(s), _products(s), score]


def _naive(s: Shape, model: Any) -> list[Cost]:
    count = Cost(8 * (4 * s.k * s.d + 2 * s.k + s.d), 6.0 * s.n * s.d, 8 * s.d, reads=True)
    return [_target(s), _encoding(s), count]


Method = tuple[Callable[[Files], Any], Callable[[Shape, Any], list[Cost]]]

METHODS: dict[str, Method] = {
    "encode": (lambda f: assay.encode(f.plain()), lambda s, _: [_encoding(s)]),
    "Moments": (lambda f: assay.Moments.of(f.plain()), lambda s, _: [_products(s)]),
    "PCA": (lambda f: assay.PCA(2).fit(f.plain()), lambda s, _: [_encoding(s), _products(s)]),
    "Mahalanobis, p": (lambda f: assay.Mahalanobis().fit(f.plain()).p_values(f.plain()), _scored),
    "Ridge, 5 folds": (lambda f: assay.Ridge("held-out").fit(f.towards("price"), "price"), _folds),
    "Fisher": (lambda f: assay.Fisher().fit(f.towards("group"), "group"), _classes),
    "GaussianRule": (lambda f: assay.GaussianRule().fit(f.towards("group"), "group"), _classes),
    "NaiveBayes": (lambda f: assay.NaiveBayes().fit(f.towards("group"), "group"), _naive),
    "FillMissing": (lambda f: assay.FillMissing().fit(assay.read(str(f.gaps))), _em),
    "KMeans": (
        lambda f: assay.KMeans(f.shape.k, random_state=0).fit(f.plain()),
        lambda s, model: _kmeans(s, model, [Cost(8 * s.b * s.d)]),  # the sample: all rows of so small a table
    ),
    "KMeans, k-means||": (
        lambda f: assay.KMeans(f.shape.k, init="k-means||", random_state=0).fit(f.plain()),
        lambda s, model: _kmeans(s, model, _apart(s)),
    ),
    "GaussianMixture": (lambda f: assay.GaussianMixture(f.shape.k, random_state=0).fit(f.plain()), _mixture),
    "Logistic": (lambda f: assay.Logistic().fit(f.towards("group"), "group"), _newton),
}


def counted(files: Files, name: str) -> tuple[list[Pass], list[Cost]]:
    """What a method did on files, and what the page says."""
    run, costs = METHODS[name]
    engine = CountingEngine()
    with files.in_parts(), using(engine), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # steps that end early are no matter here
        result = run(files)
    return engine.passes, costs(files.shape, result)


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


WORKERS = (1, 10, 100, 1000)


def grown(cost: Cost, shape: Shape, cluster: Cluster) -> list[tuple[int, float, float]]:
    """Workers, seconds by the scheduler and by the formula, of one pass at a larger shape; parts differ by a fifth."""
    share = 1.0 + np.random.default_rng(0).uniform(-0.2, 0.2, shape.P)
    read, flops = 8.0 * shape.n * shape.d / shape.P, cost.flops / shape.P
    tasks = [(read * s, flops * s) for s in share]
    back, closure = float(cost.back or 0), float(cost.closure or 0)
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
            arrays = sum(task.back.arrays for p, _ in known for task in p.tasks)
            expected = sum((c.back or 0) * files.shape.P for _, c in known)
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
    large = Shape(12_500_000_000, 100, 10, 40_000)
    for name, cost in (
        ("Moments", _products(large)),
        ("moments of 10 folds", Cost(10 * moments(100), 2.0 * large.n * 100**2)),
        ("one k-means step", Cost(8 * (10 * 100 + 20), 2.0 * large.n * 1000, 8 * 1100)),
    ):
        for W, scheduled, formula in grown(cost, large, Cluster()):
            rows.append(
                {
                    "question": "a pass over 10 TB in 40,000 parts, by simulation",
                    "who": f"{name}, {W} workers",
                    "scheduled_s": round(scheduled, 1),
                    "formula_s": round(formula, 1),
                    "ratio": round(scheduled / formula, 3),
                }
            )
    return rows
