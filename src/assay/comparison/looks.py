"""How far two tables are apart in one number of each row, for the tables as they are and as chance has them.

All of it is linear in the name of the table, so that every draw of chance costs one column of a matrix product.

measured   Legendre polynomials of the ranks in both tables together, degrees 1 to 4: where values lie, how widely, how
           lopsided, how heavy at the ends; squares weighted by 1 / (j (j + 1)) sum to Anderson and Darling's statistic
levels     2 x 2 deviance of each level, signed root, and that of all levels together; levels beyond the most frequent,
           and those in fewer than five rows, are one
surprise   -log of the two-sided normal tail, plus the log of the weight of a look in its column, so that a column of
           fifty levels gets no more attention than one number

References: Neyman, Skandinavisk Aktuarietidskrift 20 (1937); Pettitt, Biometrika 63 (1976): Anderson-Darling for two
samples and its components.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri_exp, xlogy

from assay.arrays import Array, Mask
from assay.linalg.ranks import average_ranks

LEVELS = 50
_FEWEST = 5
_WEIGHTS = (0.5, 0.3, 0.1, 0.1)
_TOGETHER = 1.0 / 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """One column looked at in several ways.

    Attributes:
        surprise: (looks, m + 1) for the tables as they are, then for each draw.
        scores: (n, looks) what is compared, NaN where a row has no value; a mean of both tables for each look.
        names: of the looks, such as "location" or a level; the last may be "together", which has no score.
    """

    surprise: Array
    scores: Array
    names: tuple[str, ...]

    @property
    def column(self) -> Array:
        """(m + 1,) the most surprising look."""
        return np.asarray(self.surprise.max(axis=0))

    @property
    def strongest(self) -> int:
        """The look by which the tables differ most; not that of all levels together."""
        return int(self.surprise[: self.scores.shape[1], 0].argmax())


def measured_looks(values: Array, second: Array, ends: float = 1.0) -> Looks:
    """The looks at a number.

    Args:
        values: (n,) NaN where missing.
        second: (n, m + 1) 1 for rows of the second table, as they are and by draws.
        ends: see `Exchange`.
    """
    present = np.isfinite(values)
    scores = np.full((len(values), len(_WEIGHTS)), np.nan)
    scores[present] = _legendre((average_ranks(values[present]) - 0.5) / max(present.sum(), 1))
    z = _differences(np.where(present[:, None], scores, 0.0), present, second)
    return Looks(_surprise(z, np.log(_WEIGHTS), ends), scores, ("location", "spread", "skew", "tails"))


def level_looks(codes: Array, names: tuple[str, ...], second: Array, ends: float = 1.0) -> Looks:
    """The looks at levels.

    Args:
        codes: (n,) number of the level of each row, NaN where missing.
        names: of the levels.
        second: (n, m + 1) 1 for rows of the second table, as they are and by draws.
        ends: see `Exchange`.
    """
    present = np.isfinite(codes)
    here = np.where(present, codes, -1.0).astype(np.intp)
    counts = np.bincount(here[present], minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    apart = [int(level) for level in order[:LEVELS] if counts[level] >= _FEWEST]
    rest = [int(level) for level in order if counts[level] and int(level) not in set(apart)]
    member = np.stack([here == level for level in apart] + ([np.isin(here, rest)] if rest else []), axis=1)
    called = [names[level] for level in apart]
    if rest:
        called.append(f"one of {len(rest)} rare levels" if len(rest) > 1 else names[rest[0]])
    if len(called) == 2:  # one tells the other
        member, called = member[:, 1:], called[1:]
    z, together = _deviances(member.astype(np.float64), present, second)
    scores = np.where(present[:, None], member, np.nan)
    if len(called) == 1:
        return Looks(_surprise(z, np.zeros(1), ends), scores, tuple(called))
    weight = np.full(len(called), np.log((1.0 - _TOGETHER) / len(called)))
    whole = _upper_surprise(together, ends) + np.log(_TOGETHER)
    return Looks(np.vstack([_surprise(z, weight, ends), whole]), scores, (*called, "together"))


def standard_errors(surprise: float) -> float:
    """How many standard errors are as surprising.

    >>> round(standard_errors(-float(log_ndtr(-2.0)) - float(np.log(2.0))), 6)
    2.0
    """
    return float(-ndtri_exp(min(-surprise - np.log(2.0), -np.log(2.0))))


def _legendre(u: Array) -> Array:
    """(n, 4) orthogonal polynomials of ranks from 0 to 1, of mean 0 and variance 1 among these rows."""
    x = 2.0 * u - 1.0
    basis = np.polynomial.legendre.legvander(x, len(_WEIGHTS))[:, 1:]
    basis = basis - basis.mean(axis=0)
    size = basis.std(axis=0)
    return np.asarray(np.divide(basis, size, out=np.zeros_like(basis), where=size > 1e-9))


def _differences(scores: Array, present: Mask, second: Array) -> Array:
    """(looks, m + 1) differences of means in standard errors of independent rows; 0 where a table has no value."""
    n, n_second = float(present.sum()), present.astype(np.float64) @ second
    both = (n_second > 0) & (n_second < n)
    error = np.sqrt(np.divide(n, n_second * (n - n_second), out=np.zeros_like(n_second), where=both))
    return np.asarray((scores.T @ second) * error * np.sqrt(max(n - 1.0, 1.0) / max(n, 1.0)))


def _deviances(member: Array, present: Mask, second: Array) -> tuple[Array, Array]:
    """(levels, m + 1) signed roots of 2 x 2 deviances, and (m + 1,) that of all levels together as a normal number."""
    n, totals = float(present.sum()), member.sum(axis=0)[:, None]
    n_second = (present.astype(np.float64) @ second)[None, :]
    share, inside = n_second / max(n, 1.0), member.T @ second
    own = _cells(inside, totals, share)
    rest = _cells(n_second - inside, n - totals, share)
    signed = np.sign(inside - totals * share) * np.sqrt(np.maximum(own + rest, 0.0))
    free = len(totals) - 1
    if free < 1:
        return signed, np.zeros(second.shape[1])
    cube = np.cbrt(np.maximum(own.sum(axis=0), 0.0) / free)
    return signed, (cube - (1.0 - 2.0 / (9.0 * free))) / np.sqrt(2.0 / (9.0 * free))


def _cells(inside: Array, totals: Array, share: Array) -> Array:
    """Twice the sum of observed log(observed / expected) over both tables."""
    outside = totals - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = xlogy(inside, inside / (totals * share)) + xlogy(outside, outside / (totals * (1.0 - share)))
    return np.asarray(2.0 * np.nan_to_num(terms, nan=0.0, posinf=0.0))


def _surprise(z: Array, log_weight: Array, ends: float) -> Array:
    """(looks, m + 1) -log of two-sided tails plus log weights; what dependent rows add to the spread of z is undone."""
    z = z / np.maximum(np.sqrt((z**2).mean(axis=1, keepdims=True)), 1.0)
    z[:, 0] /= ends
    return np.asarray(-log_ndtr(-np.abs(z)) - np.log(2.0) + log_weight[:, None])


def _upper_surprise(z: Array, ends: float) -> Array:
    z = z / max(float(np.sqrt((z**2).mean())), 1.0)
    z[0] /= ends
    return np.asarray(-log_ndtr(-z))
