"""Naive Bayes: columns that are independent of each other within a class, each with a law of its own.

    summary  counts and moments of each column by class, (k, d): `ClassCounts`, which merge by +
    laws     gaussian, multinomial, bernoulli or categorical, column by column; see `laws`
    reading  log p(c | x) = log prior_c + sum_j log p(x_j | c) - log p(x),   rows X (n, d), posterior (n, k)

A missing cell is left out of the sum, which is what integrating it out comes to where columns are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.columns.encoded import EncodedSource
from assay.errors import DataError, ParameterError
from assay.models.base import on_engine
from assay.models.class_scores import _ClassScorer
from assay.models.prediction.naive_bayes.columns import is_frame, kinds_of_encoding, kinds_of_fields, opened
from assay.models.prediction.naive_bayes.laws import ClassLaws
from assay.models.shares import sum_to_one
from assay.summary.classes.class_cells import ClassPlace, refuse_infinite
from assay.summary.classes.class_counts import COLUMN_KINDS, ClassCounts

Kinds: TypeAlias = str | Sequence[str]

_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "ensure_all_finite": False}  # what is not finite, counting finds


class NaiveBayes(_ClassScorer):
    """Which class is a row of, if the columns tell of it independently?

    Args:
        kinds: how columns are understood: "gaussian" (a normal law in each class), "multinomial" (counts, such as those
            of words), "bernoulli" (above zero or not), "categorical" (levels by number), or one of these for each
            column. "auto": the columns of a source or data frame by the kinds in its schema (booleans bernoulli,
            categories categorical, texts multinomial, the others gaussian); those of an array gaussian.
        smoothing: added to every count, above 0, so that what a class has not shown yet is not impossible.
        var_floor: least variance of a class in a gaussian column, as a share of the variance of the whole column.
            "auto": what the class would have if its next row were off by the standard deviation within classes,
            W / (n + 1) for n rows, so that what it has not shown yet is not impossible.
        priors: (k,) chances of the classes before a row is seen; by default their shares of the rows.

    Attributes:
        classes_: (k,) sorted.
        priors_: (k,).
        class_count_: (k,) weight of the rows of each class.
        kinds_: the kind of each column.
        counts_: the `ClassCounts` fitted from.
        laws_: the laws of the columns.
        theta_, var_: (k, d) mean and variance of gaussian columns, NaN elsewhere; a variance of 0 is that of a constant
            column, which says nothing.
        feature_log_prob_: (k, d) of multinomial and bernoulli columns, NaN elsewhere.
        target_, encoding_: the column predicted and how the others became numbers, where it was fitted on a source.

    >>> X = np.array([[1.0, 5.0], [1.2, 4.0], [1.1, np.nan], [3.0, 5.5], [3.2, 4.5], [2.8, np.nan]])
    >>> model = NaiveBayes().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[1.1, np.nan], [2.9, 5.0]])
    array(['a', 'b'], dtype='<U1')

    References:
        Manning, Raghavan & Schuetze, Introduction to Information Retrieval, 2008, chapter 13; Chan, Golub & LeVeque,
        American Statistician 37, 1983.
    """

    def __init__(
        self,
        kinds: Kinds = "auto",
        *,
        smoothing: float = 1.0,
        var_floor: float | Literal["auto"] = "auto",
        priors: ArrayLike | None = None,
    ) -> None:
        self.kinds = kinds
        self.smoothing = smoothing
        self.var_floor = var_floor
        self.priors = priors

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Learn the laws of (n, d) rows in one pass.

        Args:
            X: array, data frame, sparse matrix or `Source`, which is not held. NaN is a missing value.
            y: (n,) classes, or the name of the column of a source.
            sample_weight: (n,) weights of the rows; weight 2 counts as the row twice.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        return self._learn(self._counted(X, y, sample_weight, reset=True, fewest=2))

    def partial_fit(
        self, X: Any, y: Any = None, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn further rows; the result is that of one fit on all.

        Args:
            X, y, sample_weight: as for `fit`. The encoding of a source is decided by the first call.
            classes: those that will come, if more than have come so far.
        """
        first, before = not hasattr(self, "counts_"), dict(vars(self))
        try:
            counts = self._counted(X, y, sample_weight, reset=first, fewest=1)
            counts = counts if first else self.counts_ + counts
            if classes is not None:
                counts = counts.with_labels(np.unique(np.asarray(classes)).tolist())
            return self._learn(counts)
        except Exception:
            self.__dict__ = before  # a part that is refused leaves the model as it was
            raise

    def fit_counts(self, counts: ClassCounts) -> Self:
        """Fit from a summary, however gathered: an array, a file, a cluster, three hospitals.

        Args:
            counts: their kinds are taken, whatever `kinds` says.
        """
        self._record_columns(counts.columns, counts.d)
        self.classes_ = np.asarray(counts.labels)
        return self._learn(counts)

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the most probable class of each row."""
        best = np.argmax(self.predict_joint_log_proba(X), axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def predict_proba(self, X: Any) -> Array:
        """(n, k) probability of each class, given the row."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """(n, k) logarithm of the probability of each class, given the row."""
        joint = self.predict_joint_log_proba(X)
        joint -= logsumexp(joint, axis=1, keepdims=True)
        return joint

    def predict_joint_log_proba(self, X: Any) -> Array:
        """(n, k) log(prior) + log-likelihood of each row in each class."""
        check_is_fitted(self)
        rows = opened(X, encoded=hasattr(self, "encoding_"))
        return self._scored(rows, self._joint, **_CHECKS)

    @property
    def theta_(self) -> Array:
        """(k, d) means of gaussian columns."""
        return self._spread((self.laws_.gaussian, self.laws_.mean))

    @property
    def var_(self) -> Array:
        """(k, d) variances of gaussian columns."""
        return self._spread((self.laws_.gaussian, self.laws_.variance))

    @property
    def feature_log_prob_(self) -> Array:
        """(k, d) log probabilities of multinomial and bernoulli columns."""
        laws = self.laws_
        return self._spread((laws.multinomial, laws.log_share), (laws.bernoulli, laws.log_yes))

    def _counted(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, fewest: int) -> ClassCounts:
        self._check_options()
        X = opened(X, encoded=not reset and hasattr(self, "encoding_"))
        rows, codes = self._gathered(X, y, fewest=fewest, reset=reset, ensure_min_samples=fewest, **_CHECKS)
        if reset:
            kinds, groups = self._kinds_of(X, rows)
        else:
            kinds, groups = self.counts_.kinds, self.counts_.groups
        return ClassCounts.of(
            rows,
            codes,
            labels=self.classes_.tolist(),
            kinds=kinds,
            groups=groups,
            weights=sample_weight,
            columns=self._column_names(),
        )

    def _kinds_of(self, X: Any, rows: Any) -> tuple[Any, NDArray[np.intp] | None]:
        """The kinds of the checked rows of X, and which multinomial columns belong together."""
        if not isinstance(self.kinds, str) or self.kinds != "auto":
            return self.kinds, None
        if isinstance(rows, EncodedSource):
            return kinds_of_encoding(rows.encoding)
        if is_frame(X):
            from assay.data.read import read

            return kinds_of_fields(read(X)), None
        return "gaussian", None

    def _learn(self, counts: ClassCounts) -> Self:
        self._check_options()
        if counts.weight.sum() == 0.0:
            raise DataError("every row has a weight of zero: there is nothing to learn a class from")
        if tuple(self.classes_.tolist()) != counts.labels:
            self.classes_ = np.asarray(counts.labels)
        self.priors_ = self._prior(counts)
        self.class_count_ = counts.weight
        self.kinds_ = counts.kinds
        self.counts_ = counts
        floor = None if self.var_floor == "auto" else float(self.var_floor)
        self.laws_ = ClassLaws.of(counts, float(self.smoothing), floor)
        return self

    def _prior(self, counts: ClassCounts) -> Array:
        if self.priors is None:
            shares: Array = counts.weight / counts.weight.sum()
            return shares
        priors = np.asarray(self.priors, dtype=np.float64)
        k = len(counts.labels)
        if priors.shape != (k,) or not (priors >= 0.0).all() or not sum_to_one(self.priors):
            raise ParameterError(f"priors are {k} chances that sum to 1, one for each class; got {self.priors!r}")
        return np.asarray(priors / priors.sum())

    def _joint(self, rows: Any, first_row: int) -> Array:
        names = self._column_names()
        with np.errstate(divide="ignore"):  # a class without rows, or of prior 0, is impossible
            out = np.tile(np.log(self.priors_), (rows.shape[0], 1))
        self.laws_.add_log_likelihood(rows, out, first_row, names)
        if not np.isfinite(out.sum()):
            lost = np.flatnonzero(~np.isfinite(out.max(axis=1)))
            if len(lost):
                some = rows[lost[:1]]
                some = some.toarray() if hasattr(some, "toarray") else some
                row = first_row + int(lost[0])
                refuse_infinite(some, ClassPlace(row, np.arange(rows.shape[1]), names))
                raise DataError(
                    f"row {row} is so far from every class that its likelihood leaves the range of floating point "
                    "numbers; see whether its units are those of the rows fitted"
                )
        return out

    def _spread(self, *parts: tuple[NDArray[np.intp], Array]) -> Array:
        whole = np.full((len(self.classes_), self.n_features_in_), np.nan)
        for columns, values in parts:
            whole[:, columns] = values
        return whole

    def _check_options(self) -> None:
        if isinstance(self.kinds, str) and self.kinds not in ("auto", *COLUMN_KINDS):
            raise ParameterError(
                f"kinds is 'auto', {', '.join(map(repr, COLUMN_KINDS))} or one for each column; got {self.kinds!r}"
            )
        if not (_is_number(self.smoothing) and 0.0 < self.smoothing < np.inf):
            raise ParameterError(f"smoothing is a number above 0; got {self.smoothing!r}")
        known = self.var_floor == "auto" or (_is_number(self.var_floor) and 0.0 < self.var_floor <= 1.0)
        if not known:
            raise ParameterError(f"var_floor is a share above 0 and at most 1, or 'auto'; got {self.var_floor!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = isinstance(self.kinds, str) and self.kinds == "categorical"
        tags.input_tags.positive_only = isinstance(self.kinds, str) and self.kinds == "multinomial"
        tags.classifier_tags.poor_score = (
            tags.input_tags.positive_only
        )  # shares of a row say nothing of how large it is
        return tags


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
