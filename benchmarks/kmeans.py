"""KMeans beside scikit-learn, scikit-learn-intelex and faiss: groups that stand apart, that overlap, and none at all.

scikit-learn, intelex and assay are asked for one start and the same tol, the squared moves of the centres in a pass as
a share of the mean variance of a column; with so many rows assay makes three starts on a sample for it. faiss has no
tol: it starts from random rows and makes a fixed number of passes, 25 by default. So times are to be read beside the
inertia; assay with max_iter=12, about level with 25 passes of faiss on rows without groups, stands there to compare.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.cluster as peers
from sklearn.datasets import make_blobs

from assay import KMeans
from assay.errors import NotConverged
from benchmarks.harness import compare, show

SIZES = ((500_000, 20, 20), (200_000, 100, 100))


def run() -> list[dict[str, Any]]:
    return [
        row
        for n, d, k in SIZES
        for what in ("groups apart", "groups overlap", "no groups")
        for row in _both(what, n, d, k)
    ]


def _both(what: str, n: int, d: int, k: int) -> list[dict[str, Any]]:
    X = _rows(what, n, d, k)
    return _compared(what, X, k) + _compared(what, X.astype(np.float32), k)


def _rows(what: str, n: int, d: int, k: int) -> np.ndarray:
    if what == "no groups":
        return np.random.default_rng(0).standard_normal((n, d)) * np.linspace(3.0, 0.5, d)
    return make_blobs(n, d, centers=k, cluster_std=1.0 if what == "groups apart" else 6.0, random_state=0)[0]


def _compared(what: str, X: np.ndarray, k: int) -> list[dict[str, Any]]:
    n, d = X.shape
    contenders: dict[str, Callable[[], Any]] = {
        "assay KMeans": lambda: KMeans(k, n_init=1, random_state=0).fit(X),
        "scikit-learn KMeans": lambda: peers.KMeans(k, n_init=1, random_state=0).fit(X),
        **_intelex(X, k),
        **(_by_passes(X, k) if X.dtype == np.float32 else {}),
    }
    return compare(
        f"k-means, {what}, {n:,} x {d}, k={k}, {X.dtype}; quality: inertia, passes over all rows",
        contenders,
        against="scikit-learn KMeans",
        quality=lambda model: _inertia(model, X),
        rounds=1 if what == "no groups" else 3,  # a run on rows without groups takes up to a minute
    )


def _inertia(model: Any, X: np.ndarray) -> str:
    if hasattr(model, "index"):
        squares, _ = model.index.search(X, 1)
        return f"{squares.sum(dtype=np.float64):.6g}, {model.cp.niter}"
    return f"{model.inertia_:.6g}, {model.n_iter_}"


def _intelex(X: np.ndarray, k: int) -> dict[str, Callable[[], Any]]:
    try:
        from sklearnex.cluster import KMeans as Intelex
    except ImportError:
        return {}
    return {"scikit-learn-intelex KMeans": lambda: Intelex(k, n_init=1, random_state=0).fit(X)}


def _by_passes(X: np.ndarray, k: int) -> dict[str, Callable[[], Any]]:
    def stopped() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            return KMeans(k, n_init=1, max_iter=12, random_state=0).fit(X)

    return {"assay KMeans, max_iter=12": stopped, **_faiss(X, k)}


def _faiss(X: np.ndarray, k: int) -> dict[str, Callable[[], Any]]:
    try:
        import faiss
    except ImportError:
        return {}

    def trained(passes: int) -> Any:
        # by default it would look at 256 rows for each centre only
        model = faiss.Kmeans(X.shape[1], k, niter=passes, seed=1, max_points_per_centroid=len(X))
        model.train(X)
        return model

    return {"faiss Kmeans, 25 passes": lambda: trained(25), "faiss Kmeans, 100 passes": lambda: trained(100)}


if __name__ == "__main__":
    show(run())
