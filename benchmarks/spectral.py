"""SpectralClustering beside scikit-learn's: two moons of 20,000 rows, whose graph falls apart or does not; digits."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import cluster
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from assay import Nearest, SpectralClustering
from benchmarks.harness import compare, show

NEIGHBOURS = 10
SOLVERS = ("amg", "arpack", "lobpcg")


def run() -> list[dict[str, Any]]:
    digits = load_digits(return_X_y=True)
    return [
        *_on("two moons, 20,000 rows, noise .05 (falls apart)", *make_moons(20_000, noise=0.05, random_state=0), 2),
        *_on("two moons, 20,000 rows, noise .13 (connected)", *make_moons(20_000, noise=0.13, random_state=0), 2),
        *_on("digits, 1,797 rows", *digits, 10),
    ]


def _on(what: str, X: np.ndarray, truth: np.ndarray, k: int) -> list[dict[str, Any]]:
    contenders: dict[str, Callable[[], np.ndarray]] = {
        "assay": lambda: SpectralClustering(k, random_state=0).fit(X).labels_,
        # scikit-learn counts a row as its own neighbour, and a link given one way only as half
        "assay, scikit-learn's graph": lambda: (
            SpectralClustering(k, graph=Nearest(NEIGHBOURS - 1, symmetry="average"), random_state=0).fit(X).labels_
        ),
    }
    for solver in SOLVERS:
        if solver != "amg" or importlib.util.find_spec("pyamg"):
            contenders[f"scikit-learn {solver}"] = lambda solver=solver: _peer(X, k, solver)
    W = kneighbors_graph(X, NEIGHBOURS, include_self=True)
    W = sparse.csr_array(0.5 * (W + W.T))
    W.setdiag(0.0)
    against = "scikit-learn amg" if "scikit-learn amg" in contenders else "scikit-learn arpack"
    return compare(
        f"spectral clustering, {what}; quality: normalised cut of scikit-learn's graph, adjusted Rand index",
        contenders,
        against=against,
        quality=lambda labels: f"{normalised_cut(W, labels):.5f}, {adjusted_rand_score(truth, labels):.3f}",
        rounds=5,
    )


def _peer(X: np.ndarray, k: int, solver: str) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cluster.SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=NEIGHBOURS, eigen_solver=solver, random_state=0
        )
        return np.asarray(model.fit_predict(X))


def normalised_cut(W: sparse.csr_array, labels: np.ndarray) -> float:
    groups = [labels == label for label in np.unique(labels)]
    return float(sum(W[mine][:, ~mine].sum() / W[mine].sum() for mine in groups))


if __name__ == "__main__":
    show(run())
