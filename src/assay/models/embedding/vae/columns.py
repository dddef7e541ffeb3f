"""What a VAE asks of the columns it is given, and the units in which its networks see them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.errors import DataError
from assay.models.embedding.vae.network import Likelihood
from assay.summary.moments.accumulate import refuse_unusable
from assay.summary.moments.column_moments import column_moments


def units_of(
    X: Array, training: NDArray[np.intp], names: tuple[str, ...] | None, *, standardise: bool
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Mean and scale of Gaussian columns, from the training rows, and which of them vary; (d,) each.

    A column that varies, but not in the training rows, has the scale of all rows.

    Args:
        X: (n, d), all rows.
        training: numbers of the training rows.
        names: of the columns, for what is refused.
        standardise: one scale for each column, or one for all.
    """
    whole, part = column_moments(X, names), column_moments(X[training], names)
    varying = whole.variance > 0.0
    variance = np.where(part.variance > 0.0, part.variance, whole.variance)
    if not standardise and varying.any():
        variance[:] = variance[varying].mean()
    return part.mean, np.where(varying, np.sqrt(variance), 1.0), varying


def refuse_rows(X: Array, names: tuple[str, ...] | None, likelihood: Likelihood) -> None:
    """Raise for the first value that is missing or infinite or, for Bernoulli columns, outside 0 to 1."""
    if not np.isfinite(X).all():
        refuse_unusable(X, 0, names)
    outside = (X < 0.0) | (X > 1.0)
    if likelihood == "bernoulli" and outside.any():
        i, j = map(int, np.argwhere(outside)[0])
        column = f"column {j}" if names is None else f"column {names[j]!r}"
        raise DataError(
            f"row {i}, {column} is {X[i, j]:g}: likelihood='bernoulli' needs values from 0 to 1; "
            "rescale the column, or take likelihood='gaussian'"
        )
