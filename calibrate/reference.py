"""Reference tests of the field. Each is given the planted structure alone, at level .05; a study looks everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial.distance import pdist, squareform
from sklearn.covariance import MinCovDet
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import cross_val_predict

from assay.arrays import Array

_DRAWS = 199


def spearman(x: Array, y: Array) -> float:
    """The p of Spearman's rank correlation."""
    return float(stats.spearmanr(x, y).pvalue)


def hsic(x: Array, y: Array) -> float:
    """The p of the Hilbert-Schmidt criterion, Gaussian kernels of median width, rows of one side permuted."""
    rng = np.random.default_rng(0)
    K, L = (_centred(squareform(pdist(side.reshape(len(side), -1)))) for side in (x, y))
    ours = float((K * L).sum())
    orders = (rng.permutation(len(x)) for _ in range(_DRAWS))
    return _rank([float((K * L[np.ix_(o, o)]).sum()) for o in orders], ours)


def lagged(x: Array, y: Array, most: int = 3) -> float:
    """The p of the largest correlation of y with x at lags 0 to `most`, x shifted in a circle."""
    rng = np.random.default_rng(0)

    def largest(x: Array) -> float:
        return max(abs(float(np.corrcoef(x[: len(x) - k], y[k:])[0, 1])) for k in range(most + 1))

    shifts = rng.integers(20, len(x) - 20, _DRAWS)
    return _rank([largest(np.roll(x, s)) for s in shifts], largest(x))


def subject_means(values: Array, subjects: NDArray[Any], treated: NDArray[Any]) -> float:
    """The p of Welch's t test between the means of subjects."""
    who = np.unique(subjects)
    means = np.array([values[subjects == w].mean() for w in who])
    arm = np.array([treated[subjects == w][0] for w in who], dtype=bool)
    return float(stats.ttest_ind(means[arm], means[~arm], equal_var=False).pvalue)


def within(x: Array, y: Array, level: Array) -> float:
    """The p of the correlation left once the means of the levels are taken out, against the direction of the whole."""
    a, b = (z - np.array([z[level == one].mean() for one in level]) for z in (x, y))
    r = stats.pearsonr(a, b)
    return float(r.pvalue) if r.statistic * np.corrcoef(x, y)[0, 1] < 0 else 1.0


def critical_bandwidth(x: Array) -> float:
    """The p of Silverman's test of one mode: smoothed bootstrap samples that need a wider kernel than the data."""
    rng = np.random.default_rng(0)
    grid = np.linspace(x.min(), x.max(), 200)

    def modes(sample: Array, h: float) -> int:
        density = np.exp(-0.5 * ((grid[:, None] - sample) / h) ** 2).sum(axis=1)
        return int(np.count_nonzero((np.diff(density[:-1]) > 0) & (np.diff(density[1:]) <= 0)))

    low, high = 0.01 * x.std(), 2.0 * x.std()
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if modes(x, middle) <= 1 else (middle, high)
    shrink = 1.0 / np.sqrt(1.0 + high**2 / x.var())
    drawn = (rng.choice(x, len(x)) + high * rng.standard_normal(len(x)) for _ in range(_DRAWS))
    null = [modes(x.mean() + (one - x.mean()) * shrink, high) > 1 for one in drawn]
    return (1 + sum(null)) / (1 + _DRAWS)


def robust_distances(X: Array, planted: tuple[int, ...]) -> float:
    """Largest p of the planted rows by robust distances (MCD) and chi-square, Bonferroni over rows."""
    fitted = MinCovDet(random_state=0).fit(X)
    p = len(X) * stats.chi2.sf(fitted.mahalanobis(X), X.shape[1])
    return float(min(1.0, p[list(planted)].max()))


def forest(X: Array, y: Array) -> float:
    """The p of the rank correlation of a random forest's predictions of unseen rows with the target, one-sided."""
    kind: Callable[..., Any] = RandomForestClassifier if len(np.unique(y)) == 2 else RandomForestRegressor
    model = kind(100, random_state=0, min_samples_leaf=3)
    method = "predict_proba" if kind is RandomForestClassifier else "predict"
    guess = cross_val_predict(model, X, y, cv=5, method=method)
    return float(stats.spearmanr(guess[:, 1] if guess.ndim == 2 else guess, y, alternative="greater").pvalue)


def _rank(null: list[float], ours: float) -> float:
    return (1 + sum(one >= ours for one in null)) / (1 + len(null))


def _centred(D: Array) -> Array:
    K = np.exp(-(D**2) / (2.0 * np.median(D[D > 0]) ** 2))
    return np.asarray(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
