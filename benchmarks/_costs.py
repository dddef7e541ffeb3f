"""What methods cost by docs/theory/scale.md, and small files on which to count whether they do."""

from __future__ import annotations

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
        back: bytes of arrays from all parts together; None where the data decide.
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
    return Cost(s.P * 113 * s.d, 40.0 * s.n * s.d, reads=True)


def _target(s: Shape) -> Cost:
    return Cost(None, 0.0, reads=True)


def _keeping() -> Cost:
    return Cost(0, reads=True)


def _look(s: Shape) -> Cost:
    return Cost(s.P * 40 * s.d, 6.0 * s.n * s.d)


def _kmeans(s: Shape, model: Any, seeding: list[Cost]) -> list[Cost]:
    work, step, centres = 2.0 * s.n * s.k * s.d, s.P * 8 * (s.k * s.d + 2 * s.k), 8 * (s.k * s.d + s.d)
    last = Cost(step + 4 * s.n, work, centres)
    return [_encoding(s), _keeping(), _look(s), *seeding, *[Cost(step, work, centres)] * model.n_iter_, last]


def _apart(s: Shape) -> list[Cost]:
    """k-means||: any row, five rounds of a sum and a draw, the weights of what was drawn."""
    work = 8.0 * s.n * s.k * s.d
    return [
        Cost(s.P * 8 * s.d, 0.0, 8 * s.d),
        *[Cost(0, work, None), Cost(None, work, None)] * 5,
        Cost(None, work, None),
    ]


def _mixture(s: Shape, model: Any) -> list[Cost]:
    small = s.k * (s.d * s.d + s.d + 1)
    step = Cost(s.P * 8 * small, 4.0 * s.n * s.k * s.d**2, 8 * (small + 3 * s.d))
    sample = Cost(8 * s.n * s.d, 0.0, 24 * s.d)  # all rows of so small a table
    return [_encoding(s), _keeping(), _look(s), sample, *[step] * (model.n_iter_ + 1)]


def _newton(s: Shape, model: Any) -> list[Cost]:
    m = (s.k - 1) * (s.d + 1)
    start = [_target(s), _encoding(s), _keeping(), Cost(s.P * 8 * s.d), Cost(s.P * 16 * s.d, 0.0, 8 * s.d), Cost(None)]
    slope = Cost(s.P * 8 * m, 4.0 * s.n * m, 8 * (m + s.d))
    step = Cost(s.P * 8 * (m * m + m), 2.0 * s.n * m * m / 2, 8 * (m + s.d))
    return [*start, slope, slope, *[step] * (model.n_iter_ - 1)]


def _em(s: Shape, model: Any) -> list[Cost]:
    step = Cost(s.P * 8 * (s.d**2 + s.d), 4.0 * s.n * s.d**2, 8 * (2 * s.d**2 + s.d))
    look = Cost(s.P * 40 * s.d, 6.0 * s.n * s.d, reads=True)
    drawn = Cost(None, reads=True)  # rows for the choice of the ridge
    return [_encoding(s), drawn, look, _keeping(), Cost(None), *[step] * (model.n_iter_ + 1)]


def _classes(s: Shape, model: Any) -> list[Cost]:
    return [_target(s), _encoding(s), Cost(s.P * s.k * moments(s.d), 2.0 * s.n * s.d**2, reads=True)]


def _folds(s: Shape, model: Any) -> list[Cost]:
    return [_target(s), _encoding(s), Cost(s.P * 5 * moments(s.d + 1), 2.0 * s.n * (s.d + 1) ** 2, reads=True)]


def _products(s: Shape) -> Cost:
    return Cost(s.P * moments(s.d), 2.0 * s.n * s.d**2, reads=True)


def _scored(s: Shape, model: Any) -> list[Cost]:
    score = Cost(8 * s.n, 2.0 * s.n * s.d**2, 8 * (s.d**2 + 3 * s.d), reads=True)
    return [_encoding(s), _products(s), score]


def _naive(s: Shape, model: Any) -> list[Cost]:
    count = Cost(s.P * 8 * (4 * s.k * s.d + 2 * s.k + s.d), 6.0 * s.n * s.d, 8 * s.d, reads=True)
    return [_target(s), _encoding(s), count]


def study_costs(s: Shape, encoded: int, numbers: int) -> dict[str, Cost]:
    """The passes of a study of a table without missing values and groups, its number of rows known.

    Args:
        s: the shape; d are the columns as they are.
        encoded: columns of the encoding.
        numbers: those of them that tell of distances.
    """
    D, shown = encoded, 200
    hashed, copies = hashes_kept(s.n, 1 << 21), hashes_kept(s.n, 20_000)
    drawn = min(s.n, 4 * 2000) * (16 + 8 * s.d)  # by chance: a few percent more or less
    profile = s.P * 113 * s.d + 8 * hashed + drawn
    look = s.P * 33 * D + 16 * copies + 8 * D * min(copies, 2000 * s.P)
    folds = s.P * 10 * moments(D) + 8 * D * min(s.n, 2000)
    return {
        "profile": Cost(profile, 60.0 * s.n * s.d, reads=True),
        "gaps and copies": Cost(look, 20.0 * s.n * D, 8 * D, reads=True),
        "moments of folds": Cost(folds, 2.0 * s.n * D * D, 8 * (2000 + D), reads=True),
        "anomalies": Cost(16 * s.n + s.P * 8 * shown * (numbers + 2), 4.0 * s.n * D * D, None, reads=True),
    }


def hashes_kept(n: int, most: int) -> int:
    """Hashes of rows that travel where n is known: all, or 4 to 8 times as many as are kept in the end."""
    return n >> max(0, (n // (4 * most)).bit_length() - 1)


def rank_costs(n: int, iterations: int) -> list[Cost]:
    """PageRank of n numbered nodes: read twice, then a step for each iteration over links that workers keep."""
    first = [Cost(0, reads=True), Cost(None, closure=None, reads=True), Cost(None)]
    return [*first, *[Cost(8 * n, closure=8 * n)] * iterations]


def sweep_costs(users: int, items: int, k: int) -> list[Cost]:
    """One sweep of a factorisation with biases: the users, then the items, whose gradient is told beside."""
    return [
        Cost(8 * users * (k + 5), closure=8 * (items * (k + 2) + users)),
        Cost(8 * items * (k + 5), closure=8 * (users * (k + 2) + items * (k + 2))),
    ]


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
        lambda s, model: _kmeans(s, model, [Cost(8 * s.n * s.d)]),  # the sample: all rows of so small a table
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


def agree(passes: list[Pass], costs: list[Cost]) -> None:
    """Refuse counts that are not those of the page: passes, what is read, arrays that travel, what is around them."""
    assert len(passes) == len(costs), f"{len(passes)} passes, not {len(costs)}"
    for number, (found, cost) in enumerate(zip(passes, costs, strict=True)):
        place = f"pass {number}"
        assert (found.read > 0) == cost.reads, place
        assert cost.back is None or found.arrays == cost.back, f"{place}: {found.arrays} to the driver, not {cost.back}"
        sent = found.closure.arrays
        assert cost.closure is None or sent == cost.closure, f"{place}: {sent} to each worker, not {cost.closure}"
        assert all(task.back.rest <= _AROUND * task.back.objects for task in found.tasks), place
        assert found.merges == (len(found.tasks) - 1 if found.kind == "map" else 0), place


# an opcode, a place in the memo and the letters of a name: 5 to 7 bytes were met for each object
_AROUND = 12
