"""How far out normal rows lie, and whether the bulk of a table looks like normal rows.

law       squared distances by r other rows are like F(d, r - d), at a scale that their median tells
shape     log odds of normal rows against three others: one column with long tails, all of them, or all rows stretched
          alike (Student's t with 3, 5 and 8 degrees of freedom, each at the scale that suits it)

Rows that may not belong are left out of both. Where they are more than 1% of the rows the others count as cut off where
they end: without its farthest rows every law has short tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, fdtrc, fdtri, gammaln, ndtr, stdtr
from scipy.stats import f as f_law

Array: TypeAlias = NDArray[np.float64]

_TAILS = (3.0, 5.0, 8.0)
_SCALES = np.exp(np.linspace(-0.3, 0.3, 9))
_QUARTILES = (0.6744897501960817, 0.7648923284043529, 0.7266868438004229, 0.7063866094498353)  # normal, t3, t5, t8
_FEW = 0.01  # share of the rows without which the others are not yet cut off
_MOST = 0.2  # that may be left out
_CLEAR = 2.5  # log odds from which on a column is said to have long tails
_STEP = 1e-4  # of a derivative
_DOUBT = np.linspace(-2.5, 2.5, 9)


@dataclass(frozen=True, slots=True, eq=False)
class NormalRows:
    """The law of log distances of normal rows.

    Attributes:
        d: columns.
        rows: by which they are measured.
        scales: (9,) what the logarithm of the scale may be.
        weights: (9,) how likely.
        evidence: log likelihood of the scores seen.
    """

    d: int
    rows: float
    scales: Array | None = None
    weights: Array | None = None
    evidence: float = 0.0

    def placed(self, within: Array, start: float, end: float, seen: Array, counts: Array) -> NormalRows:
        """At the scale that the rows within tell, with its doubt, and the likelihood of what lies between.

        Args:
            within: (k,) scores of the rows that belong, ascending.
            start: where the tail begins.
            end: beyond which nothing was seen.
            seen: (b,) scores in the tail, from its start.
            counts: (b,) how many each stands for.
        """
        low, middle, high = (0.5 * np.log(fdtri(self.d, self.rows - self.d, level)) for level in (0.45, 0.5, 0.55))
        spread = 0.5 / np.sqrt(len(within)) * (high - low) / 0.1
        scales = float(np.median(within)) - middle + spread * _DOUBT
        at = start + seen[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            density = (self._tail(at - _STEP, scales) - self._tail(at + _STEP, scales)) / (2.0 * _STEP)
            whole = self._tail(start, scales) - self._tail(end, scales)
            likelihood = counts @ np.log(np.maximum(density, 1e-300)) - counts.sum() * np.log(np.maximum(whole, 1e-300))
        # the last of them is where the others end, and has its own density beyond them
        likelihood = (
            likelihood + np.log(np.maximum(whole, 1e-300)) - np.log(np.maximum(self._tail(start, scales), 1e-300))
        )
        likelihood = likelihood - 0.5 * _DOUBT**2 - np.log(np.exp(-0.5 * _DOUBT**2).sum())
        weights = np.exp(likelihood - likelihood.max())
        evidence = float(likelihood.max() + np.log(weights.sum()))
        return NormalRows(self.d, self.rows, scales, weights / weights.sum(), evidence)

    def beyond(self, score: float, end: float, count: int) -> float:
        """Chance that so many normal rows beyond `end` all lie beyond a score."""
        assert self.scales is not None and self.weights is not None
        ratio = self._log_tail(score, self.scales) - self._log_tail(end, self.scales)
        return float(self.weights @ np.exp(count * np.minimum(ratio, 0.0)))

    def _ratio(self, scores: Array | float, scales: Array) -> Array:
        return np.asarray(np.exp(np.minimum(2.0 * (scores - scales), 700.0)))

    def _tail(self, scores: Array | float, scales: Array) -> Array:
        return np.asarray(fdtrc(self.d, self.rows - self.d, self._ratio(scores, scales)))

    def _log_tail(self, score: float, scales: Array) -> Array:
        """Also where the chance is below the smallest number."""
        a, b = (self.rows - self.d) / 2.0, self.d / 2.0
        x = self._ratio(score, scales) * b / a
        tail = self._tail(score, scales)
        # the incomplete beta function at z = 1 / (1 + x), its series as if all terms had the ratio of the first two
        first = -a * np.log1p(x) + b * np.log(x / (1.0 + x)) - np.log(a) - betaln(a, b)
        far = first - np.log(np.maximum(1.0 - (a + b) / (a + 1.0) / (1.0 + x), 1e-300))
        return np.where(tail > 1e-280, np.log(np.maximum(tail, 1e-280)), far)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What decides between normal rows and others.

    Attributes:
        scores: (k,) log distances of the rows farthest out, descending; more than these cannot be left out.
        columns: (4, 9, d) log likelihood of all rows: normal, t3, t5, t8; each scale; each column.
        of_far: (k, 4, 9, d) the parts of the farthest, added up from the farthest on.
        extent: (k, d) the largest absolute value in each column without the farthest.
        lengths: (s,) log distances, ascending, from their median.
        d, rows: of the law of distances.
    """

    scores: Array
    columns: Array
    of_far: Array
    extent: Array
    lengths: Array
    d: int
    rows: float

    @classmethod
    def of(cls, rows: Array, scores: Array, by: float) -> Shape:
        """Of (s, d) rows whose columns have median 0 and median distance 1 from it.

        Args:
            rows: (s, d).
            scores: (s,) their log distances.
            by: how many rows they are measured by.
        """
        order = np.argsort(-scores, kind="stable")
        far = order[: max(6, int(np.ceil(_MOST * len(rows))))]
        whole = np.stack([_likelihoods(rows, law).sum(axis=1) for law in range(4)])
        of_far = np.cumsum(np.stack([_likelihoods(rows[far], law) for law in range(4)]).transpose(2, 0, 1, 3), axis=0)
        sizes = np.maximum.accumulate(np.abs(rows[order[::-1]]), axis=0)[::-1]
        lengths, middle = scores[order[::-1]], float(np.median(scores))
        return cls(scores[far], whole, of_far, sizes[1 : len(far) + 1], lengths - middle, rows.shape[1], by)

    def odds(self, end: float) -> float:
        """Log odds of normal rows by those no farther out than a score; -inf where too many lie beyond."""
        left_out = int(np.count_nonzero(self.scores > end))
        if left_out == len(self.scores):
            return -np.inf
        by_column = self._by_column(left_out)
        one, every = -_mean_of_logs(-by_column), float(by_column.sum())
        return float(-_mean_of_logs(-np.array([one, every, self._lengths_odds(left_out)])))

    def long_tails(self, end: float) -> NDArray[np.bool_]:
        """(d,) which columns have long tails, by the rows no farther out than a score."""
        left_out = int(np.count_nonzero(self.scores > end))
        if left_out == len(self.scores):
            return np.zeros(self.d, dtype=bool)
        return np.asarray(self._by_column(left_out) < -_CLEAR)

    def _by_column(self, left_out: int) -> Array:
        """(d,) log odds of a normal column against one with long tails."""
        likelihoods = self.columns - (self.of_far[left_out - 1] if left_out else 0.0)
        if left_out > max(_FEW * len(self.lengths), 1):
            likelihoods = likelihoods - (len(self.lengths) - left_out) * _log_within(self.extent[left_out - 1])
        best = likelihoods.max(axis=1)
        return np.asarray(best[0] - _mean_of_logs(best[1:]))

    def _lengths_odds(self, left_out: int) -> float:
        squares = np.exp(2.0 * self.lengths[: len(self.lengths) - left_out])
        found = []
        for g in (self.rows - self.d, *_TAILS):
            middle = float(fdtri(self.d, g, 0.5))
            seen = f_law.logpdf(squares * middle, self.d, g).sum() + len(squares) * np.log(middle)
            found.append(seen - len(squares) * f_law.logcdf(squares[-1] * middle, self.d, g))
        return float(found[0] - _mean_of_logs(np.array(found[1:])))


def _likelihoods(rows: Array, law: int) -> Array:
    """(9, s, d) log densities of one law at every scale about the one of its quartiles."""
    scale = (_SCALES / _QUARTILES[law])[:, None, None]
    z = rows / scale
    if law == 0:
        return np.asarray(-0.5 * z**2 - 0.5 * np.log(2.0 * np.pi) - np.log(scale))
    nu = _TAILS[law - 1]
    constant = gammaln((nu + 1.0) / 2.0) - gammaln(nu / 2.0) - 0.5 * np.log(nu * np.pi)
    return np.asarray(constant - 0.5 * (nu + 1.0) * np.log1p(z**2 / nu) - np.log(scale))


def _log_within(extent: Array) -> Array:
    """(4, 9, d) log chance of values no larger, by law, scale and column."""
    found = []
    for law, quartile in enumerate(_QUARTILES):
        z = extent / (_SCALES / quartile)[:, None]
        found.append(np.log(2.0 * (ndtr(z) if law == 0 else stdtr(_TAILS[law - 1], z)) - 1.0))
    return np.stack(found)


def _mean_of_logs(values: Array) -> Array:
    """Log of the mean of exp along the first axis."""
    return np.asarray(np.logaddexp.reduce(values, axis=0) - np.log(len(values)))
