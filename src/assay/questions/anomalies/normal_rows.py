"""How far out normal rows lie, and whether the bulk of a table looks like normal rows.

law       squared distances by r other rows are like F(d, r - d), at a scale that their median tells
shape     log odds of normal rows against others: one column that is not, all of them, or all rows stretched alike
nearly    Student's t with 8 degrees of freedom, or a normal law bent a little to one side, sinh(asinh(Z) + .2)
far from  t with 3 and 5, or bent by .45; each law of a column at the scale that suits it

Rows that may not belong are left out of both. Where they are more than 1% of the rows the others count as cut off where
they end: without its farthest rows every law has short tails.

Reference: Jones and Pewsey, Biometrika 96 (2009), sinh-arcsinh distributions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, expit, fdtr, fdtrc, fdtri, gammaln, ndtr, stdtr

from assay.arrays import Array

_TAKEN, _MOST_TAKEN = 0.25, 100.0  # prior odds of normal rows: for each row, and at most
NEARLY = 8.0  # degrees of freedom of rows that are nearly normal
_NEARLY, _OTHERS = slice(1, 4), slice(4, 8)  # among the laws of a column
_SCALES = np.exp(np.linspace(-0.3, 0.3, 9))
_FEW = 0.01  # share of the rows without which the others are not yet cut off
_MIDDLE = -100.0  # log distance of a row that no law tells from the middle
_MOST = 0.2  # that may be left out
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
class _Law:
    """A law that a column may have.

    Attributes:
        middle: its median.
        half: how far from it half of the values lie.
        density: its logarithm at some values.
        below: chance of smaller values.
    """

    middle: float
    half: float
    density: Callable[[Array], Array]
    below: Callable[[Array], Array]

    def likelihoods(self, rows: Array) -> Array:
        """(9, s, d) log densities of values with median 0 and a median distance of 1 from it, at every scale."""
        scale = (_SCALES / self.half)[:, None, None]
        return np.asarray(self.density(rows / scale + self.middle) - np.log(scale))

    def log_within(self, extent: Array) -> Array:
        """(9, d) log chance of values no farther from the median than that of each column."""
        reach = extent * self.half / _SCALES[:, None]
        return np.asarray(np.log(self.below(self.middle + reach) - self.below(self.middle - reach)))


def _students(nu: float, half: float) -> _Law:
    constant = gammaln((nu + 1.0) / 2.0) - gammaln(nu / 2.0) - 0.5 * np.log(nu * np.pi)
    return _Law(
        0.0, half, lambda z: constant - 0.5 * (nu + 1.0) * np.log1p(z**2 / nu), lambda z: np.asarray(stdtr(nu, z))
    )


def _leaning(bend: float, half: float) -> _Law:
    def density(x: Array) -> Array:
        # sinh and cosh of asinh(x) - bend, without the cancellation at large x
        root = np.hypot(1.0, x)
        z = x * np.cosh(bend) - root * np.sinh(bend)
        slope = root * np.cosh(bend) - x * np.sinh(bend)
        return np.asarray(_log_normal(z) + np.log(slope / root))

    def below(x: Array) -> Array:
        return np.asarray(ndtr(x * np.cosh(bend) - np.hypot(1.0, x) * np.sinh(bend)))

    return _Law(float(np.sinh(bend)), half, density, below)


def _log_normal(z: Array) -> Array:
    return np.asarray(-0.5 * z**2 - 0.5 * np.log(2.0 * np.pi))


_LAWS = (
    _Law(0.0, 0.6744897501960817, _log_normal, lambda z: np.asarray(ndtr(z))),
    _students(NEARLY, 0.7063866126448388),
    _leaning(-0.2, 0.6839984096723496),
    _leaning(0.2, 0.6839984096723496),
    _students(5.0, 0.7266868438004226),
    _students(3.0, 0.7648923284043444),
    _leaning(-0.45, 0.7237986710565318),
    _leaning(0.45, 0.7237986710565318),
)


@dataclass(frozen=True, slots=True, eq=False)
class NormalShape:
    """What decides between normal rows and others.

    Attributes:
        scores: (k,) log distances of the rows farthest out, descending; more than these cannot be left out.
        columns: (8, 9, d) log likelihood of all rows: each law, the normal one first; each scale; each column.
        of_far: (k, 8, 9, d) the parts of the farthest, added up from the farthest on.
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
    def of(cls, rows: Array, scores: Array, by: float) -> NormalShape:
        """Of (s, d) rows whose columns have median 0 and median distance 1 from it.

        Args:
            rows: (s, d).
            scores: (s,) their log distances.
            by: how many rows they are measured by.
        """
        order = np.argsort(-scores, kind="stable")
        far = order[: max(6, int(np.ceil(_MOST * len(rows))))]
        whole = np.stack([law.likelihoods(rows).sum(axis=1) for law in _LAWS])
        of_far = np.cumsum(np.stack([law.likelihoods(rows[far]) for law in _LAWS]).transpose(2, 0, 1, 3), axis=0)
        sizes = np.maximum.accumulate(np.abs(rows[order[::-1]]), axis=0)[::-1]
        lengths, middle = scores[order[::-1]], float(np.median(scores))
        return cls(scores[far], whole, of_far, sizes[1 : len(far) + 1], lengths - middle, rows.shape[1], by)

    def odds(self, end: float) -> tuple[float, float]:
        """Log odds of normal rows against nearly normal ones and against others, by those no farther out than a score.

        -inf where too many lie beyond.
        """
        left_out = int(np.count_nonzero(self.scores > end))
        if left_out == len(self.scores):
            return -np.inf, -np.inf
        lengths = self._lengths_odds(left_out)
        nearly, others = (
            float(-_mean_of_logs(-np.array([-_mean_of_logs(-by_column), by_column.sum(), of_lengths])))
            for by_column, of_lengths in zip(self._by_column(left_out), lengths, strict=True)
        )
        return nearly, others

    def doubt(self, end: float) -> Array:
        """(d,) how likely each column is far from normal, by the rows no farther out than a score."""
        left_out = int(np.count_nonzero(self.scores > end))
        if left_out == len(self.scores):
            return np.ones(self.d)
        return np.asarray(expit(-self._by_column(left_out)[1] - np.log(prior_odds(len(self.lengths)))))

    def _by_column(self, left_out: int) -> tuple[Array, Array]:
        """(d,) log odds of a normal column against a nearly normal one and against others."""
        likelihoods = self.columns - (self.of_far[left_out - 1] if left_out else 0.0)
        if left_out > max(_FEW * len(self.lengths), 1):
            likelihoods = likelihoods - (len(self.lengths) - left_out) * np.stack(
                [law.log_within(self.extent[left_out - 1]) for law in _LAWS]
            )
        best = likelihoods.max(axis=1)
        nearly, others = (np.asarray(best[0] - _mean_of_logs(best[these])) for these in (_NEARLY, _OTHERS))
        return nearly, others

    def _lengths_odds(self, left_out: int) -> tuple[float, float]:
        """Log odds of normal rows against rows stretched alike, a little and more."""
        # a row in the very middle has no density; beside it, where all laws are flat, their ratio is the same
        squares = np.exp(2.0 * np.maximum(self.lengths[: len(self.lengths) - left_out], _MIDDLE))
        found = []
        for g in (self.rows - self.d, NEARLY, 5.0, 3.0):
            middle = float(fdtri(self.d, g, 0.5))
            seen = _log_density_of_f(squares * middle, self.d, g).sum() + len(squares) * np.log(middle)
            found.append(seen - len(squares) * np.log(fdtr(self.d, g, squares[-1] * middle)))
        return float(found[0] - found[1]), float(found[0] - _mean_of_logs(np.array(found[2:])))


def _log_density_of_f(x: Array, above: float, below: float) -> Array:
    """Of Fisher's F with so many degrees of freedom above and below; `scipy.stats` takes half a second to load."""
    constant = 0.5 * (above * np.log(above) + below * np.log(below)) - betaln(0.5 * above, 0.5 * below)
    rising, falling = (0.5 * above - 1.0) * np.log(x), 0.5 * (above + below) * np.log(below + above * x)
    return np.asarray(constant + rising - falling)


def prior_odds(n: int) -> float:
    """Of normal rows: few rows cannot tell, and less is taken for granted."""
    return min(_TAKEN * n, _MOST_TAKEN)


def _mean_of_logs(values: Array) -> Array:
    """Log of the mean of exp along the first axis."""
    return np.asarray(np.logaddexp.reduce(values, axis=0) - np.log(len(values)))
