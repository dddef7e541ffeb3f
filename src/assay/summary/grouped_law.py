"""What chance does to the axes of columns that come in groups, such as indicators of categories, known without rows.

Each group of columns is uncorrelated within itself by making, so correlations R (d, d) have identity blocks on their
diagonal and all that can be found lies between groups. Of independent groups with many rows, every block between two of
them times sqrt(n) has independent standard normal entries: of two categories n |R_12|^2 is their chi-square. Chance is
drawn so for any number of groups: normal rows, made uncorrelated within each group again. Behind the first k axes

    R_k = sum_{j <= k} l_j v_j v_j' + D,    D block diagonal, such that each group has its identity block

is drawn and its (k + 1)-th eigenvalue held against that of the data; the first axis that falls, or whose variance is
not above 1, that of one group alone, ends the chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.linalg.monte_carlo import Drawn, monte_carlo
from assay.summary.noisy_chance import wishart

Array: TypeAlias = NDArray[np.float64]

_DRAWS = 199
_LEAST = 1e-6  # of a unit variance: what a direction of a group keeps for itself at least


@dataclass(frozen=True, slots=True, eq=False)
class GroupedLaw:
    """What chance does to each tested eigenvalue.

    Attributes:
        p_values: (t,) chance of one as large, given those before; never decreasing.
        upper: (t,) what chance exceeds with probability alpha.
        n_real: leading axes with p <= alpha.
        draws: (t,) how many were made.
    """

    p_values: Array
    upper: Array
    n_real: int
    draws: tuple[int, ...]


def grouped_law(
    values: Array,
    vectors: Array,
    groups: NDArray[np.intp],
    n: int,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    n_max: int = _DRAWS,
    max_components: int | None = None,
) -> GroupedLaw:
    """Tell which axes are larger than independent groups of columns would give.

    Args:
        values: (m,) eigenvalues of the correlations between the columns, descending; columns of one group are
            uncorrelated and have variance 1.
        vectors: (d, m) their axes.
        groups: (d,) label of each column.
        n: rows, more than d.
        rng: of the draws.
        alpha: level of each step.
        n_max: most draws of each step.
        max_components: stop after so many axes.

    >>> R = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    >>> values, vectors = np.linalg.eigh(R)
    >>> found = grouped_law(values[::-1], vectors[:, ::-1], np.array([0, 0, 1]), 100, rng=np.random.default_rng(0))
    >>> found.n_real, float(found.p_values[0])
    (1, 0.005)
    """
    members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    most = min(sharing(values), len(groups) - max(map(len, members)), n - 2)
    most = max(most if max_components is None else min(most, max_components), 0)
    p, upper, draws = [], [], []
    for k in range(most):
        drawn = _drawn(_root(values[:k], vectors[:, :k], members), members, k, float(values[k]), n, rng, alpha, n_max)
        tops = np.array(drawn.values)
        p.append(drawn.p)
        upper.append(float(np.quantile(tops, 1.0 - alpha, method="higher")))
        draws.append(len(tops))
        if p[-1] > alpha:
            break
    running = np.maximum.accumulate(np.array(p)) if p else np.empty(0)
    return GroupedLaw(running, np.array(upper), int((running <= alpha).sum()), tuple(draws))


def sharing(values: Array) -> int:
    """How many axes share something between groups: an axis of one group alone has variance 1.

    >>> sharing(np.array([1.8, 1.1, 1.0, 0.4]))
    2
    """
    return int((values > 1.0 + 1e-9).sum())


def _drawn(
    root: Array,
    members: list[NDArray[np.intp]],
    k: int,
    value: float,
    n: int,
    rng: np.random.Generator,
    alpha: float,
    n_max: int,
) -> Drawn[float]:
    """Eigenvalues k, counted from 0, of draws, until n_max or until p cannot fall to alpha."""

    def eigenvalue() -> float:
        S = root @ wishart(n - 1, len(root), rng) @ root.T / (n - 1)
        return float(np.linalg.eigvalsh(apart(S, members))[-1 - k])

    return monte_carlo(
        range(n_max),
        lambda some: [eigenvalue() for _ in some],
        [1] * n_max,
        reaches=lambda top: top >= value * (1.0 - 1e-9),
        enough=int(alpha * (1 + n_max)),
    )


def _root(values: Array, vectors: Array, members: list[NDArray[np.intp]]) -> Array:
    """A root of R_k."""
    R = (vectors * values) @ vectors.T
    for group in members:
        own, V = np.linalg.eigh(np.eye(len(group)) - R[np.ix_(group, group)])
        R[np.ix_(group, group)] += (V * np.maximum(own, _LEAST)) @ V.T
    return np.asarray(np.linalg.cholesky(R), dtype=np.float64)


def apart(S: Array, members: list[NDArray[np.intp]]) -> Array:
    """Correlations of columns made uncorrelated within each group, with variance 1, (d, d).

    Args:
        S: (d, d) their covariance.
        members: the columns of each group.
    """
    W = np.zeros_like(S)
    for group in members:
        values, V = np.linalg.eigh(S[np.ix_(group, group)])
        W[np.ix_(group, group)] = V / np.sqrt(np.maximum(values, _LEAST * values[-1]))
    found: Array = W.T @ S @ W
    return found
