"""How often chance is called structure, and structure found, by the spectrum law and by shuffled columns.

python -m benchmarks.noise [--tables 500]; two processes, some minutes. docs/theory/spectrum-law.md holds the figures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import get_context
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from assay.linalg.noise.permutation_test import _monte_carlo_p, permuted_spectrum, tail_p
from assay.linalg.noise.random_matrix import spectrum_law
from benchmarks.harness import keep, show

Rows = list[dict[str, Any]]
Margin = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]

# n / d from 0.2 to 50, and tiny d at 1000
SHAPES = [(20, 100), (50, 100), (60, 60), (200, 100), (100, 20), (400, 20), (400, 8), (100, 2), (60, 3)]
TINY = [(2000, 2), (3000, 3), (5000, 5)]
PLANTED = [(440, 8), (100, 20), (50, 200)]
MARGINS: dict[str, Margin] = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: (rng.random(shape) - 0.5) * np.sqrt(12.0),
    "t5": lambda rng, shape: rng.standard_t(5, shape) / np.sqrt(5 / 3),
    "lognormal": lambda rng, shape: (np.exp(rng.standard_normal(shape)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e),
    "rare": lambda rng, shape: ((rng.random(shape) < 0.1) - 0.1) / 0.3,
}


def run(tables: int = 500) -> Rows:
    with get_context("spawn").Pool(2, initializer=threadpool_limits, initargs=(1,)) as pool:
        pure = [(n, d, margin, (), False, tables) for n, d in SHAPES + TINY for margin in MARGINS]
        found = pool.map(_real, pure, chunksize=1)
        rows = _pure_rows(pure, found, tables)
        rows += _power_rows(pool, tables)
        rows += _planted_rows(pool, max(tables // 5, 1))
        rows += [row for part in pool.map(_tail, list(MARGINS), chunksize=1) for row in part]
    return rows + timing()


def timing() -> Rows:
    """Seconds for a table with one planted component: a full step of 199 draws, and one that stops early."""
    rows = []
    for n, d in [(440, 8), (200, 100), (181, 12_533)]:
        rng = np.random.default_rng(0)
        Z = _table(rng, n, d, "gaussian", [5 * np.sqrt(d / n)], sparse=False)
        start = time.perf_counter()
        found = permuted_spectrum(Z, rng=rng)
        spent = time.perf_counter() - start
        _, s, Vt = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
        kept = min(n - 1, d)
        start = time.perf_counter()
        spectrum_law(s[:kept] ** 2 / (n - 1), n, d, vectors=Vt[:kept].T)
        law = time.perf_counter() - start
        rows.append(
            {
                "question": "seconds for one planted component",
                "who": f"{n} x {d}",
                "permuted": round(spent, 3),
                "draws": sum(found.draws),
                "law": round(law, 4),
            }
        )
    return rows


def _table(
    rng: np.random.Generator, n: int, d: int, margin: str, strengths: Iterable[float], sparse: bool
) -> np.ndarray:
    X = MARGINS[margin](rng, (n, d))
    for b in strengths:
        v = rng.standard_normal(d)
        if sparse:
            v = (np.argsort(np.argsort(v)) < max(2, d // 5)).astype(float)
        X = X + np.sqrt(b) * rng.standard_normal((n, 1)) * (v / np.linalg.norm(v))
    return X


def _eigen(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, d = X.shape
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = min(n - 1, d)
    return s[:kept] ** 2 / (n - 1), Vt[:kept].T


WAYS = ("covariance", "correlation, flat", "correlation, bounded", "correlation, columns", "permuted")


def _real(task: tuple[int, int, str, tuple[float, ...], bool, int]) -> np.ndarray:
    """Components called real by each of the WAYS, (tables, 5)."""
    n, d, margin, strengths, sparse, tables = task
    rng = np.random.default_rng([n, d, list(MARGINS).index(margin), len(strengths), sparse])
    found = np.empty((tables, len(WAYS)), dtype=int)
    for i in range(tables):
        X = _table(rng, n, d, margin, strengths, sparse)
        X -= X.mean(axis=0)
        spread = X.std(axis=0, ddof=1)
        Z = X / np.where(spread > 0, spread, 1.0)
        values, vectors = _eigen(Z)
        found[i] = [
            spectrum_law(_eigen(X)[0], n, d).n_real,
            spectrum_law(values, n, d).n_real,
            spectrum_law(values, n, d, correlation=True).n_real,
            spectrum_law(values, n, d, vectors=vectors).n_real,
            permuted_spectrum(Z, rng=rng, n_max=59).n_real,
        ]
    return found


def _pure_rows(tasks: Sequence[Any], found: Sequence[np.ndarray], tables: int) -> Rows:
    question = f"pure noise: share of {tables} tables with any component called real"
    rows = [
        {"question": question, "who": f"{n} x {d}, {margin}", **_shares(real > 0)}
        for (n, d, margin, *_), real in zip(tasks, found, strict=True)
    ]
    for name in MARGINS:
        every = np.concatenate([real > 0 for task, real in zip(tasks, found, strict=True) if task[2] == name])
        rows.append({"question": question, "who": f"all shapes, {name}", **_shares(every)})
    return rows


def _power_rows(pool: Any, tables: int) -> Rows:
    n, d = 200, 100
    root = float(np.sqrt(d / n))
    strengths = {
        "1 + b = 1.5 (1 + sqrt(gamma))": 1.5 * (1 + root) - 1,
        "b = 1.5 sqrt(gamma)": 1.5 * root,
        "b = 2 sqrt(gamma)": 2 * root,
        "b = 2.5 sqrt(gamma)": 2.5 * root,
    }
    found = pool.map(_real, [(n, d, "gaussian", (b,), False, tables) for b in strengths.values()], chunksize=1)
    return [
        {"question": f"one planted direction, {n} x {d}: share of {tables} tables in which it is found", "who": who}
        | _shares(real > 0)
        for who, real in zip(strengths, found, strict=True)
    ]


def _planted_rows(pool: Any, tables: int) -> Rows:
    """Spikes in units of sqrt(gamma): one strong, three, and a weak one behind a very strong one."""
    rows: Rows = []
    plans = {"50": (50.0,), "20 6 4": (20.0, 6.0, 4.0), "100 4": (100.0, 4.0)}
    tasks, names = [], []
    for n, d in PLANTED:
        for plan, units in plans.items():
            for sparse in (False, True):
                for margin in MARGINS:
                    strengths = tuple(u * float(np.sqrt(d / (n - 1))) for u in units)
                    tasks.append((n, d, margin, strengths, sparse, tables))
                    names.append(f"{n} x {d}, {plan}, {'sparse' if sparse else 'dense'}, {margin}")
    for who, task, real in zip(names, tasks, pool.map(_real, tasks, chunksize=1), strict=True):
        planted = len(task[3])
        rows.append(
            {"question": f"planted directions: share of {tables} tables with one too many", "who": who}
            | _shares(real > planted)
            | {
                "all found, columns": _round(real[:, 3] >= planted),
                "all found, permuted": _round(real[:, 4] >= planted),
            }
        )
    for margin in MARGINS:
        mine = [row for row in rows if row["who"].endswith(margin)]
        rows.append(
            {"question": rows[0]["question"], "who": f"mean over all, {margin}"}
            | {way: round(float(np.mean([row[way] for row in mine])), 3) for way in WAYS}
        )
    return rows


def _tail(margin: str) -> Rows:
    """P(p_tail <= level) / level for draws judged by a tail fitted to 199 others; 1 is exact."""
    rng = np.random.default_rng(7)
    levels = np.array([1e-2, 1e-3, 2e-4])
    rows = []
    for n, d in [(440, 8), (100, 20)]:
        hits, trials = np.zeros(3), 0
        for _ in range(6):
            Z = _table(rng, n, d, margin, (), sparse=False)
            Z -= Z.mean(axis=0)
            table = np.ascontiguousarray((Z / np.maximum(Z.std(axis=0), 1e-300)).T)
            tops = np.empty(10_000)
            for i in range(len(tops)):
                rng.permuted(table, axis=1, out=table)
                tops[i] = np.linalg.eigvalsh(table @ table.T)[-1]
            for _ in range(30):
                draws = rng.choice(tops, 199, replace=False)
                p = tail_p(tops, draws, _monte_carlo_p(tops, draws))
                hits += (p[:, None] <= levels).sum(axis=0)
                trials += len(tops)
        ratio = hits / trials / levels
        rows.append(
            {
                "question": "tail beyond 199 draws: share of p_tail <= level, over the level",
                "who": f"{n} x {d}, {margin}",
            }
            | {f"{level:g}": round(float(r), 2) for level, r in zip(levels, ratio, strict=True)}
        )
    return rows


def _shares(called: np.ndarray) -> dict[str, float]:
    return {way: _round(called[:, i]) for i, way in enumerate(WAYS)}


def _round(flags: np.ndarray) -> float:
    return round(float(np.mean(flags)), 3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500, help="tables per shape and margin")
    result = run(parser.parse_args().tables)
    keep("noise", result)
    show(result)
