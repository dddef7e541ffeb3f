"""Naive Bayes with normal columns beside scikit-learn's GaussianNB: one million rows, fitted and judged.

The quality figure is the sum over rows of the log joint probability of their own class, on one scale for both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from assay import NaiveBayes
from benchmarks.harness import compare, show

N, D, CLASSES = 1_000_000, 100, 5
_SOME = slice(0, 100_000)


def run() -> list[dict[str, Any]]:
    X, y = _rows(0.0)
    return fitting(X, y) + judging(X, y) + far_from_zero()


def fitting(X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    return compare(
        f"Naive Bayes fit, {N:,} x {D}, {CLASSES} classes; quality: log joint probability of 100,000 rows",
        {"assay NaiveBayes": lambda: _ours(X, y), "scikit-learn GaussianNB": lambda: _peer(X, y)},
        against="scikit-learn GaussianNB",
        quality=lambda model: _log_joint(model, X[_SOME], y[_SOME]),
        rounds=3,
    )


def judging(X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    ours, peer = _ours(X, y), _peer(X, y)
    return compare(
        f"Naive Bayes predict, {N:,} x {D}; quality: share right",
        {"assay NaiveBayes": lambda: ours.predict(X), "scikit-learn GaussianNB": lambda: peer.predict(X)},
        against="scikit-learn GaussianNB",
        quality=lambda found: f"{np.mean(found == y):.6f}",
        rounds=3,
    )


def far_from_zero() -> list[dict[str, Any]]:
    """Columns whose digits go to their offset: what is left of the likelihood."""
    X, y = _rows(1e8, 100_000)
    return compare(
        "Naive Bayes fit, 100,000 x 100, columns moved by 1e8; quality: log joint probability",
        {"assay NaiveBayes": lambda: _ours(X, y), "scikit-learn GaussianNB": lambda: _peer(X, y)},
        against="scikit-learn GaussianNB",
        quality=lambda model: _log_joint(model, X, y),
        rounds=3,
    )


def _ours(X: np.ndarray, y: np.ndarray) -> Any:
    return NaiveBayes("gaussian").fit(X, y)


def _peer(X: np.ndarray, y: np.ndarray) -> Any:
    return GaussianNB(var_smoothing=0.0).fit(X, y)


def _rows(offset: float, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, n)
    X = rng.standard_normal((n, D))
    X *= rng.uniform(0.5, 2.0, (CLASSES, D))[y]
    X += 0.15 * rng.standard_normal((CLASSES, D))[y] + offset
    return X, y


def _log_joint(model: Any, X: np.ndarray, y: np.ndarray) -> str:
    return f"{model.predict_joint_log_proba(X)[np.arange(len(y)), y].sum():.6f}"


if __name__ == "__main__":
    show(run())
