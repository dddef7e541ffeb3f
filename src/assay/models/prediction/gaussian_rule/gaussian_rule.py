"""Gaussian rule: under which class's normal law, weighted by its prior, is a row most likely?

summary   mean m_k (d,), covariance S_k = scatter_k / n_k, (d, d), of each class; equal: S = sum of scatters / n
estimate  S* = (1 - delta) S + delta tr(S) / d I, in units of the columns          A S* A^T = I, A triangular
reading   log p_k - (d log 2 pi + log |S_k*| + |A_k (x - m_k)|^2) / 2              scores (n, g)
wide      d > n: the same in the axes that the rows span, summary.group_frame      outside them S* = delta tr(S) / d I
"""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias

import numpy as np
from scipy.linalg.lapack import dtrtri
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.errors import DataError, ParameterError, SingularError
from assay.models.class_scores import Scores
from assay.models.discriminant import Priors, Shrinkage, Whitener, _Discriminant
from assay.models.prediction.gaussian_rule.normal_scores import NormalScores
from assay.summary.classes.group_frame import GroupFrame

Covariance: TypeAlias = Literal["equal", "unequal"]


class GaussianRule(_Discriminant):
    """Tell classes apart by normal laws: each with a covariance of its own, or all with the same.

    Args:
        covariance: "unequal": one covariance for each class, curved boundaries. "equal": one for all, boundaries are
            planes, and the answers are those of `Fisher`.
        priors: probability of each class before its row is seen. None: their shares of the rows. "equal", or (g,)
            positive shares in the order of `classes_`.
        shrinkage: how far each covariance is drawn towards a multiple of the identity, in units of each column's
            standard deviation within classes. None: not at all, which needs more rows than columns (in every class, if
            unequal). "auto": as far as Ledoit and Wolf's formula says, for each covariance. A share from 0 to 1.

    Attributes:
        classes_: (g,) the classes, sorted.
        priors_: (g,) their probabilities.
        means_: (g, d) their means.
        shrinkage_: (g,) or (1,) share of the identity in each, 0 to 1.
        log_likelihood_: of the rows fitted and their classes.
        center_, scale_: (d,) where units are measured from, and the unit of each column; 0 for one that is constant
            in all rows, which is left out.
        axes_: (d, r) directions in which the rows differ, where columns outnumber them; else None.
        whitening_: (m, r, r) lower triangular A of each covariance, m = g or 1.
        centres_: (g, r) means in units, along the axes.
        ridge_: (m,) variance outside the axes.
        n_samples_, weight_: rows fitted, and the sum of their weights.
        encoding_: how the columns of a source became numbers, where it was fitted on one.
        summary_: moments of all rows so far, after `partial_fit`.
        target_: the column of a source that holds the classes.
        route_: "moments", or "gram" where there are more columns than rows.

    >>> X = [[0, 0], [1, 0], [0, 1], [1, 1], [5, 5], [9, 5], [5, 9], [9, 9.5]]
    >>> rule = GaussianRule().fit(X, ["near"] * 4 + ["far"] * 4)
    >>> rule.predict([[0.5, 0.5], [3, 3]])
    array(['near', 'far'], dtype='<U4')
    >>> rule.covariances_[1]
    array([[0.25, 0.  ],
           [0.  , 0.25]])

    Reference: Ledoit & Wolf, Journal of Multivariate Analysis 88, 2004, for shrinkage.
    """

    def __init__(
        self, covariance: Covariance = "unequal", *, priors: Priors = None, shrinkage: Shrinkage = None
    ) -> None:
        self.covariance = covariance
        self.priors = priors
        self.shrinkage = shrinkage

    def log_likelihood(self, X: Any) -> Array:
        """(n, g) log density of each row under the law of each class, its prior left out."""
        check_is_fitted(self)
        return self._scored(X, self._laws().scorer(self._bases(), whole=True), accept_sparse="csr")

    @property
    def covariances_(self) -> Array:
        """(g, d, d), or (d, d) where equal: the estimates in the units of the data, zero for constant columns."""
        check_is_fitted(self)
        varying = self.scale_ > 0.0
        found = np.zeros((len(self.whitening_), len(varying), len(varying)))
        for k, (A, ridge) in enumerate(zip(self.whitening_, self.ridge_, strict=True)):
            L = dtrtri(A, lower=1)[0]
            inner = L @ L.T
            if self.axes_ is not None:
                Q = self.axes_[varying]
                inner = Q @ (inner - ridge * np.eye(len(inner))) @ Q.T + ridge * np.eye(len(Q))
            found[k][np.ix_(varying, varying)] = inner * self.scale_[varying] * self.scale_[varying][:, None]
        return found[0] if self.covariance == "equal" else found

    def _fit_told(self) -> tuple[list[str], dict[str, float]]:
        lines, measures = super()._fit_told()
        shrunk = float(np.max(self.shrinkage_))
        how = "one covariance for all classes" if len(self.shrinkage_) == 1 else "a covariance for each class"
        lines.append(f"{how}, shrinkage up to {shrunk:.4g}; log likelihood {float(self.log_likelihood_):.6g}")
        return lines, {**measures, "shrinkage": shrunk, "log_likelihood": float(self.log_likelihood_)}

    def _scorer(self) -> Scores:
        return self._laws().scorer(self._bases() + np.log(self.priors_), whole=False)

    def _check_options(self) -> None:
        super()._check_options()
        if self.covariance not in ("equal", "unequal"):
            raise ParameterError(f"covariance is 'equal' or 'unequal'; got {self.covariance!r}")

    def _fit_frame(self, frame: GroupFrame, fourth: Array | None) -> Self:
        weights = frame.weights
        self.priors_ = self._shares(weights)
        self.means_ = frame.means
        self.n_samples_ = sum(part.count for part in frame.parts)
        self.weight_ = float(weights.sum())
        self.route_ = "moments" if frame.axes is None else "gram"
        self.center_, self.scale_, self.axes_ = frame.centre, frame.scale, frame.axes
        self.centres_ = frame.centres
        if not frame.d:
            raise DataError("every column is constant: there is nothing to tell classes apart by")
        if self.covariance == "equal":
            self._keep(frame, [self._whitened(frame, None, fourth)])
        else:
            self._keep(frame, [self._whitened(frame, k, fourth) for k in range(len(weights))])
        return self

    def _whitened(self, frame: GroupFrame, group: int | None, fourth: Array | None) -> Whitener:
        """The covariance of one class, or of all about their means."""
        if group is None:
            n, means, scatter = self.weight_, len(frame.parts), frame.within()
        else:
            n, means, scatter = frame.parts[group].weight, 1, frame.scatter(group)
        if n <= means:
            self._refuse(frame, group, None)
        powers = None if fourth is None else float(fourth.sum() if group is None else fourth[group])
        made = self._whitener(frame, scatter / n, n, n - means, powers)
        if made.dependent is not None or (frame.axes is not None and made.ridge == 0.0):
            self._refuse(frame, group, made.dependent)
        return made

    def _keep(self, frame: GroupFrame, made: list[Whitener]) -> None:
        self.shrinkage_ = np.array([one.shrinkage for one in made])
        self.ridge_ = np.array([one.ridge for one in made])
        self.whitening_ = np.ascontiguousarray([dtrtri(one.factor, lower=1)[0] for one in made])
        # the trace of A scatter A^T is the sum of squared distances of the rows fitted
        far = 0.0
        for k in range(len(frame.parts)):
            A = self.whitening_[k % len(made)]
            far += float(np.einsum("ij,ij->", A @ frame.scatter(k), A))
        self.log_likelihood_ = float(frame.weights @ (np.log(self.priors_) + self._bases()) - far / 2.0)

    def _bases(self) -> Array:
        """(g,) log density at the mean of each class."""
        d = int(np.count_nonzero(self.scale_))
        inside = np.log(np.einsum("kii->ki", self.whitening_)).sum(axis=1)
        beyond = d - self.whitening_.shape[1]
        outside = np.log(self.ridge_) * (beyond / 2.0) if beyond else 0.0
        units = np.log(self.scale_[self.scale_ > 0.0]).sum()
        return np.broadcast_to(inside - outside - units - d / 2.0 * np.log(2.0 * np.pi), len(self.classes_))

    def _laws(self) -> NormalScores:
        frame = GroupFrame(self.center_, self.scale_, self.axes_, self.means_, self.centres_, ())
        return NormalScores(frame, self.whitening_, self.ridge_)

    def _refuse(self, frame: GroupFrame, group: int | None, coordinate: int | None) -> None:
        d, several = frame.d, len(frame.parts)
        if group is None:
            who, count, needed, instead = f"all {several} classes together have", self.n_samples_, d + several, ""
        else:
            who, count, needed = f"class {self.classes_[group]!s} has", frame.parts[group].count, d + 1
            instead = "covariance='equal', "
            if frame.parts[group].weight <= 1.0:
                one = "1 row" if count < 2 else f"{count} rows that count as {frame.parts[group].weight:g}"
                raise SingularError(f"{who} {one}, without a spread: use covariance='equal', or leave the class out")
        if count < needed or coordinate is None or frame.axes is not None:
            raise SingularError(
                f"a covariance of {d} columns needs at least {needed} rows; {who} {count}: use {instead}"
                "shrinkage='auto' (or a share of 0 to 1), or leave columns out"
            )
        raise SingularError(
            f"{self._column(frame, coordinate)} is constant or follows from the columns before it in the {count} rows "
            f"that {who}: leave it out, or use {instead}shrinkage='auto'"
        )
