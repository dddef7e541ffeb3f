"""SVDD with a Gaussian kernel beside scikit-learn's one-class machine, and the SMO solver beside SVC and SVR.

The quality figure is the dual objective, computed anew in float64 from the weights found, on one scale for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_classification
from sklearn.svm import SVC, SVR, OneClassSVM

from assay import SVDD, Gaussian, Gram
from assay.linalg.one_thread import one_blas_thread
from assay.optimize.smo.smo import smo
from assay.summary.gram.kernel_rows import kernel_rows, kernel_sums
from benchmarks.harness import compare, show

NU = 0.1
Weights = tuple[np.ndarray, np.ndarray]  # rows with a weight, and their weights


def run() -> list[dict[str, Any]]:
    return description() + judgement() + classification() + regression()


def description() -> list[dict[str, Any]]:
    X, gamma = _blobs()

    def ours() -> Weights:
        ball = SVDD(nu=NU, kernel=_gaussian(gamma)).fit(X)
        return ball.support_, ball.dual_coef_

    def peer() -> Weights:
        machine = OneClassSVM(nu=NU, gamma=gamma).fit(X)
        return machine.support_, machine.dual_coef_[0] / machine.dual_coef_.sum()

    return compare(
        "SVDD fit, 20,000 x 20, nu .1; quality: least squared length of the centre, a^T K a",
        {"assay SVDD": ours, "scikit-learn OneClassSVM": peer},
        against="scikit-learn OneClassSVM",
        quality=lambda found: f"{_quadratic(X, gamma, *found):.9f}",
        rounds=3,
    )


def judgement() -> list[dict[str, Any]]:
    X, gamma = _blobs()
    ball = SVDD(nu=NU, kernel=_gaussian(gamma)).fit(X)
    machine = OneClassSVM(nu=NU, gamma=gamma).fit(X)
    return compare(
        "SVDD predict, 20,000 rows against some 2,000 support rows; quality: rows outside",
        {
            "assay SVDD": lambda: ball.decision_function(X),
            "scikit-learn OneClassSVM": lambda: machine.decision_function(X),
        },
        against="scikit-learn OneClassSVM",
        quality=lambda decision: str(int((decision < -1e-3 * np.abs(decision).max()).sum())),
        rounds=3,
    )


def classification() -> list[dict[str, Any]]:
    X, labels = make_classification(20_000, 50, n_informative=20, n_redundant=5, flip_y=0.05, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y, gamma, n = np.where(labels > 0, 1.0, -1.0), 1 / 50, len(X)

    def ours() -> Weights:
        with one_blas_thread():
            found = smo(_rows(X, gamma), -np.ones(n), 0.0, 1.0, signs=y)
        return np.arange(n), y * found.alpha

    def objective(found: Weights) -> str:
        support, weights = found
        return f"{0.5 * _quadratic(X, gamma, *found) - weights @ y[support]:.4f}"

    question = "SMO for SVC, 20,000 x 50, C = 1; quality: objective"
    return _machines(
        question,
        ours,
        lambda cls: cls(C=1.0, gamma=gamma).fit(X, y),
        "SVC",
        SVC,
        objective,
    )


def regression() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_000, 20))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(len(X))
    n, gamma, epsilon = len(X), 1 / 20, 0.1

    def ours() -> Weights:
        signs, both = np.repeat([1.0, -1.0], n), np.tile(np.arange(n), 2)
        with one_blas_thread():
            linear = np.concatenate([epsilon - y, epsilon + y])
            found = smo(_rows(X, gamma), linear, 0.0, 10.0, signs=signs, rows=both)
        return np.arange(n), np.bincount(both, signs * found.alpha, n)

    def objective(found: Weights) -> str:
        support, weights = found
        return f"{0.5 * _quadratic(X, gamma, *found) + epsilon * np.abs(weights).sum() - weights @ y[support]:.4f}"

    question = "SMO for SVR, 10,000 x 20, C = 10; quality: objective"
    return _machines(
        question,
        ours,
        lambda cls: cls(C=10.0, gamma=gamma, epsilon=epsilon).fit(X, y),
        "SVR",
        SVR,
        objective,
    )


def _machines(
    question: str,
    ours: Callable[[], Weights],
    fit: Callable[[Any], Any],
    name: str,
    cls: Any,
    objective: Callable[[Weights], str],
) -> list[dict[str, Any]]:
    def peer(cls: Any) -> Callable[[], Weights]:
        def found() -> Weights:
            machine = fit(cls)
            return machine.support_, np.asarray(machine.dual_coef_).ravel()

        return found

    contenders = {"assay smo": ours, f"scikit-learn {name}": peer(cls)}
    try:
        import sklearnex.svm

        contenders[f"scikit-learn-intelex {name}"] = peer(getattr(sklearnex.svm, name))
    except ImportError:
        pass
    return compare(question, contenders, against=f"scikit-learn {name}", quality=objective, rounds=1)


def _blobs() -> tuple[np.ndarray, float]:
    X, _ = make_blobs(20_000, 20, centers=5, cluster_std=2.0, random_state=0)
    return X, float(1 / (X.shape[1] * X.var()))


def _gaussian(gamma: float) -> Gaussian:
    return Gaussian(sigma=float(np.sqrt(0.5 / gamma)))


def _rows(X: np.ndarray, gamma: float) -> Any:
    return kernel_rows(Gram.of(X, _gaussian(gamma), hold=False))


def _quadratic(X: np.ndarray, gamma: float, support: np.ndarray, weights: np.ndarray) -> float:
    """The weights' quadratic form in the kernel matrix."""
    points = X[support][weights != 0]
    a = weights[weights != 0]
    return float(a @ kernel_sums(_gaussian(gamma), points, points, a))


if __name__ == "__main__":
    show(run())
