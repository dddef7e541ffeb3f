"""Linear machines of two classes on many rows: the machine of `SVM` beside LIBLINEAR (LinearSVC of scikit-learn).

LIBLINEAR penalises the intercept too, so its coefficients are judged with the intercept that suits them best, all in
the objective without that penalty. On the plain hinge it does not converge in minutes: it is given 50 passes.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_classification
from sklearn.svm import LinearSVC

from assay import SVM, Linear
from assay.models.prediction.svm.margin import margin
from benchmarks.harness import compare, show

Line = tuple[np.ndarray, float]


def run() -> list[dict[str, Any]]:
    X, labels = make_classification(200_000, 100, n_informative=50, n_redundant=10, flip_y=0.05, random_state=0)
    s = np.where(labels > 0, 1.0, -1.0)
    return squared(X, s) + plain(X, s)


def squared(X: np.ndarray, s: np.ndarray) -> list[dict[str, Any]]:
    return compare(
        "linear SVM, squared hinge, 200,000 x 100, C = 1; quality: objective, the lower the better",
        {
            "assay margin": lambda: _ours(X, s, "squared_hinge"),
            "scikit-learn LinearSVC": lambda: _liblinear(X, s, loss="squared_hinge", dual=False),
        },
        against="scikit-learn LinearSVC",
        quality=lambda line: f"{_least(X, s, line, 2):.4f}",
        rounds=3,
    )


def plain(X: np.ndarray, s: np.ndarray) -> list[dict[str, Any]]:
    capped = "scikit-learn LinearSVC, 50 passes, not converged"
    return compare(
        "linear SVM, hinge, 200,000 x 100, C = 1; quality: objective, the lower the better",
        {
            "assay margin": lambda: _ours(X, s, "hinge"),
            "assay SVM(kernel=Linear())": lambda: _machine(X, s),
            capped: lambda: _liblinear(X, s, loss="hinge", dual=True, max_iter=50),
        },
        against=capped,
        quality=lambda line: f"{_least(X, s, line, 1):.4f}",
        rounds=1,
    )


def _ours(X: np.ndarray, s: np.ndarray, loss: Any) -> Line:
    found = margin(X, s, 1.0, loss=loss)
    assert found.converged
    return found.coef, found.intercept


def _machine(X: np.ndarray, s: np.ndarray) -> Line:
    """The estimator: the same solver, tightened until the conditions of the dual hold, and its support vectors kept."""
    model = SVM(kernel=Linear()).fit(X, s)
    return model.coef_[0], float(model.intercept_[0])


def _liblinear(X: np.ndarray, s: np.ndarray, **options: Any) -> Line:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not to converge is what the second question is about
        machine = LinearSVC(C=1.0, random_state=0, **options).fit(X, s)
    return machine.coef_[0], float(machine.intercept_[0])


def _least(X: np.ndarray, s: np.ndarray, line: Line, power: int) -> float:
    """The objective with the best intercept for these coefficients."""
    w, b = line
    f = X @ w

    def objective(shift: float) -> float:
        return float(0.5 * w @ w + np.sum(np.maximum(1.0 - s * (f + shift), 0.0) ** power))

    return min(objective(b), minimize_scalar(objective, bracket=(b - 0.1, b + 0.1), tol=1e-12).fun)


if __name__ == "__main__":
    show(run())
