"""How often a table without groups is called grouped, and a clean one is said to hold rows that do not belong.

python -m benchmarks.groups_and_anomalies [--tables 60]; some minutes. docs/adr/0011 holds the figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from assay.questions.anomalies.test import anomalies
from assay.questions.groups.test import groups
from benchmarks.harness import keep, show

Rows = list[dict[str, Any]]
Draw = Callable[[np.random.Generator, int, int], np.ndarray]


def _shared(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d)) + rng.standard_normal((n, 1))


def _groups(k: int, apart: float, columns: int) -> Draw:
    """K groups on a simplex that lies somehow in so many of the columns."""

    def draw(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        turned = np.linalg.qr(rng.standard_normal((columns, columns)))[0]
        X = rng.standard_normal((n, d))
        X[:, :columns] += apart / np.sqrt(2) * turned[rng.integers(k, size=n)]
        return X

    return draw


def _outliers(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = rng.standard_normal((n, d))
    X[: max(n // 100, 1), : max(d // 3, 1)] += 6.0
    return X


LUMPS: dict[str, Draw] = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "normal, one component": _shared,
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "lognormal": lambda rng, n, d: rng.lognormal(size=(n, d)),
    "lognormal, one component": lambda rng, n, d: np.exp(_shared(rng, n, d)),
    "t5": lambda rng, n, d: rng.standard_t(5, (n, d)),
    "Poisson 3": lambda rng, n, d: rng.poisson(3.0, (n, d)).astype(float),
}
PLANTED: dict[str, Draw] = {
    "two groups 4 sd apart, 5 of the columns": _groups(2, 4.0, 5),
    "three groups 5 sd apart, 5 of the columns": _groups(3, 5.0, 5),
    "five groups 6 sd apart, all columns": _groups(5, 6.0, 10),
}
SHAPES = [(300, 10), (300, 2), (100, 60)]


def run(tables: int = 60) -> Rows:
    tasks = [("groups", name, n, d, tables) for name in LUMPS for n, d in SHAPES]
    tasks += [("groups", name, 300, 10, tables) for name in PLANTED]
    tasks += [("rows", name, n, d, tables) for name in LUMPS for n, d in [(300, 10), (2000, 10), (100, 60)]]
    tasks += [("rows", "1% outliers, 6 sd in a third of the columns", n, 10, tables) for n in (300, 2000)]
    with get_context("spawn").Pool(2, initializer=threadpool_limits, initargs=(1,)) as pool:
        return pool.map(_share, tasks, chunksize=1)


def _share(task: tuple[str, str, int, int, int]) -> dict[str, Any]:
    what, name, n, d, tables = task
    draw = (LUMPS | PLANTED).get(name, _outliers)
    names = tuple(map(str, range(d)))
    called = 0
    for i in range(tables):
        X = draw(np.random.default_rng([i, n, d]), n, d)
        if what == "groups":
            found = groups(X, np.arange(n), names, seed=i)
            called += found is not None and found.evidence.verdict == "supported"
        else:
            out = anomalies(lambda X=X: iter([X]), X, np.arange(n), names, seed=i)  # type: ignore[misc]
            called += out is not None and out.evidence.verdict == "supported"
    question = "share of tables in which groups are supported"
    if what == "rows":
        question = "share of tables in which rows are said not to belong"
    return {"question": question, "who": f"{name}, {n} x {d}", "share": round(called / tables, 3), "tables": tables}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    rows = run(parser.parse_args().tables)
    keep("groups_and_anomalies", rows)
    show(rows)
