"""Which components of a spectrum would chance not give: the random-matrix law, one component after another.

    summary  sample eigenvalues l_1 >= l_2 >= ..., nu = n - 1 degrees of freedom, d columns
    step k   given k real components, the rest is noise of nu - k degrees of freedom in d - k dimensions
    test     u = l_(k+1) / noise against the law of the top eigenvalue of such noise; stop at the first p > level
    reading  how many are real, noise level, de-biased variances, expected alignment of each direction

References:
    Johnstone, On the distribution of the largest eigenvalue in principal components analysis, Ann. Stat. 29 (2001).
    Kritchman and Nadler, Determining the number of components in a factor model from limited noisy data,
    Chemometr. Intell. Lab. Syst. 94 (2008).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.linalg.noise.column_noise import column_noise, identified, matching_flat_noise, most_column_noise
from assay.linalg.noise.marchenko_pastur import (
    MarchenkoPastur,
    debias,
    marchenko_pastur,
    spike_alignment,
    spike_eigenvalue,
)
from assay.linalg.noise.spike_direction import direction_alignment
from assay.linalg.noise.tracy_widom import WhiteNoise, top_quantile, top_tail

__all__ = [
    "MarchenkoPastur",
    "RealComponents",
    "SpectrumLaw",
    "debias",
    "marchenko_pastur",
    "real_components",
    "spectrum_law",
    "spike_alignment",
    "spike_eigenvalue",
]

NullName = Literal["flat", "bounded", "columns"]


@dataclass(frozen=True, slots=True, eq=False)
class SpectrumLaw:
    """A spectrum beside the law of chance.

    Attributes:
        noise: variance of the noise, the mean over the dimensions that are not real components.
        gamma: columns per degree of freedom, d / (n - 1).
        lower, upper: edges of the bulk of noise, the real components taken out.
        threshold: the eigenvalue at which the next component would have been called real; inf if none could be.
        chance_median, chance_upper: for each component tested, the median of its null and the value that chance
            exceeds with probability level; one NaN each where nothing could be tested.
        p_values: for each eigenvalue, the chance of one as large given the real ones before it, never decreasing;
            beyond the first component that is not real, under the noise left by the real ones.
        n_real: how many components are real.
        debiased: population variances, (len(values),): spikes de-biased, the bulk at the noise level.
        alignment: expected squared cosine of each component with its population direction, see `spike_direction`; 0 in
            the bulk.
        testable: False when there are not two dimensions to compare.
        null: "flat" (equal noise), "bounded" (a correlation matrix without vectors), "columns" (noise per column).
    """

    noise: float
    gamma: float
    lower: float
    upper: float
    threshold: float
    chance_median: Array
    chance_upper: Array
    p_values: Array
    n_real: int
    debiased: Array
    alignment: Array
    testable: bool
    null: NullName


def spectrum_law(
    values: ArrayLike,
    n: int,
    d: int,
    *,
    level: float = 0.05,
    correlation: bool = False,
    vectors: ArrayLike | None = None,
    max_components: int | None = None,
) -> SpectrumLaw:
    """Tell which components are larger than noise would give.

    The null is equal noise in every direction left. Columns that were standardised do not obey it once a strong
    component is out: for them give the vectors, and the null is independent columns, each with its own noise; without
    vectors, `correlation=True` takes the worst case, in which no column has more noise than its variance.

    Args:
        values: eigenvalues of the sample covariance (or correlation) matrix, scatter / (n - 1), descending: all of
            them, or all that are not 0.
        n: rows, centred by their mean.
        d: columns.
        level: level of each step of the sequence.
        correlation: the values are those of a correlation matrix (all columns scaled to the same variance).
        vectors: the eigenvectors as columns, (d, len(values)).
        max_components: stop after so many real components.

    Returns:
        The law beside the spectrum.

    >>> law = spectrum_law([4.0, 1.1, 1.05, 0.95, 0.9], n=200, d=5)
    >>> law.n_real, round(law.noise, 3), bool(law.p_values[1] > 0.5)
    (1, 1.007, True)
    """
    given, scale = _checked(values, n, d, level)
    nu, columns, dims = _effective(given, n - 1, d)
    if vectors is not None:
        null: NullName = "columns"
        step = _column_steps(given, _checked_vectors(vectors, d, len(given)), n - 1, column_noise)
        limit = _identified_steps(d, dims)
    elif correlation:
        null, step, limit = "bounded", _bounded_steps(given, nu, columns), dims - 1
    else:
        null, step, limit = "flat", _flat_steps(given, nu, columns), dims - 1
    limit = limit if max_components is None else min(limit, max_components)
    p_values, n_real, points = _sequence(given, step, limit, level)
    chance = np.array(points or [(np.nan, np.nan)]) * scale
    noise, debiased = _population(given, nu, columns, n_real)
    alignment = np.zeros(len(given))
    alignment[:n_real] = direction_alignment(given, nu, columns, n_real)
    behind = step(n_real) if null == "columns" and n_real < limit else None
    # the bulk of equal noise, or of the equal noise that has the edge of noise that differs from column to column
    bulk = behind or WhiteNoise(noise * (nu - n_real) / nu, nu - n_real, columns - n_real, hollow=False)
    ratio = np.sqrt(bulk.columns / bulk.rows) if bulk.rows > 0.0 else 0.0
    return SpectrumLaw(
        noise=noise * scale,
        gamma=d / (n - 1),
        lower=float(bulk.scale * scale * (1.0 - ratio) ** 2),
        upper=float(bulk.scale * scale * (1.0 + ratio) ** 2),
        threshold=float(chance[-1, 1]) if len(points) > n_real else np.inf,
        chance_median=chance[:, 0],
        chance_upper=chance[:, 1],
        p_values=p_values,
        n_real=n_real,
        debiased=debiased * scale,
        alignment=alignment,
        testable=limit > 0,
        null=null,
    )


class RealComponents(NamedTuple):
    """How many components are larger than noise would give, and what is behind them: see `SpectrumLaw`."""

    n_real: int
    noise: float
    debiased: Array


def real_components(values: ArrayLike, n: int, d: int, *, vectors: ArrayLike, level: float = 0.05) -> RealComponents:
    """Count the components of independent columns, each with its own noise, as `spectrum_law` does, without p-values.

    A component that stands out of the most noise that columns can have stands out of theirs; the noise itself, which
    takes most of the time where columns are many, is worked out only where that leaves the answer open.

    Args:
        values, n, d, vectors, level: as for `spectrum_law`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20)) + 2.0 * rng.standard_normal((100, 1))
    >>> R = np.corrcoef(X, rowvar=False)
    >>> values, vectors = np.linalg.eigh(R)
    >>> real_components(values[::-1], 100, 20, vectors=vectors[:, ::-1]).n_real
    1
    """
    given, scale = _checked(values, n, d, level)
    nu, columns, dims = _effective(given, n - 1, d)
    axes = _checked_vectors(vectors, d, len(given))
    limit = _identified_steps(d, dims)
    steps = [_column_steps(given, axes, n - 1, how) for how in (most_column_noise, column_noise)]

    def stands_out(k: int) -> bool:
        found = (step(k) for step in steps)
        return any(noise is not None and top_tail(given[k : k + 1] / noise.scale, noise)[0] <= level for noise in found)

    n_real = next((k for k in range(limit) if not stands_out(k)), max(limit, 0))
    noise, debiased = _population(given, nu, columns, n_real)
    return RealComponents(n_real, noise * scale, debiased * scale)


def _identified_steps(d: int, dims: int) -> int:
    return next((k for k in range(dims - 1) if not identified(d, k)), dims - 1)


def _sequence(
    values: Array, step: Callable[[int], WhiteNoise | None], limit: int, level: float
) -> tuple[Array, int, list[tuple[float, float]]]:
    """P of each component, number of real ones, and for each tested one the median and the level point of its null."""
    p_values = np.ones(len(values))
    points: list[tuple[float, float]] = []
    for k in range(limit):
        noise = step(k)
        if noise is None:
            limit = k
            break
        points.append((noise.scale * top_quantile(0.5, noise), noise.scale * top_quantile(level, noise)))
        p_values[k:] = top_tail(values[k:] / noise.scale, noise)
        p_values = np.maximum.accumulate(p_values)
        if p_values[k] > level:
            return p_values, k, points
    p_values[max(limit, 0) :] = 1.0
    return p_values, max(limit, 0), points


def _flat_steps(values: Array, nu: int, d: int) -> Callable[[int], WhiteNoise | None]:
    def step(k: int) -> WhiteNoise | None:
        rest = values[k:].sum()
        return WhiteNoise(rest / (d - k), nu - k, d - k, hollow=False) if rest > 0.0 else None

    return step


def _bounded_steps(values: Array, nu: int, d: int) -> Callable[[int], WhiteNoise | None]:
    """The worst noise behind k components of a correlation matrix: full in some columns, none in the others."""
    unit = values.sum() / d

    def step(k: int) -> WhiteNoise | None:
        scale = unit * (nu - k) / nu
        rest = values[k:].sum()
        columns = min(rest / scale, d - k) if k else d
        return WhiteNoise(scale, nu - k, columns, hollow=True) if rest > 0.0 else None

    return step


def _column_steps(
    values: Array, vectors: Array, nu: int, noise_of: Callable[[Array, Array, Array], Array]
) -> Callable[[int], WhiteNoise | None]:
    squares = vectors**2
    total = squares @ values

    def step(k: int) -> WhiteNoise | None:
        left = squares[:, k:] @ values[k:] * (nu / (nu - k))
        if not left.any():
            return None
        if len(total) == 2:
            # Two columns: 1 - r^2 = l_1 l_2 / (c_11 c_22), and the correlation matrix has 1 + |r| on top.
            r2 = 1.0 - (values[0] / total[0]) * (values[-1] / total[1]) if len(values) == 2 and total.all() else 0.0
            return WhiteNoise(values[0] / (1.0 + np.sqrt(max(r2, 0.0))), nu, 2, hollow=True)
        psi = noise_of(left, vectors[:, :k], total * (nu / (nu - k)))
        weights = np.clip(1.0 - squares[:, :k].sum(axis=1), 0.0, 1.0)
        scale, columns = matching_flat_noise(psi, weights, nu - k)
        return WhiteNoise(scale * (nu - k) / nu, nu - k, columns, hollow=True)

    return step


def _population(values: Array, nu: int, d: int, k: int) -> tuple[float, Array]:
    """Noise level and population variances, given k spikes.

    The noise is that which keeps the trace (Kritchman and Nadler): trace = (d - k) noise + sum noise (1 + b_j), with
    b_j the de-biased l_j at this very noise.
    """
    trace, gamma = float(values.sum()), (d - k) / nu
    noise = float(values[k:].sum()) / (d - k)
    spikes = values[:k].copy()
    for _ in range(100 if noise > 0.0 else 0):
        excess = np.maximum(debias(values[:k], gamma, noise), np.sqrt(gamma))
        spikes = np.minimum(noise * (1.0 + excess), values[:k])
        update = (trace - float(spikes.sum())) / (d - k)
        if abs(update - noise) <= 1e-13 * noise:
            break
        noise = update
    bulk = np.where(np.arange(k, len(values)) < d, noise, 0.0)
    return noise, np.concatenate([spikes, bulk])


def _effective(values: Array, nu: int, d: int) -> tuple[int, int, int]:
    """Degrees of freedom, columns and dimensions with exact constraints left out.

    Zero eigenvalues of a minority of directions are constraints (a column that is the sum of others, a row given
    twice), not noise; when they are the majority, the noise itself is zero and they stay.
    """
    dims = min(nu, d)
    rank = int(np.count_nonzero(values))
    zeros = max(dims - rank, 0)
    if rank == 0:
        return nu, d, 0
    if zeros < rank:
        dims -= zeros
        return (nu, d - zeros, dims) if d <= nu else (nu - zeros, d, dims)
    return nu, d, dims


def _checked(values: ArrayLike, n: int, d: int, level: float) -> tuple[Array, float]:
    """Values in units of the largest (so that 1e-300 and 1e300 are as good as 1), rounding noise set to 0."""
    if n < 2 or d < 1:
        raise ParameterError(f"a spectrum needs n >= 2 rows and d >= 1 columns, got n={n}, d={d}")
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level must be between 0 and 1, got {level}")
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not 1 <= array.size <= d:
        raise DataError(f"values must be 1 to d={d} eigenvalues in a row, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise DataError(f"eigenvalues must be finite, got {array[~np.isfinite(array)][0]}; check the data for NaN")
    top = float(array[0])
    if np.any(np.diff(array) > 0.0):
        raise DataError("eigenvalues must be descending; sort them, largest first")
    noise_floor = max(n, d) * np.finfo(np.float64).eps
    if top < 0.0 or array[-1] < -10.0 * noise_floor * top:
        raise DataError(f"eigenvalues of a covariance are 0 or more, got {array[-1]:g}; check how it was made")
    if top == 0.0:
        return np.zeros(array.size), 1.0
    scaled = array / top
    scaled[scaled <= noise_floor] = 0.0
    # More non-zero values than degrees of freedom cannot be: centring takes one away.
    scaled[min(n - 1, d) :] = 0.0
    return scaled, top


def _checked_vectors(vectors: Any, d: int, count: int) -> Array:
    array = np.asarray(vectors, dtype=np.float64)
    if array.shape != (d, count):
        raise DataError(f"vectors must have one column per eigenvalue, shape ({d}, {count}), got {array.shape}")
    if not np.isfinite(array).all():
        raise DataError("vectors must be finite; check the data for NaN")
    return array
