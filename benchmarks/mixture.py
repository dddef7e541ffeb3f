"""GaussianMixture beside scikit-learn: 200,000 x 20, ten components, five steps from one start, the four shapes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.mixture as peers
from sklearn.exceptions import ConvergenceWarning

from assay import GaussianMixture
from assay.errors import NotConverged
from benchmarks.harness import compare, show

N, D, K, STEPS = 200_000, 20, 10, 5


def run() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    means = 1.5 * rng.standard_normal((K, D))
    roots = rng.standard_normal((K, D, D)) / np.sqrt(D)
    X = np.concatenate([m + rng.standard_normal((N // K, D)) @ root for m, root in zip(means, roots, strict=True)])
    X = X[rng.permutation(N)]
    precision = 1.0 / X.var(axis=0)
    precisions = {
        "full": np.tile(np.diag(precision), (K, 1, 1)),
        "tied": np.diag(precision),
        "diag": np.tile(precision, (K, 1)),
        "spherical": np.full(K, precision.mean()),
    }
    return [row for shape, given in precisions.items() for row in _steps(X, shape, given)]


def _steps(X: np.ndarray, shape: str, precisions: np.ndarray) -> list[dict[str, Any]]:
    """Seconds are for the whole run: both make one pass to check and one to know the value at the end."""
    start = {"weights_init": np.full(K, 1.0 / K), "means_init": X[:K], "precisions_init": precisions}
    options = {"covariance_type": shape, "max_iter": STEPS, "tol": 0.0, **start}
    return compare(
        f"{shape} mixture, {N:,} x {D}, k={K}, {STEPS} steps from one start; quality: mean log-likelihood of a row",
        {
            "assay GaussianMixture": _quiet(lambda: GaussianMixture(K, floor=1e-12, **options).fit(X)),
            # its smallest regularisation, for it adds what assay only keeps as a bound
            "scikit-learn GaussianMixture": _quiet(lambda: peers.GaussianMixture(K, reg_covar=0.0, **options).fit(X)),
        },
        against="scikit-learn GaussianMixture",
        quality=lambda model: f"{model.score(X):.10f}",
        rounds=3,
    )


def _quiet(fit: Callable[[], Any]) -> Callable[[], Any]:
    """A fit that may stop before it has converged, as it is told to."""

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            warnings.simplefilter("ignore", ConvergenceWarning)
            return fit()

    return run


if __name__ == "__main__":
    show(run())
