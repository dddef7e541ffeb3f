"""Filling missing values beside scikit-learn: small tables of few rows, and 20% of 10,000 x 50 with the covariance."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from assay import FillMissing
from assay.summary.incomplete.normal_em import normal_em
from benchmarks.harness import compare, show

_SEEDS = 91_000, 91_030  # none of which the method was made with


class Filled(NamedTuple):
    """A filled table and the covariance that goes with it."""

    table: np.ndarray
    covariance: np.ndarray


def run() -> list[dict[str, Any]]:
    return small_tables() + fill() + estimate()


def small_tables() -> list[dict[str, Any]]:
    """Values missing completely at random from some rows of three tables, thirty draws of each."""
    rows = []
    for load in (load_breast_cancer, load_digits, load_diabetes):
        X = load().data
        for n in (60, 150, 500):
            for share in (0.1, 0.3):
                rows += _small_table(load.__name__[5:], X, n, share)
    return rows


def _small_table(name: str, X: np.ndarray, n: int, share: float) -> list[dict[str, Any]]:
    draws = []
    for seed in range(*_SEEDS):
        rng = np.random.default_rng([seed, n, int(100 * share)])
        whole = X[rng.permutation(len(X))[:n]]
        gaps = rng.random(whole.shape) < share
        gaps[0, gaps.all(axis=0)] = False
        draws.append((whole, gaps))

    ours: list[float] = []

    def error(filled: list[np.ndarray]) -> str:
        errors: list[float] = []
        for table, (whole, gaps) in zip(filled, draws, strict=True):
            scale = whole.std(axis=0)
            errors.append(np.sqrt(np.mean((((table - whole) / np.where(scale > 0.0, scale, 1.0)) ** 2)[gaps])))
        if not ours:  # which comes first
            ours.extend(errors)
            return f"{np.mean(errors):.3f}"
        less = np.subtract(ours, errors)
        return f"{np.mean(errors):.3f}, assay {less.mean():+.4f} +- {less.std(ddof=1) / np.sqrt(len(less)):.4f}"

    def by(imputer: Any) -> Any:
        return lambda: [imputer.fit_transform(np.where(gaps, np.nan, whole)) for whole, gaps in draws]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # IterativeImputer stops early on most of them
        return compare(
            f"filling {share:.0%} of {len(draws[0][0])} x {X.shape[1]} {name}, {len(draws)} draws; "
            "quality: RMSE in standard deviations",
            {
                "assay FillMissing": by(FillMissing()),
                "scikit-learn IterativeImputer": by(IterativeImputer(random_state=0)),
                "scikit-learn KNNImputer": by(KNNImputer()),
                "scikit-learn SimpleImputer mean": by(SimpleImputer()),
            },
            against="assay FillMissing",
            quality=error,
            rounds=1,
        )


def fill() -> list[dict[str, Any]]:
    X, Y, truth = _data(10_000, 50)
    gaps = np.isnan(Y)

    def ours() -> Filled:
        model = FillMissing().fit(Y)
        return Filled(model.transform(Y), model.covariance_)

    def theirs(imputer: Any) -> Any:
        def filled() -> Filled:
            table = imputer.fit_transform(Y)
            return Filled(table, np.cov(table, rowvar=False))

        return filled

    def error(found: Filled) -> str:
        values = np.sqrt(np.mean((found.table - X)[gaps] ** 2))
        return f"{values:.3f}, {np.linalg.norm(found.covariance - truth) / np.linalg.norm(truth):.3f}"

    return compare(
        "filling 20% missing of 10,000 x 50; quality: RMSE of the values, relative Frobenius error of the covariance",
        {
            "assay FillMissing": ours,
            "scikit-learn IterativeImputer": theirs(IterativeImputer(random_state=0)),
            "scikit-learn KNNImputer": theirs(KNNImputer()),
            "scikit-learn SimpleImputer mean": theirs(SimpleImputer()),
        },
        against="assay FillMissing",
        quality=error,
        rounds=1,
    )


def estimate() -> list[dict[str, Any]]:
    """Few patterns: ten groups of ten columns, each missing as a whole in 5% of the rows."""
    X, _, truth = _data(100_000, 300)
    rng = np.random.default_rng(1)
    for first in range(0, 200, 20):
        X[np.ix_(rng.random(len(X)) < 0.05, np.arange(first, first + 10))] = np.nan
    complete = ~np.isnan(X).any(axis=1)

    def error(covariance: np.ndarray) -> str:
        return f"{np.linalg.norm(covariance - truth) / np.linalg.norm(truth):.4f}"

    return compare(
        "covariance of 100,000 x 300, groups of columns missing together; quality: relative Frobenius error",
        {
            "assay normal_em": lambda: normal_em(X).covariance,
            "numpy, complete rows only": lambda: np.cov(X[complete], rowvar=False),
        },
        against="numpy, complete rows only",
        quality=error,
        rounds=2,
    )


def _data(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a factor model, the same with a fifth missing, and the true covariance."""
    rng = np.random.default_rng(0)
    B = rng.standard_normal((d, 5))
    X = rng.standard_normal((n, 5)) @ B.T + 0.5 * rng.standard_normal((n, d)) + 3.0
    Y = X.copy()
    Y[rng.random((n, d)) < 0.2] = np.nan
    return X, Y, B @ B.T + 0.25 * np.eye(d)


if __name__ == "__main__":
    show(run())
