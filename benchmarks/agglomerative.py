"""Agglomerative beside genieclust, fastcluster or SciPy: 20,000 x 10, all four linkages; 100,000 rows alone.

Along links beside scikit-learn, by centres beside SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

from assay import Agglomerative
from benchmarks.harness import compare, show

N, D = 20_000, 10
MANY = 100_000


def run() -> list[dict[str, Any]]:
    rows = []
    for name, X in _data(N).items():
        for how in ("single", "ward", "complete", "average"):
            rows += one(name, X, how)
    return rows + many() + linked() + by_centres()


def one(name: str, X: np.ndarray, how: str) -> list[dict[str, Any]]:
    peers = _peers(X, how)
    return compare(
        f"{how} linkage of {N:,} x {D}, {name}; quality: sum of the heights",
        {"assay Agglomerative": lambda: Agglomerative(linkage=how).fit(X).distances_, **peers},
        against=next(iter(peers)),
        quality=lambda heights: f"{np.sum(heights):.9g}",
        rounds=1 if how in ("complete", "average") else 3,
    )


def linked(n: int = 5000) -> list[dict[str, Any]]:
    """Merges along 10 neighbours of each row."""
    X = np.random.default_rng(0).standard_normal((n, 5))
    links = kneighbors_graph(X, 10)
    rows = []
    for how in ("single", "ward", "complete", "average"):
        peer = AgglomerativeClustering(connectivity=links, linkage=how, compute_full_tree=True, compute_distances=True)
        model = Agglomerative(connectivity=links, linkage=how)
        rows += compare(
            f"{how} linkage of {n:,} x 5 along 10 neighbours; quality: sum of the heights",
            {
                "assay Agglomerative": lambda model=model: model.fit(X).distances_,
                "scikit-learn": lambda peer=peer: peer.fit(X).distances_,
            },
            against="scikit-learn",
            quality=lambda heights: f"{np.sum(heights):.9g}",
            rounds=2,
        )
    return rows


def by_centres(n: int = 3000) -> list[dict[str, Any]]:
    """Linkages whose heights may fall."""
    X = np.random.default_rng(0).standard_normal((n, 5))
    rows = []
    for how in ("centroid", "median"):
        rows += compare(
            f"{how} linkage of {n:,} x 5; quality: sum of the heights",
            {
                "assay Agglomerative": lambda how=how: Agglomerative(linkage=how).fit(X).distances_,
                "SciPy": lambda how=how: linkage(X, how)[:, 2],
            },
            against="SciPy",
            quality=lambda heights: f"{np.sum(heights):.9g}",
            rounds=2,
        )
    return rows


def many() -> list[dict[str, Any]]:
    """Single and Ward linkage of 100,000 rows: within 1 GB."""
    rows = []
    for name, X in _data(MANY).items():
        for how in ("single", "ward"):
            rows += compare(
                f"{how} linkage of {MANY:,} x {D}, {name}; quality: sum of the heights",
                {"assay Agglomerative": lambda X=X, how=how: Agglomerative(linkage=how).fit(X).distances_},
                against="assay Agglomerative",
                quality=lambda heights: f"{np.sum(heights):.9g}",
                rounds=1,
            )
    return rows


def _data(n: int) -> dict[str, np.ndarray]:
    return {
        "one normal cloud": np.random.default_rng(0).standard_normal((n, D)),
        "10 blobs": make_blobs(n, D, centers=10, random_state=0)[0],
    }


def _peers(X: np.ndarray, how: str) -> dict[str, Callable[[], np.ndarray]]:
    """The fastest peer first; where none is installed SciPy, which needs minutes and 3.4 GB."""
    peers: dict[str, Callable[[], np.ndarray]] = {}
    if how == "single":
        try:
            from genieclust import Genie

            peers["genieclust"] = lambda: Genie(n_clusters=2, gini_threshold=1.0).fit(X).distances_
        except ImportError:
            pass
    try:
        import fastcluster

        if how in ("single", "ward"):
            peers["fastcluster vectors"] = lambda: fastcluster.linkage_vector(X, how)[:, 2]
        else:
            peers["fastcluster"] = lambda: fastcluster.linkage(X, how)[:, 2]
    except ImportError:
        pass
    return peers or {"SciPy": lambda: linkage(X, how)[:, 2]}


if __name__ == "__main__":
    show(run())
