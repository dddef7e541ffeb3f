"""What chance does to the axes of columns that come in groups, such as indicators of categories, known without rows.

Each group of columns is uncorrelated within itself by making, so correlations R (d, d) have identity blocks on their
diagonal and all that can be found lies between groups. Of independent groups with many rows, every block between two of
them times sqrt(n) has independent standard normal entries: of two categories n |R_12|^2 is their chi-square. Chance is
drawn so for any number of groups: normal rows, made uncorrelated within each group again. Behind the first k axes

    R_k = L L' + D,    L (d, k) the best fit of the blocks between groups, D what groups need for identity blocks

is drawn and its (k + 1)-th eigenvalue held against that of the data; the first axis that falls, or whose variance is
not above 1, that of one group alone, ends the chain. The first k axes themselves would not do for L: each holds noise
of its groups too, so that of two groups they share (1 + r) / 2 in place of r.

Reference: Harman and Jones, Factor analysis by minimizing residuals (minres), Psychometrika 31 (1966).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.linalg.noise.monte_carlo import Drawn, monte_carlo
from assay.summary.sharing.noisy_chance import wishart

_DRAWS = 199
_ROUNDS, _SETTLED = 200, 1e-4
_LEAST = 1e-6  # of a unit variance: what a direction of a group keeps for itself at least


@dataclass(frozen=True, slots=True, eq=False)
class GroupedLaw:
    """What chance does to each tested eigenvalue.

    Attributes:
        p_values: (t,) chance of one as large, given those before; never decreasing.
        upper: (t,) what chance exceeds with probability level.
        n_real: leading axes with p <= level.
        draws: (t,) how many were made.
    """

    p_values: Array
    upper: Array
    n_real: int
    draws: tuple[int, ...]


def grouped_law(
    R: Array,
    groups: NDArray[np.intp],
    n: int,
    *,
    rng: np.random.Generator,
    level: float = 0.05,
    n_max: int = _DRAWS,
    max_components: int | None = None,
) -> GroupedLaw:
    """Tell which axes are larger than independent groups of columns would give.

    Args:
        R: (d, d) correlations, with identity blocks within groups.
        groups: (d,) label of each column.
        n: rows, more than d.
        rng: of the draws.
        level: level of each step.
        n_max: most draws of each step.
        max_components: stop after so many axes.

    >>> R = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    >>> found = grouped_law(R, np.array([0, 0, 1]), 100, rng=np.random.default_rng(0))
    >>> found.n_real, float(found.p_values[0])
    (1, 0.005)
    """

    def drawing(L: Array, members: list[NDArray[np.intp]]) -> Callable[[], Array]:
        root = _root(L, members)
        return lambda: root @ wishart(n - 1, len(root), rng) @ root.T

    return chained(R, groups, n, drawing, level=level, n_max=n_max, max_components=max_components)


def chained(
    R: Array,
    groups: NDArray[np.intp],
    n: int,
    drawing: Callable[[Array, list[NDArray[np.intp]]], Callable[[], Array]],
    *,
    level: float,
    n_max: int,
    max_components: int | None,
) -> GroupedLaw:
    """Test axes one after the other by draws, until the first that falls.

    Args:
        R: (d, d) correlations, with identity blocks within groups.
        groups: (d,) label of each column.
        n: rows.
        drawing: from what k axes share, L (d, k), and the columns of each group to draws of a (d, d) scatter.
        level: level of each step.
        n_max: most draws of each step.
        max_components: stop after so many axes.
    """
    members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    values = np.asarray(np.linalg.eigvalsh(R)[::-1], dtype=np.float64)
    most = min(sharing(values), len(groups) - max(map(len, members)), n - 2)
    p, upper, draws = [], [], []
    for k in range(max(most if max_components is None else min(most, max_components), 0)):
        draw = drawing(shared_part(R, members, k), members)
        drawn = drawn_until(_eigenvalue(draw, members, k), float(values[k]), level, n_max)
        p.append(drawn.p)
        upper.append(float(np.quantile(drawn.values, 1.0 - level, method="higher")))
        draws.append(len(drawn.values))
        if p[-1] > level:
            break
    running = np.maximum.accumulate(np.array(p)) if p else np.empty(0)
    return GroupedLaw(running, np.array(upper), int((running <= level).sum()), tuple(draws))


def shared_part(R: Array, members: list[NDArray[np.intp]], k: int) -> Array:
    """L (d, k) with L L' nearest to R between groups, by putting its own blocks in the place of those within groups.

    No direction of a group shares more than all of itself: L_g L_g' is at most the identity.

    Args:
        R: (d, d) correlations.
        members: the columns of each group.
        k: how many axes.
    """
    L = np.zeros((len(R), k))
    if not k:
        return L
    filled = R.copy()
    for _ in range(_ROUNDS):
        values, V = np.linalg.eigh(filled)
        new = V[:, -k:] * np.sqrt(np.maximum(values[-k:], 0.0))
        for group in members:
            left, size, right = np.linalg.svd(new[group], full_matrices=False)
            new[group] = (left * np.minimum(size, 1.0)) @ right
            filled[np.ix_(group, group)] = new[group] @ new[group].T
        # signs and order of axes may change, what they share does not
        moved = np.abs(new @ new.T - L @ L.T).max()
        L = new
        if moved < _SETTLED:
            break
    return L


def drawn_until(draw: Callable[[], float], value: float, level: float, n_max: int) -> Drawn[float]:
    """Draws until n_max, or until p cannot fall to level.

    Args:
        draw: makes one.
        value: of the data.
        level: level.
        n_max: most draws.
    """
    return monte_carlo(
        range(n_max),
        lambda some: [draw() for _ in some],
        [1] * n_max,
        # discrete columns give exact ties up to rounding: they count as reached
        reaches=lambda found: found >= value * (1.0 - 1e-9),
        enough=int(level * (1 + n_max)),
    )


def sharing(values: Array) -> int:
    """How many axes share something between groups: an axis of one group alone has variance 1.

    >>> sharing(np.array([1.8, 1.1, 1.0, 0.4]))
    2
    """
    return int((values > 1.0 + 1e-9).sum())


def _eigenvalue(draw: Callable[[], Array], members: list[NDArray[np.intp]], k: int) -> Callable[[], float]:
    return lambda: float(np.linalg.eigvalsh(apart(draw(), members))[-1 - k])


def _root(L: Array, members: list[NDArray[np.intp]]) -> Array:
    """A root of R_k."""
    R = L @ L.T
    for group in members:
        R[np.ix_(group, group)] += own_part(L[group]) @ own_part(L[group])
    return np.asarray(np.linalg.cholesky(R), dtype=np.float64)


def own_part(L: Array) -> Array:
    """The symmetric root of I - L L': what the columns of one group have for themselves.

    Args:
        L: (g, k) what they share.
    """
    own, V = np.linalg.eigh(np.eye(len(L)) - L @ L.T)
    root: Array = (V * np.sqrt(np.maximum(own, _LEAST))) @ V.T
    return root


def apart(S: Array, members: list[NDArray[np.intp]]) -> Array:
    """Correlations of columns made uncorrelated within each group, with variance 1, (d, d).

    Args:
        S: (d, d) their scatter or covariance.
        members: the columns of each group.
    """
    W = np.zeros_like(S)
    for group in members:
        values, V = np.linalg.eigh(S[np.ix_(group, group)])
        W[np.ix_(group, group)] = V / np.sqrt(np.maximum(values, _LEAST * values[-1]))
    found: Array = W.T @ S @ W
    return found
