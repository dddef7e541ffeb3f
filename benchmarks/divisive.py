"""Divisive, 200,000 x 20 into 20 groups, beside scikit-learn's BisectingKMeans: with groups to find, and without."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import BisectingKMeans
from sklearn.datasets import make_blobs

from assay import Divisive
from benchmarks.harness import compare, show

N, D, K = 200_000, 20, 20


def run() -> list[dict[str, Any]]:
    tables = {
        "twenty groups": make_blobs(N, D, centers=K, random_state=0)[0],
        "one normal group": np.random.default_rng(0).standard_normal((N, D)),
    }
    return [row for what, X in tables.items() for row in _one(what, X)]


def _one(what: str, X: np.ndarray) -> list[dict[str, Any]]:
    total = float(np.sum((X - X.mean(axis=0)) ** 2))
    return compare(
        f"Divisive, {N:,} x {D}, {what}, into {K}; quality: share of the squares within groups",
        {
            "assay Divisive": lambda: Divisive(K).fit(X),
            "assay Divisive, float32": lambda: Divisive(K).fit(X.astype(np.float32)),
            "scikit-learn BisectingKMeans": lambda: BisectingKMeans(K, random_state=0).fit(X),
            "scikit-learn BisectingKMeans, 4 starts": lambda: BisectingKMeans(K, n_init=4, random_state=0).fit(X),
        },
        against="scikit-learn BisectingKMeans",
        quality=lambda model: f"{model.inertia_ / total:.5f}",
        rounds=3,
    )


if __name__ == "__main__":
    show(run())
