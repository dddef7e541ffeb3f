"""Which components would shuffled columns not give: a permutation test, one component after another.

Permuting each column on its own keeps every margin (heavy tails, counts, ties) and breaks every dependence, so the top
eigenvalue of the permuted table is what chance gives for these very columns: the first step is exact. Columns that
belong together (indicators of one category) are permuted together, which keeps what they share by making. At step k the
first k sample components U S V' are taken out, and the noise behind them has to be drawn:

    E      = Z - U S V'                       residual: independent columns, seen through two projections
    psi    diag(P diag(psi) P) = var(E)       noise of each column before them, P = I - V V'
    draw   E*, columns permuted, scaled to psi; then (I - U U') E* (I - V V'), which takes away the same k rows' and
           k columns' worth of freedom that fitting the components took from the data
    p      (1 + #{top eigenvalue of the draw >= l_(k+1)}) / (1 + draws)

Draws stop as soon as p can no longer fall to level (Besag and Clifford), which leaves the decision as it is.

References:
    Dobriban and Owen, Deterministic parallel analysis, J. R. Stat. Soc. B 81 (2019).
    Besag and Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import scipy.linalg as sla
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import eigsh
from scipy.special import gammaincc

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.linalg.noise.column_noise import column_noise, identified
from assay.linalg.noise.monte_carlo import monte_carlo, rank_p
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import as_matrix

__all__ = ["PermutationPlan", "PermutedSpectrum", "permutation_plan", "permuted_spectrum", "tail_p"]


_DENSE = 300  # below, LAPACK finds one eigenvalue faster than ARPACK
_TAIL_DRAWS, _TAIL_FLOOR = 39, 1e-4  # where the tail fit was found calibrated, see docs/theory/spectrum-law.md
_TW1_SKEWNESS = 0.2935
_FEWEST_DRAWS, _MOST_DRAWS = 39, 199
_AT_ONCE = 512  # lines moved at once, so that their places stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class PermutedSpectrum:
    """A spectrum beside those of shuffled columns.

    Attributes:
        values: eigenvalues of the sample covariance, descending, (min(n, d),).
        p_values: for each, the chance of one as large given the real ones before it, never decreasing; beyond the
            first component that is not real, under the draws of that step; 1 where nothing is left to compare with.
        p_tail: the same with p below 1 / (draws + 1) read off a tail fitted to the draws, not below 1e-4.
        null: for each step taken, the top eigenvalues of its draws.
        n_real: how many components are real.
        draws: number of draws of each step.
        testable: False when there are not two columns and three rows that vary.
    """

    values: Array
    p_values: Array
    p_tail: Array
    null: tuple[Array, ...]
    n_real: int
    draws: tuple[int, ...]
    testable: bool


def permuted_spectrum(
    Z: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.05,
    n_max: int = _MOST_DRAWS,
    max_components: int | None = None,
    groups: ArrayLike | None = None,
    drawn: Callable[[np.random.Generator, int], NDArray[np.intp]] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> PermutedSpectrum:
    """Tell which components are larger than shuffled columns would give.

    Args:
        Z: table, (n, d); columns are centred here, and scaled by the caller if they should be.
        rng: source of the permutations.
        groups: (d,) labels; columns of one label, such as the indicators of a category, are shuffled together.
        drawn: gives so many times the (n,) row whose value each row gets, where rows depend on each other and not every
            order of them is as likely; any permutation if not given.
        level: level of each step of the sequence.
        n_max: most draws per step; at least 1 / level - 1.
        max_components: stop after so many real components.
        progress: called with (component, number of the draw) as each draw begins.

    Returns:
        The spectrum with its p-values.

    >>> rng = np.random.default_rng(0)
    >>> common = rng.standard_normal((100, 1))
    >>> found = permuted_spectrum(common + rng.standard_normal((100, 6)), rng=rng)
    >>> found.n_real, float(found.p_values[0])
    (1, 0.005)
    """
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level must be between 0 and 1, got {level}")
    if (1 + n_max) * level < 1.0:
        raise ParameterError(
            f"{n_max} draws cannot reach p <= {level}; n_max must be at least {np.ceil(1 / level) - 1:g}"
        )
    centred, scale = _centred(Z)
    n, d = centred.shape
    shuffle = _shuffle(groups, d, rng, drawn)
    left, singular, right_rows = sla.svd(centred, full_matrices=False, check_finite=False)
    right = right_rows.T
    values = singular**2 / (n - 1)
    values[values <= max(n, d) * np.finfo(np.float64).eps * values[0]] = 0.0
    steps = _steps(n, d, values, max_components)
    p_values, p_tail, null = np.ones(len(values)), np.ones(len(values)), []
    n_real = steps
    for k in range(steps):
        table = _noise_table(centred, left[:, :k], singular[:k], right[:, :k])
        told = None if progress is None else (lambda done, at=k: progress(at, done))
        with one_blas_thread():
            tops = _draws(table, left[:, :k], right[:, :k], values[k], shuffle, level, n_max, told)
        p_values[k:] = _monte_carlo_p(values[k:], tops)
        p_tail[k:] = tail_p(values[k:], tops, p_values[k:])
        null.append(tops * scale**2)
        if p_values[k] > level:
            n_real = k
            break
    else:
        p_values[steps:] = p_tail[steps:] = 1.0
    return PermutedSpectrum(
        values=values * scale**2,
        p_values=np.maximum.accumulate(p_values),
        p_tail=np.maximum.accumulate(p_tail),
        null=tuple(null),
        n_real=n_real,
        draws=tuple(len(tops) for tops in null),
        testable=steps > 0 or max_components == 0,
    )


class PermutationPlan(NamedTuple):
    """What a permutation test may cost: draws per component, 0 if it does not pay, and most components tested."""

    draws: int
    components: int


def permutation_plan(n: int, d: int, most: int | None = None) -> PermutationPlan:
    """How many draws and components fit into about twenty seconds, by the shape of the table alone.

    A step gets 199 draws if they take two seconds, fewer if not, and no test is made if 39 take more than four. The
    costs are 12 ns per cell to permute and 30 GFLOP/s for the products, as measured on one core.

    Args:
        n: rows.
        d: columns.
        most: draws; None for 199. The time that more of them may take grows with their number.

    >>> permutation_plan(440, 8), permutation_plan(181, 12533), permutation_plan(100_000, 1000)
    (PermutationPlan(draws=199, components=20), PermutationPlan(draws=47, components=10),
     PermutationPlan(draws=0, components=0))
    """
    small = min(n, d)
    top = 1.5e-8 * small**2 if small > _DENSE else 2.5e-10 * small**3
    seconds = 1.2e-8 * n * d + n * d * small / 3e10 + top
    if _FEWEST_DRAWS * seconds > 4.0:
        return PermutationPlan(0, 0)
    most = _MOST_DRAWS if most is None else most
    longer = max(1.0, most / _MOST_DRAWS)
    draws = int(np.clip(2.0 * longer / seconds, min(_FEWEST_DRAWS, most), most))
    return PermutationPlan(draws, int(np.clip(20.0 * longer / (draws * seconds), 5, 20)))


def _centred(Z: ArrayLike) -> tuple[Array, float]:
    """Columns centred, in units of the largest entry, so that squares neither overflow nor vanish."""
    table = as_matrix(Z, name="Z")
    if table.shape[0] < 2:
        raise DataError(f"a spectrum needs at least 2 rows, got {table.shape[0]}")
    centred = table - table.mean(axis=0)
    # What rounding leaves of a constant column is not a column.
    centred[:, np.ptp(table, axis=0) == 0.0] = 0.0
    scale = float(np.abs(centred).max())
    if scale > 1e150:
        raise DataError(f"entries up to {scale:.3g} overflow when squared; divide the columns by their spread")
    return (centred / scale, scale) if scale > 0.0 else (centred, 1.0)


def _steps(n: int, d: int, values: Array, max_components: int | None) -> int:
    """How many components can be tested: rank, freedom left in rows and columns, Ledermann's bound."""
    moving = int(np.count_nonzero(values))
    if moving == 0 or d < 2:
        return 0
    limit = min(moving, n - 2, d - 1)
    limit = next((k for k in range(limit) if not identified(d, k)), limit)
    return max(limit if max_components is None else min(limit, max_components), 0)


def _noise_table(centred: Array, left: Array, singular: Array, right: Array) -> Array:
    """The residual with each column at its own noise level, one column per row, (d, n), free to be permuted."""
    n, k = left.shape
    residual = centred.T - (right * singular) @ left.T
    spread = np.einsum("ij,ij->i", residual, residual) / (n - 1 - k)
    total = np.einsum("ij,ij->j", centred, centred) / (n - 1 - k)
    psi = column_noise(spread, right, total)
    wanted = psi * (n - 1) / (n - 1 - k)
    factor = np.sqrt(np.divide(wanted, spread, out=np.zeros_like(spread), where=spread > 0.0))
    return np.ascontiguousarray(residual * factor[:, None])


def _shuffle(
    groups: ArrayLike | None,
    d: int,
    rng: np.random.Generator,
    drawn: Callable[[np.random.Generator, int], NDArray[np.intp]] | None,
) -> Callable[[Array], None]:
    """How a (d, n) table is shuffled in place: each line on its own, lines of one group together."""
    if groups is None and drawn is None:
        return lambda table: cast("None", rng.permuted(table, axis=1, out=table))
    labels = np.arange(d) if groups is None else np.asarray(groups)
    if labels.shape != (d,):
        raise ParameterError(f"groups has one label for each of the {d} columns; got shape {labels.shape}")
    _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    single = np.flatnonzero(sizes[numbers] == 1)
    several = [np.flatnonzero(numbers == g) for g in np.flatnonzero(sizes > 1)]
    if drawn is not None:

        def move(table: Array) -> None:
            orders = drawn(rng, len(sizes))
            for start in range(0, d, _AT_ONCE):
                lines = table[start : start + _AT_ONCE]
                begins = lines.shape[1] * np.arange(len(lines))[:, None]
                # by places in all lines, which takes a third of the time of places in each
                lines[:] = lines.ravel().take(orders[numbers[start : start + _AT_ONCE]] + begins)

        return move

    def shuffle(table: Array) -> None:
        table[single] = rng.permuted(table[single], axis=1)
        for group in several:
            table[group] = table[group][:, rng.permutation(table.shape[1])]

    return shuffle


def _draws(
    table: Array,
    left: Array,
    right: Array,
    value: float,
    shuffle: Callable[[Array], None],
    level: float,
    n_max: int,
    told: Callable[[int], object] | None,
) -> Array:
    """Top eigenvalues of permuted tables, until n_max or until p cannot fall to level."""

    def draw() -> float:
        shuffle(table)
        return _top_eigenvalue(_projected_gram(table, left, right)) / float(table.shape[1] - 1)

    drawn = monte_carlo(
        range(n_max),
        lambda some: [draw() for _ in some],
        [1] * n_max,
        reaches=lambda top: bool(_reaches(top, value)),
        enough=int(level * (1 + n_max)),  # one more than may reach it for (1 + reached) / (1 + n_max) <= level
        progress=told,
    )
    return np.array(drawn.values)


def _projected_gram(table: Array, left: Array, right: Array) -> Array:
    """Gram matrix, on the smaller side, of (I - U U') E* (I - V V') for the transposed table E*'."""
    d, n = table.shape
    if d <= n:
        gram, inner, outer = table @ table.T, table @ left, right
    else:
        gram, inner, outer = table.T @ table, table.T @ right, left
    if left.shape[1] == 0:
        return gram
    gram = gram - inner @ inner.T
    crossed = gram @ outer
    return np.asarray(gram - crossed @ outer.T - outer @ crossed.T + outer @ (outer.T @ crossed) @ outer.T)


def _top_eigenvalue(gram: Array) -> float:
    if len(gram) <= _DENSE:
        return float(np.linalg.eigvalsh(gram)[-1])
    start = gram[:, int(np.argmax(np.diagonal(gram)))]
    return float(eigsh(gram, k=1, which="LA", v0=start, tol=1e-8, return_eigenvectors=False)[0])


def _reaches(tops: Array | float, value: Array | float) -> NDArray[np.bool_]:
    # Discrete columns give exact ties up to rounding: they count as reached.
    return np.asarray(tops >= np.asarray(value) * (1.0 - 1e-9))


def _monte_carlo_p(values: Array, tops: Array) -> Array:
    exceeding = _reaches(tops[None, :], values[:, None]).sum(axis=1)
    return np.array([rank_p(int(some), len(tops)) for some in exceeding])


def tail_p(values: Array, tops: Array, p_values: Array) -> Array:
    """P beyond the draws by a shifted gamma law with their mean, spread and skewness.

    Tracy-Widom itself is close to such a law; columns with heavy tails give more skewness, and an estimate from few
    draws errs either way, so two standard errors are added to it.

    Args:
        values: (k,) of the data.
        tops: (m,) of the draws; fewer than 39 tell nothing of a tail.
        p_values: (k,) their ranks among the draws, as shares.
    """
    beyond = p_values * (1 + len(tops)) < 1.5
    spread = float(tops.std(ddof=1)) if len(tops) > 1 else 0.0
    if len(tops) < _TAIL_DRAWS or not beyond.any() or spread <= 1e-12 * float(tops.max()):
        return p_values.copy()
    skewness = max(_skewness(tops), _TW1_SKEWNESS) + 2.0 * np.sqrt(6.0 / len(tops))
    shape = 4.0 / skewness**2  # (G - shape) / sqrt(shape) of a gamma variable G has this skewness, 2 / sqrt(shape)
    reached = (values - tops.mean()) / spread
    tail = gammaincc(shape, np.maximum(shape + reached * np.sqrt(shape), 0.0))
    return np.where(beyond, np.minimum(np.maximum(tail, _TAIL_FLOOR), p_values), p_values)


def _skewness(x: Array) -> float:
    """Sample skewness, corrected for its bias under a normal law."""
    m = len(x)
    z = (x - x.mean()) / x.std()
    return float(np.mean(z**3) * np.sqrt(m * (m - 1)) / (m - 2))
