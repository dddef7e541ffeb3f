"""Support vector regression with a Gaussian kernel beside scikit-learn and scikit-learn-intelex; a line for many rows.

The quality figure is the objective, computed anew in float64 from what was found, on one scale for all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVR as PeerSVR
from sklearn.svm import LinearSVR

from assay import SVR, Gaussian
from assay.summary.gram.kernel_rows import kernel_sums
from benchmarks.harness import compare, show

C, EPSILON, GAMMA = 10.0, 0.1, 1 / 20
SIGMA = float(np.sqrt(0.5 / GAMMA))


def run() -> list[dict[str, Any]]:
    return waves() + line()


def waves() -> list[dict[str, Any]]:
    """Fit, and predict with what was fitted."""
    X, y = _waves(10_000)
    new, truth = _waves(10_000, seed=1)
    fitted: dict[str, Any] = {}

    def fit(who: str, make: Callable[[], Any]) -> Any:
        fitted[who] = make().fit(X, y)
        return fitted[who]

    def objective(machine: Any) -> str:
        b, rows = np.ravel(machine.dual_coef_), X[machine.support_]
        quadratic = 0.5 * b @ kernel_sums(Gaussian(sigma=SIGMA), rows, rows, b)
        return f"{quadratic + EPSILON * np.abs(b).sum() - b @ y[machine.support_]:.4f}"

    fits = compare(
        "SVR fit, Gaussian kernel, 10,000 x 20, C = 10; quality: objective, the lower the better",
        {who: partial(fit, who, make) for who, make in _machines().items()},
        against="scikit-learn SVR",
        quality=objective,
        rounds=1,
    )
    return fits + compare(
        f"SVR predict, 10,000 rows against {len(fitted['assay SVR'].support_)} support rows; quality: mean error",
        {who: partial(machine.predict, new) for who, machine in fitted.items()},
        against="scikit-learn SVR",
        quality=lambda found: f"{np.mean(np.abs(found - truth)):.6f}",
        rounds=3,
    )


def line() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 50))
    y = X @ rng.standard_normal(50) + rng.standard_normal(len(X))

    def objective(machine: Any) -> str:
        w = np.ravel(machine.coef_)
        off = np.abs(y - X @ w - machine.intercept_) - EPSILON
        return f"{0.5 * w @ w + np.maximum(off, 0.0).sum():.4f}"

    return compare(
        "SVR fit, linear kernel, 200,000 x 50, C = 1; quality: primal objective, the lower the better",
        {
            "assay SVR": lambda: SVR(kernel="linear", epsilon=EPSILON).fit(X, y),
            "scikit-learn LinearSVR, 20 passes": lambda: _capped(X, y),
        },
        against="scikit-learn LinearSVR, 20 passes",
        quality=objective,
        rounds=1,
    )


def _capped(X: np.ndarray, y: np.ndarray) -> Any:
    """LIBLINEAR's descent over single weights, stopped long before its tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LinearSVR(C=1.0, epsilon=EPSILON, max_iter=20).fit(X, y)


def _machines() -> dict[str, Callable[[], Any]]:
    peer = {"C": C, "epsilon": EPSILON, "gamma": GAMMA}
    machines: dict[str, Callable[[], Any]] = {
        "assay SVR": lambda: SVR(C, epsilon=EPSILON, kernel=Gaussian(sigma=SIGMA)),
        "scikit-learn SVR": lambda: PeerSVR(**peer),
    }
    try:
        from sklearnex.svm import SVR as FastSVR

        machines["scikit-learn-intelex SVR"] = lambda: FastSVR(**peer)
    except ImportError:
        pass
    return machines


def _waves(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 20))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)


if __name__ == "__main__":
    show(run())
