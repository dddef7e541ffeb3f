"""What rules from group moments share: gathering them, priors, shrinkage, and answers from one score for each class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpocon, dpotrf
from scipy.sparse import issparse
from scipy.special import expit, log_expit, logsumexp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import all_rows, block_slices
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.principal import dense
from assay.linalg.normal.shrinkage import ledoit_wolf, rao_blackwell
from assay.linalg.sparse.centred import CentredRows
from assay.models.base import on_engine
from assay.models.class_scores import Scores, _ClassScorer
from assay.models.incremental import _ClassesInParts
from assay.models.shares import sum_to_one
from assay.models.transformer import Transformer
from assay.summary.classes.group_frame import GroupFrame
from assay.summary.classes.group_products import too_large
from assay.summary.moments.grouped import GroupedMoments

Priors: TypeAlias = Literal["equal"] | ArrayLike | None
Shrinkage: TypeAlias = Literal["auto"] | float | None

_SMALL = 1 << 16  # numbers
_LONG = 1e100
SINGULAR = 1e-12  # reciprocal condition of a correlation matrix below which rounding decides


class _ByScores(_ClassScorer):
    """Base of rules that score the classes of a row: the highest score wins."""

    @abstractmethod
    def _scorer(self) -> Scores:
        """From (b, d) rows and the number of the first to (b, g) scores; those of the first of two classes may be 0."""

    def decision_function(self, X: Any) -> Array:
        """(n,) score of the second class against the first, or (n, g) scores of more than two classes."""
        check_is_fitted(self)
        scores = self._scored(X, self._scorer(), accept_sparse="csr")
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) class of each row."""
        scores = self.decision_function(X)
        found: NDArray[Any] = self.classes_[(scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        return found

    def _refuse_weightless(self, weights: NDArray[Any]) -> None:
        empty = np.flatnonzero(weights <= 0.0)
        if len(empty):
            raise DataError(f"the weight of class {self.classes_[empty[0]]!s} is zero: it has no rows; leave it out")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Directions(ClassNamePrefixFeaturesOutMixin, Transformer, _ByScores):
    """Base of rules that are linear: directions to look along, and weights of the columns for each class.

    Attributes:
        xbar_: (d,) where coordinates are measured from.
        scalings_: (d, k) directions.
        coef_, intercept_: (g, d) and (g,) of the scores; of the second class against the first where there are two.
    """

    xbar_: Array
    scalings_: Array
    coef_: Array
    intercept_: Array

    def transform(self, X: Any) -> Array:
        """(n, k) coordinates of rows along the directions."""
        check_is_fitted(self)
        rows = self._checked(X, reset=False, accept_sparse="csr")
        if issparse(rows):
            return CentredRows.of(rows, self.xbar_).apply(self.scalings_[:, : self._n_features_out])
        scores = np.empty((rows.shape[0], self._n_features_out))
        for part in block_slices(*rows.shape):
            scores[part] = (dense(rows[part]) - self.xbar_) @ self.scalings_[:, : self._n_features_out]
        return scores

    def _set_scores(self, slopes: Array, offsets: Array) -> None:
        """Keep (g, d) slopes and (g,) scores at `xbar_`; their differences for two classes."""
        if len(slopes) == 2:
            slopes, offsets = slopes[1:] - slopes[:1], offsets[1:] - offsets[:1]
        self.coef_ = slopes
        self.intercept_ = offsets - slopes @ self.xbar_

    def _scorer(self) -> Scores:
        first = 1 if len(self.coef_) == 1 else 0

        def scores(rows: Any, _: int) -> Array:
            out = np.zeros((rows.shape[0], len(self.classes_)))
            with np.errstate(over="ignore", invalid="ignore"):
                out[:, first:] = rows @ self.coef_.T
                out[:, first:] += self.intercept_
            if not np.isfinite(out).all():
                far = ~np.isfinite(out).all(axis=1)
                out[far, first:] = _shortened(dense(rows[far])) @ self.coef_.T
            return out

        return scores

    @property
    def _n_features_out(self) -> int:
        return int(self.scalings_.shape[1])


def _shortened(rows: NDArray[Any]) -> Array:
    """Rows so long that their scores are no numbers, in the same direction, at a length that has scores."""
    return np.asarray(rows / np.abs(rows).max(axis=1, keepdims=True) * _LONG)


class _Posterior(_ByScores):
    """Base of rules whose scores are log joint densities, but for what the classes have in common."""

    def predict_proba(self, X: Any) -> Array:
        """(n, g) probability of each class, given the row."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([expit(-scores), expit(scores)], axis=1)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def predict_log_proba(self, X: Any) -> Array:
        """(n, g) logarithms of the probabilities, which do not run out of digits where a class is out of question."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([log_expit(-scores), log_expit(scores)], axis=1)
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))


class Whitener(NamedTuple):
    """What makes a covariance the identity.

    Attributes:
        factor: (r, r) lower triangular L with L L^T the covariance in the frame.
        dependent: a coordinate that follows from those before it, where the covariance is singular and L of no use.
        shrinkage: share of the identity in the covariance.
        ridge: its factor.
    """

    factor: Array
    dependent: int | None
    shrinkage: float
    ridge: float


def _factored(S: Array) -> tuple[Array, int | None]:
    """Cholesky factor of a covariance, and the coordinate that follows most nearly from others where it is singular."""
    unit = np.sqrt(np.diag(S))
    if not (unit > 0.0).all():
        return S, int(np.argmin(unit))
    R = S / unit / unit[:, None]
    factor, failed = dpotrf(R, lower=1, clean=1)
    if failed:
        return S, failed - 1
    reciprocal, _ = dpocon(factor, np.abs(R).sum(axis=0).max(), uplo="L")
    dependent = int(np.argmin(np.diag(factor))) if reciprocal < SINGULAR else None
    return np.asarray(factor * unit[:, None]), dependent


class _Discriminant(_ClassesInParts, _Posterior):
    """Base of rules that rest on the mean of each class and covariances within classes."""

    priors: Priors
    shrinkage: Shrinkage

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Learn the classes of (n, d) rows in one pass over them.

        Args:
            X: array, data frame, sparse matrix or `Source`. A source is read by blocks and not held, unless it has
                more columns than rows.
            y: (n,) class of each row; for a source the name of its target column, or None for the one in that role.
            sample_weight: (n,) weights of the rows, not negative; weight 2 counts as the row twice. Weights that sum to
                no more than there are classes, as shares do, count as if their mean was 1.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        self._check_options()
        # the moments find what is not finite and say where; a pass before them would only cost time
        data, codes = self._gathered(X, y, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        weights = self._row_weights(sample_weight, codes)
        if weights is not None and weights.sum() <= len(self.classes_):
            weights = weights * (np.count_nonzero(weights) / weights.sum())
        if self._by_products(data) and (weights is None or too_large(data)):
            if weights is not None:
                raise DataError(
                    "sample_weight is not heeded where sparse rows are too large to be made dense: leave it out, "
                    "or give fewer columns by LSI"
                )
            return self._fit_products(data, codes)
        return self._fit_frames(data, codes, weights)

    def _fit_frames(self, data: Any, codes: NDArray[np.intp], weights: Array | None) -> Self:
        if len(codes) < self.n_features_in_:
            data = all_rows(data) if isinstance(data, Source) else data
            frame = GroupFrame.of_rows(data, codes, self._column_names(), weights)
        else:
            # of a small table a thread takes longer to start than to run
            threads = 1 if len(codes) * self.n_features_in_ < _SMALL else None
            frame = GroupFrame.of_moments(GroupedMoments.of(data, codes, weights=weights, threads=threads))
        fourth = frame.fourth_powers(data, codes, weights) if self.shrinkage == "auto" else None
        return self._fit_frame(frame, fourth)

    def fit_moments(self, moments: GroupedMoments) -> Self:
        """Fit from the moments of each class, however gathered: an array, a file, a cluster, three hospitals.

        A summary has no fourth powers: `shrinkage="auto"` is then as far as Ledoit and Wolf's formula is expected to
        go for normal rows.
        """
        self._check_options()
        if len(moments) < 2:
            raise DataError(f"{type(self).__name__} tells at least 2 classes apart; the summary has {len(moments)}")
        self.classes_ = np.asarray(moments.labels)
        self._record_columns(moments.parts[0].columns, moments.parts[0].d)
        self._refuse_weightless(np.array([part.weight for part in moments.parts]))
        return self._fit_frame(GroupFrame.of_moments(moments), None)

    def _by_products(self, X: Any) -> bool:
        """Whether rows are to stay sparse: those whose axes would not fit into memory must."""
        return too_large(X)

    def _fit_products(self, X: Any, codes: NDArray[np.intp]) -> Self:
        """Fit large sparse rows without making them dense; those that cannot refuse."""
        n, d = X.shape
        raise DataError(
            f"X is sparse, {n} x {d}, and {type(self).__name__} needs covariances of axes that would take "
            f"{min(n, d) * d / 2**27:.1f} GiB. Use Fisher(shrinkage='auto'), Logistic or NaiveBayes, which keep it "
            "sparse, or fewer columns by LSI"
        )

    @abstractmethod
    def _fit_frame(self, frame: GroupFrame, fourth: Array | None) -> Self:
        """Fit from the groups in their frame, and the fourth powers of the rows of each where these are at hand."""

    def _shares(self, weights: Array) -> Array:
        """(g,) prior probability of each class."""
        g = len(weights)
        if self.priors is None:
            return np.asarray(weights / weights.sum())
        if isinstance(self.priors, str):
            return np.full(g, 1.0 / g)
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != (g,) or not (priors > 0.0).all() or not sum_to_one(self.priors):
            raise ParameterError(
                f"priors are None, 'equal' or {g} positive shares that sum to 1, in the order of classes_; got "
                f"{self.priors!r}"
            )
        return np.asarray(priors / priors.sum())

    def _whitener(self, frame: GroupFrame, S: Array, n: float, left: float, fourth: float | None) -> Whitener:
        """Factor a covariance after shrinkage towards a multiple of the identity.

        Args:
            frame: in which S is.
            S: (r, r) scatter / n.
            n: weight of the rows.
            left: degrees of freedom, n less the number of means.
            fourth: fourth powers of the rows, or None.
        """
        if self.shrinkage == "auto":
            values: Array = eigvalsh(S, check_finite=False).astype(np.float64, copy=False)
            if fourth is None:
                share = rao_blackwell(values * (n / left), frame.d, left)
            else:
                share = ledoit_wolf(values, frame.d, n, fourth)
        else:
            share = 0.0 if self.shrinkage is None else float(self.shrinkage)
        ridge = share * float(np.trace(S)) / frame.d
        shrunk = (1.0 - share) * S
        shrunk[np.diag_indices(len(S))] += ridge
        factor, dependent = _factored(shrunk)
        return Whitener(factor, dependent, share, ridge)

    def _column(self, frame: GroupFrame, coordinate: int) -> str:
        """How messages call a coordinate of a frame without axes."""
        j = int(np.flatnonzero(frame.scale > 0.0)[coordinate])
        return f"column {self.feature_names_in_[j]!r}" if hasattr(self, "feature_names_in_") else f"column {j}"

    def _check_options(self) -> None:
        asked: Any = self.shrinkage
        if isinstance(asked, (int, float, np.number)) and not isinstance(asked, bool):
            fine = bool(0.0 <= asked <= 1.0)
        else:
            fine = asked is None or (isinstance(asked, str) and asked == "auto")
        if not fine:
            raise ParameterError(f"shrinkage is None, 'auto' or a share from 0 to 1; got {asked!r}")
        if isinstance(self.priors, str) and self.priors != "equal":
            raise ParameterError(f"priors are None, 'equal' or one share for each class; got {self.priors!r}")
