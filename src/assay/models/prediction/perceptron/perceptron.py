"""The perceptron: weights corrected by each row that they get wrong.

    rows     z = ((x - mean) / scale, 1), of rows X (n, d); Z (n, d + 1)
    rule     where another class scores at least as much as the row's own:  w_own += z,  w_other -= z
    reading  predicted argmax_c w_c . z; with two classes w_0 = -w_1, Rosenblatt's single vector
    law      classes that a hyperplane separates by a margin are separated after at most (R / margin)^2 corrections

With several classes this is the multiclass perceptron (Kesler's construction), not one against the rest: it ends
whenever linear scores exist that put every row's own class first, which is a weaker demand.
"""

from __future__ import annotations

import warnings
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.errors import NotConverged, ParameterError
from assay.models.prediction.perceptron.perceptron_rule import PerceptronSeparation, Version, perceptron_rule
from assay.models.supervised import _Classifier
from assay.summary.moments.column_moments import column_moments


class Perceptron(_Classifier):
    """Can linear scores tell the classes apart without an error, and by which weights?

    Args:
        version: which weights to keep. "pocket": those that erred on fewest rows of any that got many rows right in a
            row. "averaged": the mean over all steps, which varies less from sample to sample. "plain": the last ones,
            which never settle if the classes are not separable.
        max_iter: passes over the rows at most.
        scale: divide columns by their standard deviations first; the rule is slow where scales differ. Columns
            are centred in any case.
        random_state: seed of the order of the rows, which is new in each pass.

    Attributes:
        classes_: (k,) sorted.
        coef_: (k, d) weights of the columns; (1, d) for two classes.
        intercept_: (k,) or (1,).
        errors_: rows fitted that `predict` gets wrong or leaves tied.
        mistakes_: corrections made.
        converged_: whether a pass was made without a mistake, so that the classes are separable.
        n_iter_: passes made.
        margin_: smallest distance of a row from the separating hyperplane, in units of the centred and scaled rows
            with their constant; NaN if none was found.
        radius_: length of the longest of those rows.
        mistake_bound_: (radius / margin) squared, which `mistakes_` cannot exceed (Novikoff); NaN without a margin.
        mean_: (d,) what columns are centred by.
        offset_: (k,) or (1,) scores at the mean, which are exact where the data are far from zero.
        target_, encoding_: the column predicted and how the others became numbers, where it was fitted on a source.

    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0], [4.0, 3.0], [3.0, 4.0]])
    >>> model = Perceptron().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.converged_, model.errors_, model.mistakes_ <= model.mistake_bound_
    (True, 0, True)

    References:
        Rosenblatt, Psychological Review 65, 1958; Novikoff, Symposium on the Mathematical Theory of Automata, 1962;
        Gallant, IEEE Transactions on Neural Networks 1, 1990; Freund & Schapire, Machine Learning 37, 1999.
    """

    def __init__(
        self,
        version: Version = "pocket",
        *,
        max_iter: int = 200,
        scale: bool = True,
        random_state: Any = None,
    ) -> None:
        self.version = version
        self.max_iter = max_iter
        self.scale = scale
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Go over (n, d) rows until a pass is right, or `max_iter` times.

        Args:
            X: array, data frame or `Source`, whose rows are held.
            y: (n,) classes, or the name of the column of a source.
        """
        self._check_options()
        rows, codes = self._labelled(X, y, ensure_min_samples=2, ensure_all_finite=False)
        names = getattr(self, "feature_names_in_", None)
        mean, variance = column_moments(rows, None if names is None else tuple(names))
        scale = np.sqrt(np.where(variance > 0.0, variance, 1.0)) if self.scale else np.ones_like(mean)
        Z = np.ones((len(rows), len(mean) + 1))
        np.divide(np.subtract(rows, mean, out=Z[:, :-1]), scale, out=Z[:, :-1])
        rng = np.random.default_rng(self._seed())
        found = perceptron_rule(Z, codes, len(self.classes_), version=self.version, max_iter=self.max_iter, rng=rng)
        self._keep(found, mean, scale)
        if self.version == "plain" and not found.separated:
            warnings.warn(
                f"the last of {found.epochs} passes still made mistakes, and the weights it ended with "
                f"({found.errors} of {len(rows)} rows wrong) are no better than others: they never settle where the "
                "classes are not separable; version='pocket' keeps the best weights met, version='averaged' their mean",
                NotConverged,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> Array:
        """(n, k) scores of the classes; for two classes (n,), positive for the second."""
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        scores: Array = (rows - self.mean_) @ self.coef_.T + self.offset_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the class of the largest score."""
        scores = self.decision_function(X)
        best = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def _fit_told(self) -> tuple[list[str], dict[str, float]]:
        ended = "separates the classes" if self.converged_ else "does not separate the classes"
        lines = [
            f"{ended} after {self.n_iter_:,} passes with {self.mistakes_:,} corrections; {self.errors_:,} rows wrong",
            f"margin {self.margin_:.4g}" if np.isfinite(self.margin_) else "no margin was found",
        ]
        told = ("errors", "mistakes", "margin")
        return lines, {name: float(getattr(self, f"{name}_")) for name in told}

    def _keep(self, found: PerceptronSeparation, mean: Array, scale: Array) -> None:
        weights = found.weights[1:] if len(self.classes_) == 2 else found.weights
        self.coef_ = weights[:, :-1] / scale
        self.offset_ = weights[:, -1].copy()
        self.intercept_ = self.offset_ - self.coef_ @ mean
        self.mean_ = mean
        self.errors_ = found.errors
        self.mistakes_ = found.mistakes
        self.converged_ = found.separated
        self.n_iter_ = found.epochs
        self.margin_ = found.margin
        self.radius_ = found.radius
        self.mistake_bound_ = found.bound

    def _check_options(self) -> None:
        if self.version not in get_args(Version):
            raise ParameterError(f"version is one of {', '.join(get_args(Version))}; got {self.version!r}")
        if not isinstance(self.max_iter, (int, np.integer)) or isinstance(self.max_iter, bool) or self.max_iter < 1:
            raise ParameterError(f"max_iter is a whole number of at least 1; got {self.max_iter!r}")
