"""How many groups? Inertia, explained variance and Calinski-Harabasz index of k-means for every k tried.

    W_k   within sum of squares of the best (k, d) centres found, never rising with k
    CH_k  = (T - W_k) / W_k (n - k) / (k - 1)      inflection: the W_k farthest below the chord of the curve's ends

Both are descriptions, not evidence: they name a k for rows without any groups too.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from assay.arrays import Array
from assay.data.source import Source
from assay.errors import ParameterError
from assay.models.cluster.kmeans.blocks import refuse_few
from assay.models.cluster.kmeans.cluster_indices import ClusterIndices
from assay.models.cluster.kmeans.kmeans import KMeans
from assay.optimize.kmeans.lloyd import Lloyd, extended, lloyd
from assay.summary.moments.accumulate import checked_weights


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceOfK:
    """What k-means comes to for every number of groups tried.

    Attributes:
        k: (m,) numbers of groups, ascending.
        inertia: (m,) within sums of squares; never rising.
        explained_variance: (m,) shares of the sum of squares between the groups.
        calinski_harabasz: (m,) nan for one group, and for one group for each row.
        converged: (m,) whether each run came to rest.
        best_k: the k with the largest Calinski-Harabasz index, the first of equals; None where none has one.
        inflection: the k whose inertia lies farthest below the straight line between the ends of the curve; None for
            fewer than three k.
        centers: the (k, d) centres of each, to start `KMeans(k, init=...)` from.
    """

    k: NDArray[np.int64]
    inertia: Array
    explained_variance: Array
    calinski_harabasz: Array
    converged: NDArray[np.bool_]
    best_k: int | None
    inflection: int | None
    centers: tuple[NDArray[Any], ...]


def choose_k(
    X: Any,
    k_range: Sequence[int] = range(1, 11),
    *,
    n_init: int = 3,
    max_iter: int = 300,
    tol: float = 1e-4,
    random_state: Any = None,
    sample_weight: ArrayLike | None = None,
) -> ChoiceOfK:
    """Run k-means for several k in one sweep, each begun from the groups of the one before.

    The centres of one k and further ones, drawn far from them, are the first start of the next, so that the inertia
    never rises; `n_init` fresh starts compete with it. A description, not evidence.

    Args:
        X: (n, d) rows, as for `KMeans.fit`. Of a source, or of sparse rows, what fits into 128 MB, drawn fairly.
        k_range: the numbers of groups to try.
        n_init: fresh starts for each.
        max_iter, tol, random_state: as for `KMeans`.
        sample_weight: (n,) weights of rows; not for sources.

    Returns:
        ChoiceOfK.

    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(middle, 1.0, (50, 2)) for middle in (0.0, 8.0, 16.0)])
    >>> found = choose_k(X, range(1, 7))
    >>> found.best_k, found.inflection
    (3, 3)
    """
    ks = _numbers(k_range)
    model = KMeans(ks[-1], n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
    rows, seed, weights = *model._rows_to_group(X), None
    if sample_weight is not None:
        if isinstance(X, Source) or issparse(X):
            raise ParameterError("sample_weight is for rows given as an array or a data frame; got a source")
        weights = checked_weights(sample_weight, len(rows))
    refuse_few(ks[-1], len(rows), weights)
    options: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "weights": weights}
    runs: list[Lloyd] = []
    for k in ks:
        tried = [lloyd(rows, k, seed=seed + k, n_init=n_init, **options)]
        if runs:
            start = extended(rows, runs[-1].centers, k, seed=seed + k, weights=weights)
            tried.append(lloyd(rows, k, init=start, **options))
        runs.append(min(tried, key=lambda run: run.inertia))
    return _choice(np.array(ks), runs)


def _numbers(k_range: Sequence[int]) -> list[int]:
    ks = sorted({operator.index(k) for k in k_range})
    if not ks or ks[0] < 1:
        raise ParameterError(f"k_range names at least one number of groups, each from 1 on; got {list(k_range)}")
    return ks


def _choice(ks: NDArray[np.int64], runs: list[Lloyd]) -> ChoiceOfK:
    indices = [ClusterIndices(int((run.sizes > 0).sum()), float(run.sizes.sum()), run.separation) for run in runs]
    calinski_harabasz = np.array([each.calinski_harabasz for each in indices])
    inertia = np.array([run.inertia for run in runs])
    known = np.isfinite(calinski_harabasz)
    return ChoiceOfK(
        ks,
        inertia,
        np.array([each.explained_variance for each in indices]),
        calinski_harabasz,
        np.array([run.converged for run in runs]),
        int(ks[np.nanargmax(np.where(known, calinski_harabasz, -np.inf))]) if known.any() else None,
        _inflection(ks, inertia),
        tuple(run.centers for run in runs),
    )


def _inflection(ks: NDArray[np.int64], inertia: Array) -> int | None:
    if len(ks) < 3 or not np.isfinite(inertia).all():
        return None
    chord = np.interp(ks, ks[[0, -1]], inertia[[0, -1]])
    return int(ks[np.argmax(chord - inertia)])
