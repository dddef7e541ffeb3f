"""Rows as a picture of a model needs them: numbers for the places, and what the model was given for its answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.data.source import Source
from assay.errors import DataError, ParameterError


def numbers_of(model: Any, X: Any, *, why: str) -> Array:
    """(n, d) rows as the model sees them, gaps as NaN.

    Args:
        model: fitted.
        X: what its `fit` takes.
        why: what the rows are needed for, to say so where they are missing.
    """
    if X is None:
        raise ParameterError(f"{why}: give the rows, plot(model, X)")
    rows: Any = model._checked(X, reset=False, accept_sparse=True, ensure_all_finite="allow-nan")
    dense: Any = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(dense, dtype=np.float64)


def rows_and_target(model: Any, X: Any, y: Any, *, why: str) -> tuple[Any, NDArray[Any]]:
    """Rows and what is true of them; of a source, y names a column, by default the one that was learned.

    Args:
        model: fitted.
        X: what its `fit` takes.
        y: (n,) truth, or the name of a column of a source.
        why: what they are needed for.
    """
    name = y if isinstance(y, str) else getattr(model, "target_", None)
    if isinstance(X, Source) and (y is None or isinstance(y, str)) and name is not None:
        from assay.data.columns.target import taken_apart

        X, y = taken_apart(X, name)
    if X is None or y is None:
        raise ParameterError(f"{why}: give the rows and what is true of them, plot(model, X, y)")
    return X, np.asarray(y)


def per_row(name: str, values: ArrayLike | None, n: int) -> NDArray[Any] | None:
    """(n,) values, one per row drawn, or None.

    Args:
        name: of the argument.
        values: as given.
        n: how many rows there are.
    """
    if values is None:
        return None
    found = np.asarray(values)
    if found.shape != (n,):
        raise DataError(f"{name} has one entry per row; got shape {found.shape} for {n} rows")
    return found


def column_names(model: Any) -> list[str]:
    """Names of the columns fitted; numbered from 0 where they have none.

    Args:
        model: fitted.
    """
    known = getattr(model, "feature_names_in_", None)
    return [f"column {j}" for j in range(model.n_features_in_)] if known is None else [str(name) for name in known]


def on_places(function: Callable[[Array], ArrayLike]) -> Callable[[Array], Array]:
    """A model's function for places that are no rows of a table, and so have no names of columns.

    Args:
        function: such as `decision_function`.
    """

    def asked(places: Array) -> Array:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return np.asarray(function(places), dtype=np.float64)

    return asked
