"""Ridge and lasso chosen over folds beside GridSearchCV, RidgeCV and LassoCV, least squares, forward selection.

GridSearchCV takes two minutes: it is run once, warmed up on a part of the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.linear_model as peers
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import GridSearchCV

from assay import ElasticNet, GroupedMoments, LeastSquares, Ridge, forward_selection
from assay.data.folds import fold_numbers
from benchmarks.harness import compare, show

ALPHAS = np.logspace(0, 6, 50)
FOLDS = 5
Judged = tuple[float, float]  # the penalty chosen, and its mean squared error


def run() -> list[dict[str, Any]]:
    return held_out() + wide() + lasso() + tall() + nearly_dependent() + selection()


def held_out() -> list[dict[str, Any]]:
    X, y = _rows(200_000, 200, noise=30.0)
    question = "Ridge, 5 folds x 50 penalties, 200,000 x 200; quality: penalty chosen, held-out error"
    quick = compare(
        question,
        {"assay Ridge": lambda: _ours(X, y), "bare numpy, fold moments": lambda: _bare(X, y)},
        against="assay Ridge",
        quality=_told,
        rounds=5,
    )
    slow = [
        _once(question, "scikit-learn RidgeCV, leave-one-out", lambda rows: _leave_one_out(X[:rows], y[:rows]), len(X)),
        _once(question, "scikit-learn GridSearchCV", lambda rows: _grid_search(X[:rows], y[:rows]), len(X)),
    ]
    rows = [*quick, *slow]
    return [row | {"ratio": round(row["seconds"] / slow[-1]["seconds"], 4)} for row in rows]


def wide() -> list[dict[str, Any]]:
    X, y = _rows(400, 4_000, noise=30.0)
    return compare(
        "Ridge, 5 folds x 50 penalties, 400 x 4,000; quality: penalty chosen, held-out error",
        {"assay Ridge": lambda: _ours(X, y), "scikit-learn GridSearchCV": lambda: _grid_search(X, y)},
        against="scikit-learn GridSearchCV",
        quality=_told,
        rounds=1,
    )


def lasso() -> list[dict[str, Any]]:
    found = []
    for n, d in ((200_000, 100), (300, 4_000)):
        X, y = _rows(n, d, noise=30.0)
        found += compare(
            f"Lasso, 5 folds x 100 penalties, {n:,} x {d:,}; quality: penalty chosen, held-out error",
            {"assay ElasticNet": lambda X=X, y=y: _net(X, y), "scikit-learn LassoCV": lambda X=X, y=y: _lasso_cv(X, y)},
            against="scikit-learn LassoCV",
            quality=_told,
            rounds=1,
        )
    return found


def tall() -> list[dict[str, Any]]:
    X, y = _rows(1_000_000, 50, noise=1.0)
    centred = X - X.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)

    def gradient(model: Any) -> str:
        off = y - model.predict(X)
        return f"{np.abs(centred.T @ off / lengths).max() / np.linalg.norm(off):.0e}"

    return compare(
        "Least squares, 1,000,000 x 50; quality: largest correlation of a column with what is left",
        {
            "assay LeastSquares": lambda: LeastSquares().fit(X, y),
            "scikit-learn LinearRegression": lambda: peers.LinearRegression().fit(X, y),
            **_intelex(X, y),
        },
        against="scikit-learn LinearRegression",
        quality=gradient,
        rounds=3,
    )


def nearly_dependent() -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200_000, 100))
    X[:, -1] = X[:, :-1].sum(axis=1) + 1e-6 * X[:, -1]
    coef = np.ones(100)
    y = X @ coef
    return compare(
        "Least squares, 200,000 x 100, condition 1e7; quality: largest relative error of a coefficient",
        {
            "assay LeastSquares": lambda: LeastSquares().fit(X, y),
            "scikit-learn LinearRegression": lambda: peers.LinearRegression().fit(X, y),
        },
        against="scikit-learn LinearRegression",
        quality=lambda model: f"{np.abs(model.coef_ - coef).max():.0e}",
        rounds=1,
    )


def selection() -> list[dict[str, Any]]:
    X, y = _rows(20_000, 40, noise=30.0)
    folds = fold_numbers(0, len(X), FOLDS)
    both = np.column_stack([X, y])

    def peer() -> list[int]:
        search = SequentialFeatureSelector(
            peers.LinearRegression(), n_features_to_select=8, cv=_splits(folds), scoring="neg_mean_squared_error"
        )
        return sorted(np.flatnonzero(search.fit(X, y).get_support()).tolist())

    def ours() -> list[int]:
        found = forward_selection(GroupedMoments.of(both, folds), target=40, n_features=8)
        return sorted(found.order.tolist())

    return compare(
        "Forward selection, 8 of 40 columns, 20,000 rows, 5 folds; quality: columns (the peer chooses held out)",
        {"assay forward_selection": ours, "scikit-learn SequentialFeatureSelector": peer},
        against="scikit-learn SequentialFeatureSelector",
        quality=str,
        rounds=1,
    )


def _rows(n: int, d: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X += rng.standard_normal((n, 1))
    return X, X @ rng.standard_normal(d) + noise * rng.standard_normal(n) + 5.0


def _ours(X: np.ndarray, y: np.ndarray) -> Judged:
    found = Ridge("held-out", alphas=ALPHAS, cv=FOLDS).fit(X, y)
    return found.alpha_, float(found.held_out_errors_.min())


def _net(X: np.ndarray, y: np.ndarray) -> Judged:
    found = ElasticNet("held-out", l1_ratio=1, cv=FOLDS).fit(X, y)
    return found.alpha_, float(found.held_out_errors_.min())


def _lasso_cv(X: np.ndarray, y: np.ndarray) -> Judged:
    found = peers.LassoCV(cv=_splits(fold_numbers(0, len(X), FOLDS))).fit(X, y)
    return float(found.alpha_), float(found.mse_path_.mean(axis=1).min())


def _grid_search(X: np.ndarray, y: np.ndarray) -> Judged:
    """The same folds, so that errors can be compared to the last digit."""
    search = GridSearchCV(
        peers.Ridge(),
        {"alpha": ALPHAS},
        scoring="neg_mean_squared_error",
        cv=_splits(fold_numbers(0, len(X), FOLDS)),
    ).fit(X, y)
    return float(search.best_params_["alpha"]), -float(search.best_score_)


def _leave_one_out(X: np.ndarray, y: np.ndarray) -> Judged:
    found = peers.RidgeCV(ALPHAS).fit(X, y)
    return float(found.alpha_), -float(found.best_score_)


def _bare(X: np.ndarray, y: np.ndarray) -> Judged:
    """Fold moments in a few lines, raw sums: what one may write without a library, right only near zero."""
    folds = np.arange(len(X)) % FOLDS
    parts = []
    for fold in range(FOLDS):
        Z = np.column_stack([X[folds == fold], y[folds == fold], np.ones(int((folds == fold).sum()))])
        parts.append(Z.T @ Z)
    whole, d = sum(parts), X.shape[1]
    errors = np.zeros(len(ALPHAS))
    for part in parts:
        S = whole - part
        mean = S[-1] / S[-1, -1]
        C = S - np.outer(mean, mean) * S[-1, -1]
        values, V = np.linalg.eigh(C[:d, :d])
        coef = ((V.T @ C[:d, d])[:, None] / (values[:, None] + ALPHAS)).T @ V.T
        v = np.column_stack([-coef, np.ones(len(ALPHAS)), -(mean[d] - coef @ mean[:d])])
        errors += np.einsum("ki,ij,kj->k", v, part, v, optimize=True)
    errors /= len(X)
    return float(ALPHAS[errors.argmin()]), float(errors.min())


def _splits(folds: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(FOLDS)]


def _once(question: str, who: str, work: Callable[[int], Judged], n: int) -> dict[str, Any]:
    """One timed run over all rows, after one over a hundredth of them."""
    work(n // 100)
    start = time.perf_counter()
    found = work(n)
    seconds = round(time.perf_counter() - start, 4)
    return {
        "question": question,
        "who": who,
        "seconds": seconds,
        "ratio": 1.0,
        "peak_mb": None,
        "quality": _told(found),
    }


def _told(found: Judged) -> str:
    return f"alpha {found[0]:.5g}, error {found[1]:.8f}"


def _intelex(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], Any]]:
    try:
        from sklearnex.linear_model import LinearRegression
    except ImportError:
        return {}
    return {"scikit-learn-intelex LinearRegression": lambda: LinearRegression().fit(X, y)}


if __name__ == "__main__":
    show(run())
