"""Logistic regression beside scikit-learn's solvers and scikit-learn-intelex.

The quality figure is the penalised objective, computed anew in float64 from the coefficients found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from assay import Logistic
from benchmarks.harness import compare, show


def run() -> list[dict[str, Any]]:
    return two_classes() + five_classes() + [row for g in (3, 10, 30, 100, 300) for row in many_classes(g)]


def two_classes() -> list[dict[str, Any]]:
    X, y = make_classification(500_000, 100, n_informative=30, n_redundant=20, flip_y=0.05, random_state=0)
    return _beside("Logistic, 500,000 x 100, 2 classes, penalty 1; quality: objective", X, y)


def five_classes() -> list[dict[str, Any]]:
    X, y = make_classification(200_000, 50, n_informative=20, n_redundant=10, n_classes=5, flip_y=0.05, random_state=0)
    return _beside("Logistic, 200,000 x 50, 5 classes, penalty 1; quality: objective", X, y)


def many_classes(g: int) -> list[dict[str, Any]]:
    """Beside scikit-learn's lbfgs at its own tolerance, and where it comes as near to the least objective."""
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((5000, 10)), rng.standard_normal((10, g))
    y = np.unique((X @ W + rng.gumbel(size=(5000, g))).argmax(axis=1), return_inverse=True)[1]
    return compare(
        f"Logistic, 5,000 x 10, {y.max() + 1} classes, penalty 1; quality: objective",
        {
            "assay Logistic": lambda: Logistic().fit(X, y),
            "scikit-learn lbfgs": lambda: LogisticRegression(max_iter=1000).fit(X, y),
            "scikit-learn lbfgs, tol 1e-8": lambda: LogisticRegression(max_iter=10_000, tol=1e-8).fit(X, y),
        },
        against="scikit-learn lbfgs, tol 1e-8",
        quality=lambda model: f"{_objective(X, y, model):.6f}",
        rounds=3,
    )


def _beside(question: str, X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    def peer(cls: Any, solver: str) -> Callable[[], Any]:
        return lambda: cls(solver=solver, max_iter=1000).fit(X, y)

    contenders: dict[str, Callable[[], Any]] = {
        "assay Logistic": lambda: Logistic().fit(X, y),
        "scikit-learn newton-cholesky": peer(LogisticRegression, "newton-cholesky"),
        "scikit-learn lbfgs": peer(LogisticRegression, "lbfgs"),
    }
    try:
        from sklearnex.linear_model import LogisticRegression as Intelex

        contenders["scikit-learn-intelex lbfgs"] = peer(Intelex, "lbfgs")
    except ImportError:
        pass
    return compare(
        question,
        contenders,
        against="scikit-learn newton-cholesky",
        quality=lambda model: f"{_objective(X, y, model):.6f}",
        rounds=2,
    )


def _objective(X: np.ndarray, y: np.ndarray, model: Any) -> float:
    """Sum of the losses plus half the squared length of the coefficients."""
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(X)), scores])
    own = scores[np.arange(len(y)), y]
    high = scores.max(axis=1)
    losses = np.log(np.exp(scores - high[:, None]).sum(axis=1)) + high - own
    return float(losses.sum() + 0.5 * np.sum(model.coef_**2))


if __name__ == "__main__":
    show(run())
