"""Isomap of the swiss roll beside scikit-learn: 10,000 rows exactly, 100,000 by landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.manifold as peers
from scipy.spatial import procrustes
from sklearn.datasets import make_swiss_roll

from assay import Isomap, Nearest
from benchmarks.harness import compare, show

K = 10


def run() -> list[dict[str, Any]]:
    return exact() + landmarks()


def exact() -> list[dict[str, Any]]:
    X, sheet = _swiss(10_000)
    return compare(
        "Isomap of a swiss roll, 10,000 rows, 10 neighbours; quality: Procrustes distance from the flat sheet",
        {
            "assay Isomap": lambda: Isomap(2, graph=Nearest(K), landmarks=None).fit(X),
            "scikit-learn Isomap": lambda: peers.Isomap(n_neighbors=K, n_components=2).fit(X),
        },
        against="scikit-learn Isomap",
        quality=_distance(sheet),
        rounds=1,
    )


def landmarks() -> list[dict[str, Any]]:
    X, sheet = _swiss(100_000)
    return compare(
        "Isomap of a swiss roll, 100,000 rows, 10 neighbours, 1000 landmarks; quality: as above",
        {"assay Isomap": lambda: Isomap(2, graph=Nearest(K), random_state=0).fit(X)},
        against="assay Isomap",
        quality=_distance(sheet),
        rounds=1,
    )


def _swiss(n: int) -> tuple[np.ndarray, np.ndarray]:
    X, t = make_swiss_roll(n, random_state=0)
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return X, np.column_stack([arc, X[:, 1]])


def _distance(sheet: np.ndarray) -> Callable[[Any], str]:
    return lambda model: f"{procrustes(sheet, model.embedding_)[2]:.1e}"


if __name__ == "__main__":
    show(run())
