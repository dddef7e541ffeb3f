"""How many components, and of which shape? The Bayesian information criterion of every mixture tried.

    BIC = p log n - 2 log L        p parameters, n rows, L the likelihood; one for each number and shape tried, (m, s)

Reference: Fraley & Raftery, J. Am. Statist. Assoc. 97, 2002.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.columns.encoded import EncodedSource, encode
from assay.data.source import Source
from assay.errors import NotConverged, ParameterError
from assay.models.cluster.mixture.gaussians import Shape
from assay.models.cluster.mixture.mixture import GaussianMixture


@dataclass(frozen=True, slots=True, eq=False)
class MixtureChoice:
    """The mixtures tried, and the one with the least BIC.

    Attributes:
        n_components: (m,) numbers of components tried, ascending.
        covariance_types: (s,) shapes tried.
        bic: (m, s), smaller is better.
        log_likelihood: (m, s).
        converged: (m, s) whether each climb ended within its tolerance.
        floored: (m, s) directions held at the floor, over all components: where there are any, the likelihood and
            with it the BIC depend on the floor.
        chosen: number of components of the best.
        covariance_type: its shape.
        model: the best itself, fitted.
    """

    n_components: NDArray[np.int64]
    covariance_types: tuple[Shape, ...]
    bic: Array
    log_likelihood: Array
    converged: NDArray[np.bool_]
    floored: NDArray[np.int64]
    chosen: int
    covariance_type: Shape
    model: GaussianMixture


def choose_components(
    X: Any,
    n_components: Sequence[int] = range(1, 10),
    covariance_types: Sequence[Shape] = get_args(Shape),
    **options: Any,
) -> MixtureChoice:
    """Fit mixtures of several sizes and shapes, and take the one with the least BIC.

    A description, not evidence: a skewed or heavy-tailed cloud is described best by several normal laws too, and they
    are not groups.

    Args:
        X: (n, d) rows, as for `GaussianMixture.fit`.
        n_components: the numbers to try, each at most the number of rows.
        covariance_types: the shapes to try.
        options: of every `GaussianMixture`, such as `random_state` or `n_init`.

    Returns:
        MixtureChoice.

    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0.0, 1.0, (80, 2)), rng.normal(6.0, 1.0, (80, 2))])
    >>> found = choose_components(X, range(1, 4), random_state=0)
    >>> found.chosen, found.covariance_type
    (2, 'spherical')
    """
    numbers, shapes = sorted(set(n_components)), tuple(dict.fromkeys(covariance_types))
    if not numbers or not shapes:
        raise ParameterError("n_components and covariance_types name at least one mixture to try; got none")
    rows = encode(X, log="never") if isinstance(X, Source) and not isinstance(X, EncodedSource) else X
    models = [[_fitted(rows, k, shape, options) for shape in shapes] for k in numbers]
    bic = np.array([[model.bic_ for model in line] for line in models])
    i, j = (int(at) for at in np.unravel_index(np.argmin(bic), bic.shape))
    return MixtureChoice(
        np.array(numbers),
        shapes,
        bic,
        np.array([[model.log_likelihood_ for model in line] for line in models]),
        np.array([[model.converged_ for model in line] for line in models]),
        np.array([[model.floored_.sum() for model in line] for line in models]),
        int(numbers[i]),
        shapes[j],
        models[i][j],
    )


def _fitted(rows: Any, k: int, shape: Shape, options: dict[str, Any]) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)  # told in the table
        return GaussianMixture(k, covariance_type=shape, **options).fit(rows)
