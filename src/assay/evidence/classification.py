"""How well classes are told apart: the ROC curve, calibration of probabilities, and which classes are confused.

Every number comes with the range it could have on other rows of the same kind. All of them mean something only on rows
that the rule was not fitted to.

    area        P(score of a positive row > that of a negative one), ties counted half
    its range   Newcombe's method 5: the areas A with (a - A)^2 <= z^2 V(A), V the variance of Hanley and McNeil with
                equal group sizes; never of width zero, not at a = 1 either
    band        Campbell's: both distribution functions lie within sqrt(log(2 / alpha') / 2n) of theirs everywhere
                (Dvoretzky, Kiefer, Wolfowitz; Massart), so the whole curve lies in the band
    shares      Wilson's score interval

References: Newcombe, Statistics in Medicine 25 (2006) 559; Campbell, Statistics in Medicine 13 (1994) 499; Wilson,
JASA 22 (1927) 209.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.evidence.outcomes import checked_level, class_labels, finite_numbers, outcomes
from assay.evidence.shares import share_interval

_GRID = np.linspace(0.0, 1.0, 201)


@dataclass(frozen=True, slots=True, eq=False)
class Roc:
    """How many positive rows are found at which share of false alarms.

    Attributes:
        false_positive: (m,) share of the negative rows called positive, ascending from 0 to 1.
        true_positive: (m,) share of the positive rows called so.
        thresholds: (m,) rows that score at least this are called positive; infinite at the first point.
        area: under the curve: how often a positive row scores above a negative one.
        interval: range of the area.
        band_at: (201,) shares of false positives at which the band is given.
        lower, upper: (201,) the band that holds the whole curve.
        positive: the class called positive.
        n_positive, n_negative: rows of each class.
    """

    false_positive: Array
    true_positive: Array
    thresholds: Array
    area: float
    interval: tuple[float, float]
    band_at: Array
    lower: Array
    upper: Array
    positive: Any
    n_positive: int
    n_negative: int


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """How often what was said to have a probability came true.

    Attributes:
        edges: (b + 1,) of the bins; a probability on an edge belongs to the bin below.
        counts: (b,) rows per bin.
        predicted: (b,) mean probability said; NaN where a bin is empty.
        observed: (b,) share that came true; NaN where a bin is empty.
        lower, upper: (b,) range of that share.
        error: expected calibration error: how far observed and predicted lie apart, on average over rows.
        brier: mean of (probability - outcome)^2.
        positive: the class whose probability it is.
    """

    edges: Array
    counts: NDArray[np.int64]
    predicted: Array
    observed: Array
    lower: Array
    upper: Array
    error: float
    brier: float
    positive: Any


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """Which class is taken for which.

    Attributes:
        matrix: (g, g) rows of a class (down) that were called a class (across).
        classes: (g,) what the classes are called.
    """

    matrix: NDArray[np.int64]
    classes: NDArray[Any]

    @property
    def accuracy(self) -> float:
        """Share of the rows called what they are."""
        return float(np.trace(self.matrix) / self.matrix.sum())

    @property
    def shares(self) -> Array:
        """(g, g) shares of the rows of each class; NaN for a class without rows."""
        total = self.matrix.sum(axis=1, keepdims=True)
        empty = np.full(self.matrix.shape, np.nan)
        shares: Array = np.divide(self.matrix, total, out=empty, where=total > 0)
        return shares

    @property
    def balanced_accuracy(self) -> float:
        """Mean over classes, those with rows, of the share called what they are: a large class counts no more."""
        return float(np.nanmean(np.diag(self.shares)))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Range of the accuracy."""
        low, high = share_interval(np.trace(self.matrix), self.matrix.sum(), confidence)
        return float(low), float(high)


def roc(truth: ArrayLike, score: ArrayLike, *, positive: Any = None, confidence: float = 0.95) -> Roc:
    """Follow what a falling threshold finds: positive rows, and false alarms.

    Args:
        truth: (n,) classes, two of them.
        score: (n,) higher for what is more likely positive; any monotone scale gives the same curve.
        positive: the class called positive; by default the second in order, as in `classes_[1]`.
        confidence: of the range of the area and of the band.

    Returns:
        The curve, one point per distinct score, with its area.

    >>> found = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> found.area, found.false_positive.tolist(), found.true_positive.tolist()
    (0.75, [0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    hit, named = outcomes(truth, positive)
    values = finite_numbers("score", score, len(hit))
    m, n = int(hit.sum()), int((~hit).sum())
    if not (m and n):
        raise DataError(f"a ROC curve needs rows of both classes; got {m} positive and {n} negative ones")
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    ends = np.flatnonzero(np.r_[falling[1:] != falling[:-1], True])
    found = np.r_[0, np.cumsum(hit[order])[ends]]
    alarms = np.r_[0, ends + 1] - found
    # whole numbers until the last division: ties and order change no digit
    twice = int(np.sum((found[1:] + found[:-1]) * np.diff(alarms)))
    area = twice / (2 * m * n)
    lower, upper = _band(alarms / n, found / m, m, n, checked_level(confidence))
    interval = _area_interval(area, m, n, confidence)
    return Roc(
        false_positive=alarms / n, true_positive=found / m, thresholds=np.r_[np.inf, falling[ends]], area=area,
        interval=interval, band_at=_GRID.copy(), lower=lower, upper=upper, positive=named, n_positive=m, n_negative=n,
    )  # fmt: skip


def calibration(
    truth: ArrayLike,
    probability: ArrayLike,
    bins: int = 10,
    *,
    positive: Any = None,
    strategy: Literal["uniform", "quantile"] = "uniform",
    confidence: float = 0.95,
) -> Calibration:
    """Compare probabilities with how often they came true, bin by bin.

    Args:
        truth: (n,) classes, at most two.
        probability: (n,) of the positive class.
        bins: how many.
        positive: the class whose probability it is; by default the second in order, as in `classes_[1]`.
        strategy: bins of equal width, or of equally many rows.
        confidence: of the ranges.

    Returns:
        The bins, empty ones included.

    >>> found = calibration([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], bins=2)
    >>> found.counts.tolist(), found.observed.tolist(), round(found.error, 3)
    ([2, 2], [0.0, 1.0], 0.15)
    """
    hit, named = outcomes(truth, positive)
    said = finite_numbers("probability", probability, len(hit))
    if wrong := np.flatnonzero((said < 0) | (said > 1)).tolist():
        raise DataError(f"a probability lies between 0 and 1; got {said[wrong[0]]:.6g} in row {wrong[0]}, from 0")
    if not (isinstance(bins, int | np.integer) and bins >= 1):
        raise ParameterError(f"bins is a number of at least 1; got {bins!r}")
    if strategy not in ("uniform", "quantile"):
        raise ParameterError(f"strategy is 'uniform' or 'quantile'; got {strategy!r}")
    edges = np.linspace(0.0, 1.0, bins + 1)
    edges = np.unique(np.quantile(said, edges)) if strategy == "quantile" else edges
    edges = np.repeat(edges, 2) if len(edges) == 1 else edges
    number = np.searchsorted(edges[1:-1], said)
    counts = np.bincount(number, minlength=len(edges) - 1)
    true, total = (np.bincount(number, weights=w, minlength=len(counts)) for w in (hit, said))
    with np.errstate(invalid="ignore"):
        predicted, observed = total / counts, true / counts
    lower, upper = share_interval(true, counts, confidence)
    return Calibration(
        edges=edges, counts=counts, predicted=predicted, observed=observed, lower=lower, upper=upper,
        error=float(np.abs(true - total).sum() / len(hit)), brier=float(np.mean((said - hit) ** 2)), positive=named,
    )  # fmt: skip


def confusion(truth: ArrayLike, predicted: ArrayLike, *, classes: ArrayLike | None = None) -> Confusion:
    """Count which class is taken for which.

    Args:
        truth: (n,) classes.
        predicted: (n,) what the rule calls the rows.
        classes: (g,) all of them in the order wanted; by default those that occur, sorted.

    Returns:
        The counts.

    >>> confusion(["a", "a", "b"], ["a", "b", "b"]).matrix.tolist()
    [[1, 1], [0, 1]]
    """
    true, called = class_labels("truth", truth), class_labels("predicted", predicted)
    if len(true) != len(called):
        raise DataError(f"truth and predicted have one class per row; got {len(true)} and {len(called)}")
    both = np.concatenate([true, called])
    known, code = np.unique(both, return_inverse=True)
    names = known if classes is None else np.asarray(classes)
    if names.ndim != 1 or len(np.unique(names)) != len(names):
        raise ParameterError("classes names each class once")
    if classes is not None:
        lacking = ~np.isin(known, names)
        if lacking.any():
            raise ParameterError(f"classes names every class that occurs; {known[lacking].tolist()[0]!r} is not there")
        rank = np.argsort(names, kind="stable")
        code = rank[np.searchsorted(names[rank], known)][code]
    g = len(names)
    pairs = code[: len(true)] * g + code[len(true) :]
    return Confusion(np.bincount(pairs, minlength=g * g).reshape(g, g), names)


def _area_interval(area: float, m: int, n: int, confidence: float) -> tuple[float, float]:
    z = float(ndtri((1 + confidence) / 2))

    def lowest(a: float) -> float:
        def beyond(A: float) -> float:
            part = 1 + ((m + n) / 2 - 1) * ((1 - A) / (2 - A) + A / (1 + A))
            spread = z**2 * A * part / (m * n)
            # at a = 1 both sides hold the factor 1 - A, whose root is not the one wanted
            return 1 - A - spread if a == 1 else (a - A) ** 2 - spread * (1 - A)

        return 0.0 if a == 0 else float(brentq(beyond, 0.0, a))

    return lowest(area), 1 - lowest(1 - area)


def _band(across: Array, up: Array, m: int, n: int, confidence: float) -> tuple[Array, Array]:
    each = 1 - np.sqrt(confidence)  # either group may leave its range
    high, wide = (np.sqrt(np.log(2 / each) / (2 * rows)) for rows in (m, n))
    # thresholds at a share t of false positives show between t - wide and t + wide of them in the sample
    lower = up[np.searchsorted(across, _GRID - wide, side="left")] - high
    upper = up[np.searchsorted(across, _GRID + wide, side="right") - 1] + high
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
