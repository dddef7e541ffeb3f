"""Intervals that are printed, beside the truth: what the same thing is in 200,000 rows drawn from the same law.

The thing is the one found in the table at hand: its pair of columns, its direction, its variates, its line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import assay
from assay.arrays import Array
from calibrate.family import Drawn, Family, Generator, framed

_MANY = 200_000
_TABLED = 5


def _factor(n: int, d: int, loading: float) -> Callable[[Generator], pd.DataFrame]:
    def draw(rng: Generator, n: int = n) -> pd.DataFrame:
        noise = np.sqrt(1.0 - loading**2) * rng.standard_normal((n, d))
        return framed(loading * rng.standard_normal((n, 1)) + noise)

    return draw


def _decaying(n: int, d: int, r: float) -> Callable[[Generator], pd.DataFrame]:
    def draw(rng: Generator, n: int = n) -> pd.DataFrame:
        X = rng.standard_normal((n, d))
        for j in range(1, d):
            X[:, j] = r * X[:, j - 1] + np.sqrt(1.0 - r**2) * X[:, j]
        return framed(np.exp(X))

    return draw


def _linear(n: int, explained: float) -> Callable[[Generator], pd.DataFrame]:
    def draw(rng: Generator, n: int = n) -> pd.DataFrame:
        X = rng.standard_normal((n, 5))
        signal = X @ np.array([2.0, 1.0, 1.0, 0.0, 0.0]) / np.sqrt(6.0)
        return framed(X).assign(y=np.sqrt(explained) * signal + np.sqrt(1.0 - explained) * rng.standard_normal(n))

    return draw


def _bent(n: int, explained: float) -> Callable[[Generator], pd.DataFrame]:
    def draw(rng: Generator, n: int = n) -> pd.DataFrame:
        X = rng.standard_normal((n, 5))
        signal = (X[:, 0] ** 2 - 1.0 + X[:, 1] * X[:, 2]) / np.sqrt(3.0)
        return framed(X).assign(y=np.sqrt(explained) * signal + np.sqrt(1.0 - explained) * rng.standard_normal(n))

    return draw


def _two_sides(n: int, r: float) -> Callable[[Generator], pd.DataFrame]:
    def draw(rng: Generator, n: int = n) -> pd.DataFrame:
        X = rng.standard_normal((n, 7))
        X[:, 3] = r * X[:, 0] + np.sqrt(1.0 - r**2) * X[:, 3]
        return framed(X)

    return draw


_LAWS: dict[str, tuple[Callable[..., pd.DataFrame], str, dict[str, Any]]] = {
    "one factor, loading .4, 100 x 20": (_factor(100, 20, 0.4), "correlations components", {}),
    "one factor, loading .6, 200 x 8": (_factor(200, 8, 0.6), "correlations components", {}),
    "one factor, loading .3, 400 x 5": (_factor(400, 5, 0.3), "correlations components", {}),
    "neighbours .6, lognormal, 80 x 12": (_decaying(80, 12, 0.6), "correlations", {}),
    "one pair, r = .3, 200 x 7": (_two_sides(200, 0.3), "correlations", {}),
    "line, R2 = .1, 100 rows": (_linear(100, 0.1), "prediction", {"target": "y"}),
    "line, R2 = .5, 200 rows": (_linear(200, 0.5), "prediction", {"target": "y"}),
    "a product and a square, R2 = .7, 200 rows": (_bent(200, 0.7), "prediction", {"target": "y"}),
    "two sides, r = .5, 150 rows": (_two_sides(150, 0.5), "canonical", {"side": ("c1", "c2", "c3")}),
}


def _classes(n: int) -> Callable[[Generator], pd.DataFrame]:
    def draw(rng: Generator, n: int = n) -> pd.DataFrame:
        y = rng.integers(0, 2, n)
        return framed(rng.standard_normal((n, 4)) + 1.7 * y[:, None]).assign(y=y)  # .045 of the rows cannot be told

    return draw


_LAWS |= {
    "Fisher's rule, 100 rows": (_classes(100), "validate", {"model": assay.Fisher}),
    "Ridge, R2 = .5, 200 rows": (_linear(200, 0.5), "validate", {"model": assay.Ridge}),
}


def _drawn(law: Callable[[Generator], pd.DataFrame], told: dict[str, Any]) -> Callable[[Generator], Drawn]:
    return lambda rng: Drawn(law(rng), dict(told))


INTERVALS = tuple(
    Family(name, "interval", _drawn(law, told), asked=tuple(asked.split()), tables=400)
    for name, (law, asked, told) in _LAWS.items()
)


@cache
def _population(name: str) -> pd.DataFrame:
    return _LAWS[name][0](np.random.default_rng([7, *name.encode()]), _MANY)


@cache
def _ranks(name: str) -> pd.DataFrame:
    return _population(name).corr("spearman")


def intervals(study: Any, data: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """Every interval of the study whose truth is known: its ends, the estimate, the truth, whether it is supported."""
    found = _shares(study.answers.get("components"), data, _population(name))
    for finding in study.findings:
        ends, truth = finding.evidence.interval, _truth(study, finding, data, name)
        if ends is not None and truth is not None:
            what = _CALLED.get(finding.kind, finding.kind)
            found.append(_kept(what, ends, finding.evidence.held_out, truth, finding.evidence.verdict))
    return found + _tabled(study.answers.get("correlations"), name)


def _tabled(answer: Any, name: str) -> list[dict[str, Any]]:
    """Intervals of the pairs in the page's table, which stand; the first of them."""
    if answer is None:
        return []
    pairs = answer.found.pairs
    low, high = getattr(answer, "intervals", (pairs.low, pairs.high))
    return [
        _kept("a pair of the table", ends, float(pairs.rank[k]), _rank(answer, name, k), answer.evidence.verdict)
        for k in range(min(answer.n_pairs, _TABLED, len(pairs)))
        if np.isfinite(ends := (float(low[k]), float(high[k]))).all()
    ]


_CALLED = {
    "correlations": "the strongest pair",
    "prediction": "R2, unseen rows",
    "canonical": "canonical correlation, unseen rows",
}


def _kept(what: str, ends: tuple[float, float], value: float, truth: float, verdict: str) -> dict[str, Any]:
    return {
        "what": what,
        "low": float(ends[0]),
        "high": float(ends[1]),
        "value": float(value),
        "truth": float(truth),
        "supported": verdict == "supported",
    }


def validated(drawn: Drawn, name: str) -> list[dict[str, Any]]:
    """The interval of `assay.validate`, and the score of the model of all rows on many new ones."""
    (X, y), (many, truth) = ((rows.drop(columns="y").to_numpy(), rows["y"].to_numpy()) for rows in
                             (drawn.data, _population(name)))  # fmt: skip
    model = drawn.options["model"]()
    found = assay.validate(model, X, y)
    score = float(model.fit(X, y).score(many, truth))
    ends = found.interval
    return [] if ends is None else [_kept("score of validate", ends, found.mean, score, "supported")]


def _truth(study: Any, finding: Any, data: pd.DataFrame, name: str) -> float | None:
    answer = study.answers.get(finding.kind)
    large = _population(name)
    if finding.kind == "correlations":
        return _rank(answer, name)
    if finding.kind == "prediction":
        return _explained(answer, large)
    return _along(answer, data, large) if finding.kind == "canonical" else None


def _standardised(data: pd.DataFrame, large: pd.DataFrame, columns: tuple[str, ...]) -> Array:
    few, many = data[list(columns)].to_numpy(), large[list(columns)].to_numpy()
    return np.asarray((many - few.mean(axis=0)) / few.std(axis=0))


def _rank(answer: Any, name: str, k: int = 0) -> float:
    """Spearman's of a pair, that named first if nothing else is said."""
    pairs, names = answer.found.pairs, answer.found.columns
    return float(_ranks(name).at[names[pairs.first[k]], names[pairs.second[k]]])


def _shares(answer: Any, data: pd.DataFrame, large: pd.DataFrame) -> list[dict[str, Any]]:
    """The interval of every component tested; the finding is of all of them."""
    return [
        _kept(
            "share of a component, unseen rows", e.interval, e.held_out, _share(answer, j, data, large), e.verdict
        )
        for j, e in enumerate(() if answer is None else answer.tested)
        if e.interval is not None
    ]  # fmt: skip


def _share(answer: Any, j: int, data: pd.DataFrame, large: pd.DataFrame) -> float:
    """Of the variance along the axis found: its loadings are the axis times the root of its eigenvalue."""
    Z = _standardised(data, large, answer.columns)
    w = answer.loadings[:, j] / np.linalg.norm(answer.loadings[:, j])
    return float(((Z @ w) ** 2).sum() / (Z**2).sum())


def _explained(answer: Any, large: pd.DataFrame) -> float:
    """R2 of what was learned."""
    y = large["y"].to_numpy()
    guess = answer.learned.predict(large[list(answer.columns)].to_numpy())[:, 0]
    return float(1.0 - ((y - guess) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def _along(answer: Any, data: pd.DataFrame, large: pd.DataFrame) -> float:
    """Correlation of the first variates; their weights follow from the rows, where they are combinations of columns."""
    sides = []
    for columns, variates in zip(answer.columns, answer.variates, strict=True):
        few = data[list(columns)].to_numpy()
        w = np.linalg.lstsq(few - few.mean(axis=0), variates[:, 0], rcond=None)[0]
        sides.append(large[list(columns)].to_numpy() @ w)
    return float(np.corrcoef(*sides)[0, 1])
