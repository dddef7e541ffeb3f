"""What every model shares: scikit-learn's conventions, sources as input, files that hold data only."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from assay.arrays import Array
from assay.data.arrow_validation import sound
from assay.data.blocks import all_rows
from assay.data.source import Source
from assay.engine.current import using
from assay.errors import DataError, ParameterError, join_convergence_warnings
from assay.linalg.validate import seed_of
from assay.models.options import parts_of, with_parts
from assay.shown import a_few
from assay.summary.distances.metrics import Gower, Metric, gaps_allowed

join_convergence_warnings()

Params = ParamSpec("Params")
Result = TypeVar("Result")


def on_engine(fit: Callable[Params, Result]) -> Callable[Params, Result]:
    """A `fit` that runs on the engine given as its keyword `engine`; without one, on the engine in use."""

    @wraps(fit)
    def run(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        engine = kwargs.pop("engine", None)
        if engine is None:
            return fit(*args, **kwargs)
        with using(engine, arrays=True):
            return fit(*args, **kwargs)

    return run


class Estimator(BaseEstimator):
    """Base of every model.

    `fit` takes arrays, data frames, sparse matrices or a `Source`, and where it reads blocks also the `engine` that
    reads them; `fit_<summary>` takes the summary, however it was gathered; `save` writes a file that holds data only,
    which `assay.load` reads back; `plot` draws it.
    """

    random_state: Any

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep what was fitted whole: a part of another array becomes an array of its own.

        The arrays of a loaded model are such; only so do both take the same path through BLAS, whose sums may depend on
        gaps between values and on where they begin. Nor is the rest of the other array kept.
        """
        fitted = name.startswith("_") or name.endswith("_")  # options are kept as they were given
        if fitted and isinstance(value, np.ndarray) and not _whole(value):
            value = value.copy(order="K")
        super().__setattr__(name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options of this model by name.

        Args:
            deep: whether the parts of options that are objects are named too, `kernel__sigma` for one.
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name, value in list(params.items()):
                if "__" not in name:
                    params |= parts_of(name, value)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set options by name. A part of one that is an object, `kernel__sigma`, makes another object of it.

        Args:
            params: options, or their parts.
        """
        own = set(self._get_param_names())
        parts: dict[str, dict[str, Any]] = {}
        for key in list(params):
            name, part, rest = key.partition("__")
            if part and name in own and not hasattr(params.get(name, getattr(self, name)), "set_params"):
                parts.setdefault(name, {})[rest] = params.pop(key)
        super().set_params(**params)
        for name, changes in parts.items():
            setattr(self, name, with_parts(name, getattr(self, name), changes))
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that holds numbers and text, never code; read it with `assay.load`."""
        from assay.models.files import save

        save(self, path)

    def plot(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Draw the fitted model, with rows where they are given; the same as `assay.plot(model, X, y, ...)`.

        Args:
            X: rows, where the picture shows rows.
            y: what is true of them, or groups that colour them.
            options: of the picture.

        Returns:
            A Bokeh figure, or several in one layout; a notebook shows it, `save` writes it to .html, .png or .svg.
        """
        # by the name users import, and only when asked: models know nothing of views
        return import_module("assay").plot(self, X, y, **options)

    def _checked(self, X: Any, *, reset: bool, **checks: Any) -> Any:
        """X as a checked (n, d) array or sparse matrix; columns are recorded on fit and compared later."""
        if gaps_allowed(self._metric()):
            X = self._by_kind(X)
        if not isinstance(X, Source):
            if reset:
                self._drop("encoding_", "summary_", "_waits")
            told = self.__sklearn_tags__().input_tags
            if told.pairwise and not told.allow_nan and not reset:
                checks["ensure_all_finite"] = True  # before columns are counted, as scikit-learn does
            return validate_data(self, sound(X), reset=reset, **checks)
        return all_rows(self._as_numbers(X, reset=reset))

    def _as_numbers(self, X: Source, *, reset: bool) -> Source:
        """A source of numbers only: encoded as its kinds ask for on fit, and in the same way later.

        On fit the encoding is kept as `encoding_`, and saved with the model, and the columns are recorded; later they
        are compared. A source that is encoded already, by `assay.encode` with options of the user's, is taken as it is.
        """
        from assay.data.columns.encoded import EncodedSource, encode

        if reset:
            single = gaps_allowed(self._metric())
            encoded = X if isinstance(X, EncodedSource) else encode(X, log="never", single=single)
            self.encoding_ = encoded.encoding
            self._record_columns(encoded.numeric_columns, len(encoded.numeric_columns))
            return encoded
        known = getattr(self, "encoding_", None)
        numbers = X if known is None or isinstance(X, EncodedSource) else EncodedSource(X, known)
        self._compare_columns(numbers.numeric_columns)
        return numbers

    def _metric(self) -> Any:
        """By which metric rows are compared, of models that take one."""
        return None

    def _by_kind(self, X: Any) -> Any:
        """What metrics that compare columns by their kinds need to know of X: numbers, or a source with kinds."""
        table = np.asarray(X) if isinstance(X, list | tuple) else X
        if (
            isinstance(table, Source)
            or issparse(table)
            or getattr(getattr(table, "dtype", None), "kind", "O") in "fiub"
        ):
            return table
        from assay.data.read import read

        return read(table)

    def _resolved(self, metric: Metric, rows: Array) -> Metric:
        """The metric with what it has to learn from the fitted rows."""
        if not isinstance(metric, str) or metric != "gower":
            return metric
        codecs = [] if not hasattr(self, "encoding_") else [c for c in self.encoding_.codecs if c.names("")]
        if any(len(codec.names("")) > 1 for codec in codecs):
            raise ParameterError(
                "Gower's metric compares whole columns, and these were spread over several; give the source itself, or "
                "assay.encode(source, single=True)"
            )
        return Gower.of(rows, tuple(j for j, codec in enumerate(codecs) if codec.kind in ("codes", "boolean")))

    def _seed(self) -> int:
        """The seed of this fit: from `random_state`, or 0 without one, so that results repeat."""
        return seed_of(self.random_state)

    def _drop(self, *names: str) -> None:
        """Remove what an earlier fit left."""
        for name in names:
            self.__dict__.pop(name, None)

    def _record_columns(self, columns: tuple[str, ...] | None, d: int) -> None:
        self._drop("summary_", "_waits")
        self.n_features_in_ = d
        if columns is not None:
            self.feature_names_in_ = np.asarray(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _compare_columns(self, columns: tuple[str, ...]) -> None:
        known = getattr(self, "feature_names_in_", None)
        if known is not None and tuple(known) != columns:
            raise DataError(f"fitted on columns {a_few(known)}; these data have {a_few(columns)}")
        if len(columns) != self.n_features_in_:
            raise DataError(f"fitted on {self.n_features_in_} columns; these data have {len(columns)}")


def _whole(array: NDArray[Any]) -> bool:
    """Whether an array lies in memory as one that NumPy made: without gaps, begun on a multiple of 16 bytes."""
    return bool(array.flags.forc) and array.ctypes.data % 16 == 0
