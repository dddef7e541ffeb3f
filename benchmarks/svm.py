"""SVM with a Gaussian kernel beside scikit-learn's SVC and scikit-learn-intelex's, two classes and ten.

The quality figure of a fit is the dual objective (of ten classes the sum over the 45 pairs), computed anew in float64
from the dual coefficients found; of a prediction the share of rows that get their own class.

The ten classes are scikit-learn's 1,797 digits of 8 x 8 points, enlarged to 28 x 28, each drawn several times, moved by
up to two points and covered with noise: 10,000 x 784. Some 4,000 rows become support vectors, 40%; of the 7,291 USPS
digits 32% do, so the work is like that on real ones. Errors on new rows are rarer, since the same digits come again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.ndimage import shift, zoom
from sklearn.datasets import load_digits, make_classification
from sklearn.svm import SVC

from assay import SVM, Gaussian
from assay.summary.gram.kernel_rows import kernel_sums
from benchmarks.harness import compare, show

Rows = tuple[np.ndarray, np.ndarray]  # rows and their classes


def run() -> list[dict[str, Any]]:
    return (
        _compared("20,000 x 50, two classes", _two_classes(25_000), 20_000, 1 / 50)
        + _compared("ten digits, 10,000 x 784", _digits(20_000), 10_000, None)
        + path()
    )


def path() -> list[dict[str, Any]]:
    X, y = _two_classes(3_000)
    Cs, kernel = np.geomspace(0.1, 10.0, 12), _gaussian(1 / 50)

    def apart() -> float:
        return float(np.sum([SVM(C, kernel=kernel).fit(X, y).objective_ for C in Cs]))

    return compare(
        "SVM over 12 values of C, 3,000 x 50; quality: sum of the objectives",
        {"one path": lambda: float(SVM(kernel=kernel).path(X, y, Cs).objective.sum()), "12 fits": apart},
        against="12 fits",
        quality=lambda total: f"{total:.3f}",
        rounds=3,
    )


def _compared(what: str, data: Rows, n: int, gamma: float | None) -> list[dict[str, Any]]:
    (X, y), (new, truth) = (data[0][:n], data[1][:n]), (data[0][n:], data[1][n:])
    width = 1.0 / (X.shape[1] * X.var()) if gamma is None else gamma
    makers: dict[str, Callable[[], Any]] = {
        "assay SVM": lambda: SVM(C=1.0, kernel=_gaussian(width)),
        "scikit-learn SVC": lambda: SVC(C=1.0, gamma=width),
    }
    try:
        import sklearnex.svm

        makers["scikit-learn-intelex SVC"] = lambda: sklearnex.svm.SVC(C=1.0, gamma=width)
    except ImportError:
        pass
    fitted: dict[str, Any] = {}

    def fit(who: str) -> Any:
        fitted[who] = makers[who]().fit(X, y)
        return fitted[who]

    return compare(
        f"SVM fit, {what}, C = 1; quality: objective",
        {who: partial(fit, who) for who in makers},
        against="scikit-learn SVC",
        quality=lambda model: f"{_objective(model, X, y, width):.4f}",
        rounds=1,
    ) + compare(
        f"SVM predict, {what}, {len(new):,} new rows; quality: share right",
        {who: (lambda who=who: fitted[who].predict(new)) for who in makers},
        against="scikit-learn SVC",
        quality=lambda predicted: f"{np.mean(predicted == truth):.4f}",
        rounds=1,
    )


def _objective(model: Any, X: np.ndarray, y: np.ndarray, gamma: float) -> float:
    """Sum over pairs of 1/2 a^T Q a - sum a, from scikit-learn's layout of the dual coefficients."""
    support, coef = np.asarray(model.support_), np.asarray(model.dual_coef_)
    of = np.searchsorted(np.unique(y), y[support])
    total = 0.0
    for a, b in combinations(range(len(np.unique(y))), 2):
        weights = np.where(of == a, coef[b - 1], np.where(of == b, coef[a], 0.0))
        rows, w = X[support[weights != 0]], weights[weights != 0]
        total += float(0.5 * w @ kernel_sums(_gaussian(gamma), rows, rows, w) - np.abs(w).sum())
    return total


def _gaussian(gamma: float) -> Gaussian:
    return Gaussian(sigma=float(np.sqrt(0.5 / gamma)))


def _two_classes(n: int) -> Rows:
    X, y = make_classification(n, 50, n_informative=20, n_redundant=5, flip_y=0.05, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _digits(n: int) -> Rows:
    images, classes = load_digits().images / 16, load_digits().target
    large = np.clip([zoom(image, 3.5, order=1) for image in images], 0.0, 1.0)
    rng = np.random.default_rng(0)
    drawn, moved = rng.integers(0, len(large), n), rng.uniform(-2.0, 2.0, (n, 2))
    X = np.array([shift(large[i], by, order=1) for i, by in zip(drawn, moved, strict=True)])
    X += 0.15 * rng.standard_normal(X.shape)
    return np.clip(X, 0.0, 1.0).reshape(n, -1), classes[drawn]


if __name__ == "__main__":
    show(run())
