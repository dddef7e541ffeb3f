"""ClassicalMDS, and MDS metric and non-metric, beside scikit-learn: the same dissimilarities, one start each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.manifold as peers
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits

from assay import MDS, ClassicalMDS
from assay.models.embedding.mds.disparities import DissimilarityRanking
from assay.models.embedding.mds.stress import RankStress, StressPairs
from assay.optimize.team import Team
from benchmarks.harness import compare, show


def run() -> list[dict[str, Any]]:
    return classical() + metric() + non_metric()


def classical() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, 50)) * np.linspace(3.0, 0.5, 50)
    D = squareform(pdist(X))
    centred = X - X.mean(axis=0)
    truth = np.linalg.eigvalsh(centred.T @ centred)[::-1][:2]
    return compare(
        "classical MDS of 5,000 points, 2-d; quality: largest relative error of an eigenvalue",
        {
            "assay ClassicalMDS, rows": lambda: ClassicalMDS(2).fit(X),
            "assay ClassicalMDS, dissimilarities": lambda: ClassicalMDS(2, metric="precomputed").fit(D),
            "scikit-learn ClassicalMDS": lambda: peers.ClassicalMDS(2, metric="precomputed").fit(D),
        },
        against="scikit-learn ClassicalMDS",
        quality=lambda model: f"{np.abs(model.eigenvalues_ / truth - 1).max():.0e}",
        rounds=1,
    )


def metric() -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3_000, 10)) * np.linspace(2.0, 1.0, 10)
    D = squareform(pdist(X))
    return compare(
        "metric MDS of 3,000 points, 2-d; quality: raw stress",
        {
            "assay MDS": lambda: MDS(2, n_init=1, metric="precomputed").fit(D),
            "scikit-learn MDS, classical start": lambda: _peer(D, "classical_mds", metric_mds=True),
            "scikit-learn MDS, random start": lambda: _peer(D, "random", metric_mds=True),
        },
        against="scikit-learn MDS, classical start",
        quality=lambda model: f"{((pdist(model.embedding_) - squareform(D)) ** 2).sum():.6g}",
        rounds=1,
    )


def non_metric() -> list[dict[str, Any]]:
    D = squareform(pdist(load_digits().data[:1_000]))
    return compare(
        "non-metric MDS of 1,000 digits, 2-d; quality: stress-1, disparities refitted by one function for all",
        {
            "assay MDS": lambda: MDS(2, metric_mds=False, n_init=1, metric="precomputed").fit(D),
            "assay MDS, secondary ties": lambda: MDS(
                2, metric_mds=False, ties="secondary", n_init=1, metric="precomputed"
            ).fit(D),
            "scikit-learn MDS, random start": lambda: _peer(D, "random", metric_mds=False),
            "scikit-learn MDS, classical start": lambda: _peer(D, "classical_mds", metric_mds=False),
        },
        against="scikit-learn MDS, random start",
        quality=_stress1(D),
        rounds=1,
    )


def _peer(D: np.ndarray, init: str, *, metric_mds: bool) -> Any:
    return peers.MDS(2, metric="precomputed", metric_mds=metric_mds, init=init, n_init=1, random_state=0).fit(D)


def _stress1(D: np.ndarray) -> Callable[[Any], str]:
    """Both tie rules, so that neither side is judged by the other's."""
    targets = squareform(D)

    def figures(model: Any) -> str:
        X = np.ascontiguousarray(model.embedding_.T)
        pairs = StressPairs(len(D), None, Team(1))
        found = {
            ties: RankStress(pairs, DissimilarityRanking.of(targets), ties).evaluate(X)
            for ties in ("primary", "secondary")
        }
        return ", ".join(f"{ties} {each.value**0.5:.5f}" for ties, each in found.items())

    return figures


if __name__ == "__main__":
    show(run())
