"""Mean and covariance of rows with missing values, by maximum likelihood.

    maximise   l(mu, S) = sum_i log N(x_i,o | mu_o, S_oo) - n ridge tr(S^-1) / 2       o: what row i has observed
    E step     e_i = E[z_i | observed] - mu,  scatter T = sum_i e_i e_i^T + C_i          (see expectation.py)
    M step     mu + mean e,   S = T / n - (mean e)(mean e)^T + ridge I

in columns standardised by their observed means and standard deviations. Each step is a map-reduce of T (d, d) over
blocks and never lowers l; slow climbs are shortened by jumps (optimize.em). The estimate is right if values are
missing at random: whether one is missing may depend on what is observed, not on the missing value itself.

References: Dempster, Laird & Rubin 1977; Little & Rubin, Statistical Analysis with Missing Data, 2019, chapter 11.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.errors import DataError, NotConverged, ParameterError, SingularError
from assay.linalg import double_double as dd
from assay.linalg.normal.completion import Law
from assay.linalg.normal.multivariate_normal import MultivariateNormal
from assay.linalg.one_thread import one_blas_thread
from assay.optimize.em import Climb, EMStep, climb, geometric_rest
from assay.summary.incomplete.expectation import Expected, Frame, GappedTable
from assay.summary.incomplete.missing_patterns import Observed
from assay.summary.moments.moments import Moments

# Mean (d,) and covariance (d, d).
Point: TypeAlias = tuple[Array, Array]

# Relative to the objective: what the condition of a covariance with a ridge of 1e-8 makes of machine precision.
_ROUNDING = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class NormalEM:
    """The normal law that makes the observed values most likely.

    Attributes:
        mean: (d,).
        covariance: (d, d), divisor n, the ridge included.
        log_likelihood: (k,) of the observed values after each step kept, in nats; constant columns do not count.
        objective: (k,) the same less the penalty of the ridge; this is what never falls.
        n_iter: steps made, those taken back included.
        converged: whether what is still to be gained is at most tol for each row.
        n_rows: rows read.
        wholly_missing: rows without any value; they have no influence.
        wholly_missing_rows: numbers (from 0) of the first 100 of these.
        patterns: different sets of missing values met, counted up to 65,536.
        missing: (d,) missing values of each column.
        moments: expected count, mean and scatter, from which every model with `fit_moments` can fit. Their
            uncertainty is that of complete data: tests that count rows are too sure of themselves.
        spread: (d,) standard deviations of the observed values, whose squares the ridge is a share of; 0 if constant.
    """

    mean: Array
    covariance: Array
    log_likelihood: Array
    objective: Array
    n_iter: int
    converged: bool
    n_rows: int
    wholly_missing: int
    wholly_missing_rows: tuple[int, ...]
    patterns: int
    missing: NDArray[np.int64]
    moments: Moments
    spread: Array

    @property
    def normal(self) -> MultivariateNormal:
        """The law itself."""
        return MultivariateNormal(self.mean, self.covariance)


def normal_em(
    data: Any,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    ridge: float = 1e-8,
    start: MultivariateNormal | None = None,
    columns: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> NormalEM:
    """Estimate mean and covariance from rows with missing values: what would they be, had all been observed?

    Args:
        data: (n, d) array, data frame, `Source` or list of blocks, with NaN where values are missing. It is read at
            least twice, and in every step where most rows have gaps of their own and are too many to hold (256 MB).
        max_iter: steps at most; stopping there warns (NotConverged).
        tol: stop when the log-likelihood still to be gained, extrapolated from the last rises, is at most this for
            each row.
        ridge: added to the variance of each column, as a share of its observed variance. It keeps the likelihood
            bounded where columns depend on each other or rows are few; 0 gives the pure likelihood and refuses those,
            infinity makes columns independent, with their observed means and variances.
        start: where to begin; default: observed means and variances, no correlation.
        columns: names; taken from the data where they have some.
        threads: workers; the result does not depend on it.
        progress: called with the number of steps made. Raise in it to stop.

    Returns:
        NormalEM.

    >>> X = [[1.0, 2.0], [2.0, 4.1], [3.0, 5.9], [4.0, np.nan]]
    >>> normal_em(X).mean.round(2)
    array([2.5 , 4.97])
    """
    _check(max_iter, tol, ridge)
    if isinstance(data, Iterator):
        raise DataError(
            "the rows are read several times, but a one-way iterator can be read only once: give an array, a Source "
            "or a list of blocks"
        )
    blocks = float_blocks(data)
    seen = Observed.of(blocks, columns=columns, threads=threads)
    seen.refuse_empty()
    seen.refuse_extreme()
    frame = Frame.of(seen)
    if not len(frame.active) or np.isinf(ridge):
        return _independent(seen, frame)
    with one_blas_thread():
        table = GappedTable.of(blocks, seen, frame, threads)
        likelihood = _Likelihood(table, seen, ridge, threads)
        ended = climb(
            likelihood.step,
            _start(start, frame, ridge),
            max_iter=max_iter,
            tol=tol * table.rows,
            left=_nothing if likelihood.complete else geometric_rest,
            jumps=True,
            rounding=_ROUNDING,
            progress=progress,
        )
    if not ended.converged:
        warnings.warn(
            f"EM stopped after {ended.n_iter} steps with {_amount(ended.left / table.rows)} of log-likelihood for each "
            f"row still to be gained (tol={tol:g}): raise max_iter, or ridge if rows are few or columns depend",
            NotConverged,
            stacklevel=2,
        )
    return _result(ended, seen, frame, table.rows)


@dataclass(frozen=True, slots=True, eq=False)
class _NormalStep(EMStep[Point]):
    """One evaluation.

    Attributes:
        scatter: (d, d) expected scatter about the mean of `next`.
    """

    scatter: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Likelihood:
    """The penalised likelihood of one table, and the EM step on it.

    Attributes:
        table: the rows.
        seen: what is observed of their columns.
        ridge: of the penalty.
        threads: workers.
    """

    table: GappedTable
    seen: Observed
    ridge: float
    threads: int | None

    @property
    def complete(self) -> bool:
        """Whether nothing is missing in the columns that vary."""
        active = self.table.frame.active
        return int(self.seen.count[active].sum()) == self.table.rows * len(active)

    def step(self, point: Point) -> _NormalStep:
        """One pass over the table."""
        mean, covariance = point
        try:
            law = Law.of(covariance)
            found = self.table.expected(mean, law, self.threads)
        except (SingularError, np.linalg.LinAlgError) as error:
            raise SingularError(
                "the covariance becomes singular: columns depend on each other, or rows are too few; "
                f"give a ridge such as 1e-8 ({error})"
            ) from None
        offset = found.total / found.rows
        scatter = found.scatter - np.multiply.outer(found.total, offset)
        scatter = (scatter + scatter.T) / 2.0
        value = self._log_likelihood(found, law)
        penalty = 0.5 * found.rows * self.ridge * float(np.trace(law.precision))
        following = scatter / found.rows + self.ridge * np.eye(len(mean))
        return _NormalStep(point, value, value - penalty, (mean + offset, following), scatter)

    def _log_likelihood(self, found: Expected, law: Law) -> float:
        frame = self.table.frame
        counts = self.seen.count[frame.active]
        observed = int(counts.sum())
        missing = found.rows * len(counts) - observed
        # tr(P sum (e e^T + C)) is the sum of the quadratic forms of the observed, and one for each missing value
        quadratic = float(np.sum(law.precision * found.scatter)) - missing
        units = float(counts @ np.log(frame.scale))
        return -0.5 * (observed * float(np.log(2.0 * np.pi)) + found.log_determinant + quadratic) - units


def _nothing(rises: Array) -> float:
    """What is left to gain after one step where the M step does not depend on where it begins."""
    return 0.0


def _amount(left: float) -> str:
    return f"about {left:.2g}" if np.isfinite(left) else "an unknown amount"


def _start(start: MultivariateNormal | None, frame: Frame, ridge: float) -> Point:
    k = len(frame.active)
    if start is None:
        return np.zeros(k), np.eye(k)
    if start.d <= int(frame.active[-1]):
        raise ParameterError(f"start must have as many columns as the data; it has {start.d}")
    S = start.covariance[np.ix_(frame.active, frame.active)] / frame.scale / frame.scale[:, None]
    return (start.mean[frame.active] - frame.centre) / frame.scale, S + ridge * np.eye(k)


def _result(ended: Climb[_NormalStep], seen: Observed, frame: Frame, rows: int) -> NormalEM:
    (mean, covariance), grid = ended.last.at, np.ix_(frame.active, frame.active)
    scale = frame.scale
    centre, S, scatter = seen.mean.copy(), np.zeros((seen.d, seen.d)), np.zeros((seen.d, seen.d))
    low = np.zeros(seen.d)
    centre[frame.active], low[frame.active] = dd.two_sum(frame.centre, scale * mean)
    S[grid] = scale[:, None] * covariance * scale
    scatter[grid] = scale[:, None] * ended.before.scatter * scale
    moments = Moments(rows, dd.pair(float(rows)), (centre, low), dd.pair(scatter), seen.columns)
    traces = np.stack([ended.log_likelihoods, ended.objectives])
    return _report(seen, centre, S, moments, traces, ended.n_iter, ended.converged)


def _independent(seen: Observed, frame: Frame) -> NormalEM:
    """What an infinite ridge leaves of the law; a point where every column is constant."""
    rows, counts = seen.rows - seen.wholly_missing, seen.count[frame.active]
    variance = np.zeros(seen.d)
    variance[frame.active] = frame.scale**2
    S = np.diag(variance)
    moments = Moments(rows, dd.pair(float(rows)), dd.pair(seen.mean), dd.pair(rows * S), seen.columns)
    value = -float(counts @ (0.5 * (np.log(2.0 * np.pi) + 1.0) + np.log(frame.scale)))
    return _report(seen, seen.mean, S, moments, np.full((2, 1), value), 0, True)


def _report(
    seen: Observed, mean: Array, S: Array, moments: Moments, traces: Array, n_iter: int, converged: bool
) -> NormalEM:
    return NormalEM(
        mean,
        S,
        traces[0],
        traces[1],
        n_iter,
        converged,
        seen.rows,
        seen.wholly_missing,
        seen.wholly_missing_rows,
        len(seen.patterns),
        seen.missing,
        moments,
        np.where(seen.low < seen.high, seen.spread, 0.0),
    )


def _check(max_iter: int, tol: float, ridge: float) -> None:
    if isinstance(max_iter, bool) or not isinstance(max_iter, (int, np.integer)) or max_iter < 1:
        raise ParameterError(f"max_iter is a whole number of steps, at least 1; got {max_iter!r}")
    if not (np.isfinite(tol) and tol >= 0.0):
        raise ParameterError(f"tol is a number >= 0; got {tol!r}")
    if not ridge >= 0.0:
        raise ParameterError(f"ridge is a number >= 0; got {ridge!r}")
