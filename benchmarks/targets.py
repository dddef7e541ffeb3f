"""The machines of a target beside boosted trees and a forest: what each explains of unseen rows, and its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import cross_val_predict

from assay.evidence.design import Independent
from assay.questions.prediction.asked import Asked, asked
from assay.questions.prediction.chance import measured, pooled
from assay.questions.prediction.machines import machines
from assay.questions.prediction.plan import planned
from assay.questions.prediction.test import prediction
from benchmarks.harness import compare, show

FOLDS = 10
Table = tuple[np.ndarray, np.ndarray, tuple[str, ...]]


def run() -> list[dict[str, Any]]:
    return [row for name, table in _tables().items() for row in beside(name, table)]


def _tables() -> dict[str, Table]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    noise = 0.3 * rng.standard_normal(300)
    cancer, diabetes = load_breast_cancer(), load_diabetes()
    return {
        "x1 x2, 300 x 5": (X, X[:, 0] * X[:, 1] + noise, ()),
        "p^2 + q r, 300 x 5": (X, X[:, 0] ** 2 + X[:, 1] * X[:, 2] + noise, ()),
        "XOR, 300 x 5": (X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(float), ("no", "yes")),
        "Friedman 1, 400 x 10": (*make_friedman1(400, noise=1.0, random_state=0), ()),
        "diabetes, 442 x 10": (diabetes.data, diabetes.target, ()),
        "breast cancer, 569 x 30": (cancer.data, cancer.target.astype(float), ("malignant", "benign")),
    }


def beside(name: str, table: Table) -> list[dict[str, Any]]:
    X, y, classes = table
    columns = tuple(f"c{j}" for j in range(X.shape[1]))
    what = asked(X, y, columns, columns, "y", classes, Independent(len(y)), 0)
    assert what is not None
    boosted, forest = (
        (HistGradientBoostingClassifier, RandomForestClassifier)
        if classes
        else (HistGradientBoostingRegressor, RandomForestRegressor)
    )
    return compare(
        f"{name}; quality: share of the squared deviations explained on unseen rows",
        {
            "assay, 3 machines, 10 folds once": lambda: _measured(what),
            "assay, the whole question": lambda: _asked(X, y, columns, classes),
            "scikit-learn HistGradientBoosting": lambda: _peer(boosted(random_state=0), what),
            "scikit-learn RandomForest": lambda: _peer(forest(random_state=0), what),
        },
        against="scikit-learn HistGradientBoosting",
        quality=lambda share: f"{share:.3f}",
        rounds=3,
    )


def _measured(what: Asked) -> float:
    """Nested, without draws of chance."""
    able = machines(what.X, what.of, 0)
    width = what.scaled.shape[1]
    plan = planned(what.design, [one.size for one in able], width, 0, once=True)
    assert plan is not None
    return float(pooled(measured(able, what.scaled, plan, width))[0])


def _asked(X: np.ndarray, y: np.ndarray, columns: tuple[str, ...], classes: tuple[str, ...]) -> float:
    """With draws of chance, intervals, boosted trees and all that is said beside."""
    found = prediction(X, y, columns, "y", classes=classes)
    assert found is not None and found.evidence.held_out is not None
    return found.evidence.held_out


def _peer(model: Any, what: Asked) -> float:
    predict: Callable[..., np.ndarray] = cross_val_predict
    method = "predict_proba" if what.classes else "predict"
    guess = predict(model, what.X, what.y, cv=FOLDS, method=method).reshape(len(what.y), -1)
    return float(1.0 - ((what.raw - guess) ** 2).sum() / ((what.raw - what.raw.mean(axis=0)) ** 2).sum())


if __name__ == "__main__":
    show(run())
