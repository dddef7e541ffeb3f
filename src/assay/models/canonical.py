"""What canonical correlations share: two sides of the same rows, a ridge for each, scores of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import _get_feature_names, check_array, check_consistent_length, check_is_fitted

from assay.arrays import Array, Indices
from assay.data.arrow_validation import sound
from assay.data.blocks import all_rows
from assay.data.held_out_folds import folds_of, is_number
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.canonical.canonical import CanonicalPairs, Coupling
from assay.linalg.canonical.held_out import CanonicalFold, held_out_correlations
from assay.linalg.validate import as_count
from assay.models.base import Estimator
from assay.models.transformer import Transformer
from assay.summary.distances.distances import refuse_axes

Ridge: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class HeldOutRidge:
    """A ridge for each side, chosen as the one whose first pair correlates most on rows it was not found on.

    Args:
        ridges: candidates for either side, in the units of `ridge`; all pairs of them are tried. None: powers of ten
            that suit the spread of the data.
        cv: how many random parts the rows are cut into; or a splitter, assay's or scikit-learn's, that tests each row
            once, pairs of training and test rows, or the part of each row.

    >>> HeldOutRidge(cv=10)
    HeldOutRidge(ridges=None, cv=10)
    """

    ridges: tuple[float, ...] | None = None
    cv: Any = 5

    def __post_init__(self) -> None:
        if self.ridges is not None and not (self.ridges and all(np.isfinite(r) and r >= 0 for r in self.ridges)):
            raise ParameterError(f"ridges are finite and not negative, at least one; got {self.ridges!r}")
        if (is_number(self.cv) and self.cv < 2) or isinstance(self.cv, bool) or not _says_folds(self.cv):
            raise ParameterError(f"cv is a whole number of at least 2, or a splitter; got {self.cv!r}")

    def candidates(self, usual: Sequence[float]) -> list[float]:
        """Ascending candidates of one side: those given, or else the usual ones."""
        return sorted(set(map(float, usual if self.ridges is None else self.ridges)))

    def check_rows(self, n: int) -> None:
        """Refuse folds that would leave too little."""
        if is_number(self.cv) and n < 2 * self.cv:
            raise DataError(
                f"choosing a ridge by {self.cv} folds needs at least {2 * self.cv} rows; there are {n}. "
                "Give ridge as a number, or fewer folds: HeldOutRidge(cv=...)"
            )

    def folds(self, n: int) -> Indices:
        """(n,) the fold of each row."""
        return folds_of(self.cv, n, np.zeros(n), 0, "a number for ridge")


def _says_folds(cv: Any) -> bool:
    return is_number(cv) or hasattr(cv, "split") or (np.iterable(cv) and not isinstance(cv, str))


RidgeOption: TypeAlias = float | Ridge | Literal["held-out"] | HeldOutRidge


class _Paired(ClassNamePrefixFeaturesOutMixin, Transformer, Estimator):
    """Base of every model of two sides: `transform` gives the scores of X, or of X and y."""

    n_components: Any
    ridge: Any
    canonical_correlations_: Array

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and give the scores of X's rows, (n, k), as a pipeline asks for; `transform(X, y)` gives both sides."""
        scores: Array = self.fit(X, y).transform(X)
        return scores

    def transform(self, X: Any, y: Any = None) -> Any:
        """Scores of the rows of X, (n, k); with y given, a pair of scores, those of X and those of y."""
        check_is_fitted(self)
        if y is None:
            return self._x_scores(self._checked(X, reset=False, accept_sparse="csr"))
        X, y = self._sides(X, y, reset=False)
        rows, others = gathered(X), gathered(y)
        check_consistent_length(rows, others)
        return self._x_scores(rows), self._y_scores(others)

    def correlations(self, X: Any, y: Any, **more: Any) -> Array:
        """Correlation of each pair on these rows, (k,): on rows not fitted, what the pairs are worth.

        Args:
            X: (n, p) rows.
            y: (n, q) the other side of the same rows.
            more: what `transform` needs beside them, such as `given` of partial pairs.
        """
        u, v = map(np.asarray, self.transform(X, y, **more))
        known = np.isfinite(u).all(axis=1) & np.isfinite(v).all(axis=1)
        if np.count_nonzero(known) < 2:
            raise DataError(f"a correlation needs at least 2 rows; there are {np.count_nonzero(known)}")
        return _paired_correlations(u[known], v[known])

    def _x_scores(self, rows: Any) -> Array:
        raise NotImplementedError

    def _y_scores(self, rows: Any) -> Array:
        raise NotImplementedError

    def _sides(self, X: Any, y: Any, *, reset: bool, finite: bool = True) -> tuple[Any, Any]:
        """Both sides, checked: arrays or sparse matrices of numbers, or encoded sources.

        Summaries find what is not finite by themselves and say where; finite=False saves the pass before them.
        """
        if isinstance(X, Source) and (y is None or isinstance(y, (str, list, tuple))):
            X, y = _two_sides(X, y)
        if y is None:
            # scikit-learn's own words, which its checks look for
            raise ParameterError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if isinstance(X, Source):
            X = self._as_numbers(X, reset=reset)
        else:
            X = self._checked(
                X, reset=reset, accept_sparse="csr", ensure_min_samples=2 if reset else 1, ensure_all_finite=finite
            )
            refuse_axes(X, "Reduce its columns first, for example with LSI or PCA(n_components=100).")
        y = self._other_side(y, reset=reset, finite=finite)
        if not isinstance(X, Source) and not isinstance(y, Source):
            check_consistent_length(X, y)
        return X, y

    def _other_side(self, y: Any, *, reset: bool, finite: bool) -> Any:
        names: Any
        flat = False
        if isinstance(y, Source):
            from assay.data.columns.encoded import EncodedSource, encode

            if reset:
                y = y if isinstance(y, EncodedSource) else encode(y, log="never")
                self.y_encoding_ = y.encoding
            elif hasattr(self, "y_encoding_") and not isinstance(y, EncodedSource):
                y = EncodedSource(y, self.y_encoding_)
            names, width = np.asarray(y.numeric_columns, dtype=object), len(y.numeric_columns)
        else:
            if reset and hasattr(self, "y_encoding_"):  # of an earlier fit
                del self.y_encoding_
            names = _get_feature_names(y)
            y = check_array(sound(y), ensure_2d=False, ensure_all_finite=finite, input_name="y")
            flat = y.ndim == 1
            y = y.reshape(-1, 1) if y.ndim == 1 else y
            width = y.shape[1]
        if reset:
            self.n_targets_, self.y_names_, self._flat_y = width, names, flat
        elif width != self.n_targets_:
            raise DataError(f"fitted on {self.n_targets_} columns of y; these data have {width}")
        return y

    def _names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the columns of both sides, as messages call them."""
        x = getattr(self, "feature_names_in_", None)
        return (
            tuple(x) if x is not None else tuple(f"x{i}" for i in range(self.n_features_in_)),
            tuple(self.y_names_) if self.y_names_ is not None else tuple(f"y{i}" for i in range(self.n_targets_)),
        )

    def _ridge_option(self) -> Ridge | HeldOutRidge:
        given = self.ridge
        if isinstance(given, HeldOutRidge):
            return given
        if isinstance(given, str) and given == "held-out":
            return HeldOutRidge()
        pair = tuple(given) if isinstance(given, (tuple, list, np.ndarray)) else (given, given)
        numbers = [r for r in pair if isinstance(r, (int, float, np.number)) and not isinstance(r, bool)]
        if len(pair) != 2 or len(numbers) != 2 or not all(np.isfinite(r) and r >= 0 for r in numbers):
            raise ParameterError(
                "ridge is a number, a pair of numbers (one for each side), finite and not negative, 'held-out' or "
                f"HeldOutRidge(...); got {given!r}"
            )
        return float(pair[0]), float(pair[1])

    def _count(self, coupling: Coupling, widths: tuple[int, int]) -> int:
        """How many pairs: those asked for, as far as the ranks allow."""
        self.rank_ = (len(coupling.x.values), len(coupling.y.values))
        for rank, name in zip(self.rank_, ("X", "y"), strict=True):
            if rank == 0:
                raise DataError(f"every column of {name} is constant: there is nothing to correlate")
        most = min(self.rank_)
        if self.n_components is None:
            return most
        asked = as_count(self.n_components, min(widths), name="n_components", what="the columns of the smaller side")
        return min(asked, most)

    def _keep(self, pairs: CanonicalPairs, coupling: Coupling, ridge: Ridge, folds: list[CanonicalFold] | None) -> None:
        """What every model says about its pairs."""
        self.canonical_correlations_ = pairs.correlations
        self.n_components_ = len(pairs.correlations)
        across = np.einsum("ik,ik->k", pairs.x, coupling.cross @ pairs.y)
        left, right = coupling.x.values @ pairs.x**2, coupling.y.values @ pairs.y**2
        self.variate_correlations_ = np.clip(across / np.sqrt(left) / np.sqrt(right), -1.0, 1.0)
        self.held_out_correlations_: Any = (
            None if folds is None else held_out_correlations(folds, ridge, self.n_components_)
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


def gathered(side: Any) -> Any:
    """The rows of a source in one array; anything else as it is."""
    return all_rows(side) if isinstance(side, Source) else side


def _two_sides(source: Source, named: Any) -> tuple[Source, Source]:
    from assay.data.columns.chosen import two_sides

    if named is None:
        named = [field.name for field in source.schema if field.role == "target"]
        if not named:
            raise ParameterError(
                f"{source.name} has no columns in the role 'target': name the columns of the other side, as in "
                "fit(source, ['price', 'volume'])"
            )
    return two_sides(source, [named] if isinstance(named, str) else list(named))


def _paired_correlations(u: Array, v: Array) -> Array:
    """Correlation of column j of one with column j of the other; 0 where one of them is constant."""
    u, v = u - u.mean(axis=0), v - v.mean(axis=0)
    spread = np.linalg.norm(u, axis=0) * np.linalg.norm(v, axis=0)
    across = np.einsum("ij,ij->j", u, v)
    return np.asarray(np.divide(across, spread, out=np.zeros(len(spread)), where=spread > 0.0))
