"""Fisher and GaussianRule beside scikit-learn's linear and quadratic discriminants: 500,000 x 100, 10 classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from assay import DifferenceOfMeans, Fisher, GaussianRule
from benchmarks.harness import compare, show

N, D, G = 500_000, 100, 10


def run() -> list[dict[str, Any]]:
    X, y = rows()
    return fits(X, y) + predictions(X, y) + wide()


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Ten normal classes, each with a mean and a covariance of its own, close enough to be mistaken."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, G, N)
    X = rng.standard_normal((N, D))
    for k in range(G):
        mix = np.eye(D) + 0.03 * rng.standard_normal((D, D))
        X[y == k] = X[y == k] @ mix + 0.15 * rng.standard_normal(D)
    return X, y


def fits(X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    new, truth = X[::50], y[::50]

    def quality(model: Any) -> str:
        at = np.searchsorted(model.classes_, truth)
        log_loss = -model.predict_log_proba(new)[np.arange(len(at)), at].mean()
        return f"error {np.mean(model.predict(new) != truth):.6f}, log loss {log_loss:.8f}"

    what = f"{N:,} x {D}, {G} classes; quality: error and log loss of 10,000 of the rows"
    linear = compare(
        f"Fit with equal covariances, {what}",
        {
            "assay Fisher": lambda: Fisher().fit(X, y),
            "assay GaussianRule equal": lambda: GaussianRule("equal").fit(X, y),
            "scikit-learn LDA lsqr": lambda: LinearDiscriminantAnalysis(solver="lsqr").fit(X, y),
            "scikit-learn LDA svd": lambda: LinearDiscriminantAnalysis().fit(X, y),
        },
        against="scikit-learn LDA lsqr",
        quality=quality,
        rounds=3,
    )
    quadratic = compare(
        f"Fit with unequal covariances, {what}",
        {
            "assay GaussianRule": lambda: GaussianRule().fit(X, y),
            "scikit-learn QDA eigen": lambda: QuadraticDiscriminantAnalysis(solver="eigen").fit(X, y),
            "scikit-learn QDA svd": lambda: QuadraticDiscriminantAnalysis().fit(X, y),
        },
        against="scikit-learn QDA eigen",
        quality=quality,
        rounds=3,
    )
    return linear + quadratic


def predictions(X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    ours, theirs = GaussianRule().fit(X, y), QuadraticDiscriminantAnalysis(solver="eigen").fit(X, y)
    fisher, lda = Fisher().fit(X, y), LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    quadratic = compare(
        f"Predict with unequal covariances, {N:,} x {D}, {G} classes; quality: error",
        {"assay GaussianRule": lambda: ours.predict(X), "scikit-learn QDA": lambda: theirs.predict(X)},
        against="scikit-learn QDA",
        quality=lambda found: f"{np.mean(found != y):.6f}",
        rounds=3,
    )
    linear = compare(
        f"Predict with equal covariances, {N:,} x {D}, {G} classes; quality: error",
        {"assay Fisher": lambda: fisher.predict(X), "scikit-learn LDA": lambda: lda.predict(X)},
        against="scikit-learn LDA",
        quality=lambda found: f"{np.mean(found != y):.6f}",
        rounds=3,
    )
    return quadratic + linear


def wide() -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 400)
    X = rng.standard_normal((400, 2_000)) + 0.15 * rng.standard_normal((3, 2_000))[y]
    train, new = slice(0, 200), slice(200, 400)
    return compare(
        "Fit 200 x 2,000, 3 classes, shrinkage by Ledoit and Wolf; quality: error on 200 new rows",
        {
            "assay Fisher": lambda: Fisher(shrinkage="auto").fit(X[train], y[train]),
            "assay DifferenceOfMeans": lambda: DifferenceOfMeans().fit(X[train], y[train]),
            "scikit-learn LDA lsqr": lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(
                X[train], y[train]
            ),
        },
        against="scikit-learn LDA lsqr",
        quality=lambda model: f"{np.mean(model.predict(X[new]) != y[new]):.3f}",
        rounds=3,
    )


if __name__ == "__main__":
    show(run())
