"""Embedding measures: trustworthiness beside scikit-learn at 10,000 rows, all measures at 50,000."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.manifold import trustworthiness as peer

from assay import fidelity
from assay.evidence.fidelity import trustworthiness
from benchmarks.harness import compare, show

K = 10


def run() -> list[dict[str, Any]]:
    return trust() + whole()


def trust() -> list[dict[str, Any]]:
    X, Y = _map(10_000)
    return compare(
        "trustworthiness of a map of 10,000 x 50, 10 neighbours; quality: the value",
        {
            "assay trustworthiness": lambda: trustworthiness(X, Y, K),
            "scikit-learn trustworthiness": lambda: peer(X, Y, n_neighbors=K),
        },
        against="scikit-learn trustworthiness",
        quality=lambda value: f"{value:.12f}",
        rounds=2,
    )


def whole() -> list[dict[str, Any]]:
    X, Y = _map(50_000)
    return compare(
        "all measures of a map of 50,000 x 50, 10 neighbours; quality: trustworthiness",
        {"assay fidelity": lambda: fidelity(X, Y, K)},
        against="assay fidelity",
        quality=lambda found: f"{found.trustworthiness:.6f}",
        rounds=1,
    )


def _map(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of decreasing variance, and their first two columns."""
    X = np.random.default_rng(0).standard_normal((n, 50)) * np.geomspace(8.0, 0.5, 50)
    return X, np.ascontiguousarray(X[:, :2])


if __name__ == "__main__":
    show(run())
