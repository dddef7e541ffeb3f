"""Exact neighbours by several metrics beside scikit-learn and SciPy's cKDTree, and shortest paths beside Dijkstra's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csgraph
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from assay.summary.distances import metrics
from assay.summary.distances.neighbours import nearest_neighbours
from assay.summary.graph.graph import Graph
from benchmarks.harness import compare, show

METRICS = ("manhattan", "chebyshev", "cosine", "correlation")


def run() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [
        *nearest("2-d", rng.standard_normal((100_000, 2)), 15, trees=True),
        *nearest("20-d", rng.standard_normal((10_000, 20)), 15, trees=True),
        *nearest("20-d, shifted by 1e8", rng.standard_normal((10_000, 20)) + 1e8, 15, trees=True),
        *nearest("50-d", rng.standard_normal((70_000, 50)), 91, trees=False, rounds=1),
        *(row for metric in METRICS for d in (3, 20) for row in by(metric, d)),
        *paths(10_000),
    ]


def nearest(name: str, X: np.ndarray, k: int, *, trees: bool, rounds: int = 3) -> list[dict[str, Any]]:
    def sklearn(algorithm: str) -> Callable[[], np.ndarray]:
        model = NearestNeighbors(n_neighbors=k, algorithm=algorithm, n_jobs=-1)
        return lambda: model.fit(X).kneighbors(return_distance=True)[1]

    contenders: dict[str, Callable[[], np.ndarray]] = {
        "assay": lambda: nearest_neighbours(X, k).indices,
        "scikit-learn brute": sklearn("brute"),
    }
    if trees:
        contenders["scikit-learn kd_tree"] = sklearn("kd_tree")
        contenders["SciPy cKDTree"] = lambda: cKDTree(X).query(X, k + 1, workers=-1)[1][:, 1:]
    return compare(
        f"{k} neighbours of {len(X):,} rows, {name}; quality: share of true neighbours found",
        contenders,
        against="scikit-learn brute",
        quality=_recall(X, k),
        rounds=rounds,
    )


def by(metric: str, d: int, n: int = 5000, k: int = 15) -> list[dict[str, Any]]:
    X = np.random.default_rng(2).standard_normal((n, d))
    peer = NearestNeighbors(n_neighbors=k, metric=metric, n_jobs=-1)
    truth = peer.fit(X).kneighbors()[1]
    return compare(
        f"{k} neighbours of {n:,} x {d}, {metric}; quality: share equal to scikit-learn's",
        {
            "assay": lambda: metrics.nearest(X, k, metric).indices,
            "scikit-learn": lambda: peer.fit(X).kneighbors()[1],
        },
        against="scikit-learn",
        quality=lambda found: f"{(found == truth).mean():.4f}",
        rounds=3,
    )


def _recall(X: np.ndarray, k: int) -> Callable[[np.ndarray], str]:
    """By direct differences, for 300 rows."""
    rows = np.linspace(0, len(X) - 1, 300).astype(int)
    D = cdist(X[rows], X)
    D[np.arange(300), rows] = np.inf
    reach = np.partition(D, k - 1, axis=1)[:, [k - 1]] * (1 + 1e-12)
    return lambda found: f"{(np.take_along_axis(D, found[rows], 1) <= reach).mean():.4f}"


def paths(n: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    t = rng.uniform(1.5, 4.5, n) * np.pi
    roll = np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])
    graph = Graph.nearest(roll, 10).symmetrised()
    sources = np.arange(0, n, 5)
    truth = csgraph.dijkstra(graph.weights, indices=sources[:50])

    def same(found: np.ndarray) -> str:
        return f"{(found[:50] == truth).mean():.4f}"

    return compare(
        f"shortest paths from {len(sources):,} of {n:,} nodes, swiss roll, k = 10; quality: share equal to SciPy's",
        {
            "assay": lambda: graph.shortest_paths(sources),
            "SciPy dijkstra": lambda: csgraph.dijkstra(graph.weights, indices=sources),
        },
        against="SciPy dijkstra",
        quality=same,
        rounds=3,
    )


if __name__ == "__main__":
    show(run())
