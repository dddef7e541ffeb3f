"""Canonical correlations: the combinations of two sets of columns that go together most.

summary  S = scatter / (n - 1) of [X, Y], (d, d) with d = p + q, in blocks S_xx, S_xy, S_yy
solver   (S_xx + r_x I)^-1 S_xy (S_yy + r_y I)^-1 S_yx w = rho^2 w, by whitening and singular values, descending
svd      rows = Q R by orthogonal steps, R (d, d), nothing squared: for columns that nearly depend on each other
dual     K_x = Xc Xc^T and K_y, (n, n), for more columns than rows; weights are sums of rows
partial  S of [X, Y] given Z: S_aa - S_az S_zz^-1 S_za, from moments of all three
reading  variates u = (X - mu_x) W_x, v = (Y - mu_y) W_y, (n, k); W_x^T (S_xx + r_x I) W_x = I, corr(u_j, v_j) = rho_j
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from assay.arrays import Array
from assay.data.arrow_validation import sound
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.principal import dense
from assay.models.base import on_engine
from assay.models.canonical import HeldOutRidge, RidgeOption, gathered
from assay.models.canonical_linear import _LinearPairs, checked_solver
from assay.models.correlation.cca.classical_tests import CanonicalTests, canonical_tests
from assay.shown import a_few
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments
from assay.summary.moments.paired import Paired

_WIDE = 4_096  # columns of a source up to which moments (128 MB) are made without knowing the number of rows


class CCA(RegressorMixin, _LinearPairs):
    """Find combinations of the columns of X and of y that correlate most: what do two sides have in common?

    Args:
        n_components: how many pairs; None for as many as the smaller rank.
        ridge: added to the variances of each side before they are inverted: a number, a pair (one for each side),
            "held-out" or `HeldOutRidge(...)` for the pair whose first correlation is largest on rows it was not found
            on. 0 is plain CCA.
        scale: measure the ridge in units of each column's variance; otherwise in squared units of the data. Without a
            ridge it makes no difference.
        solver: "auto" chooses by shape and by how nearly columns depend on each other. "moments": covariances, one
            pass. "svd": orthogonal steps, one pass more, no digits lost. "dual": products of rows with rows.

    Attributes:
        canonical_correlations_: (k,) descending; with a ridge, of the regularised problem, below those of the variates.
        variate_correlations_: (k,) correlation of the paired scores on the rows fitted.
        held_out_correlations_: (k,) of pairs found on the other folds, where the ridge was chosen so; None otherwise.
            Those of the best of many ridges, so a little too good.
        x_weights_: (p, k), of the centred columns: scores have unit variance, less with a ridge.
        y_weights_: (q, k).
        x_loadings_: (p, k) correlation of each column of X with its variates; the largest of each pair is positive.
        y_loadings_: (q, k).
        x_cross_loadings_: (p, k) correlation of each column of X with the variates of y.
        y_cross_loadings_: (q, k) correlation of each column of y with the variates of X.
        x_mean_, y_mean_: column means.
        ridge_: the ridges used, as a pair.
        held_out_table_: (m, m) held-out first correlation by left and right candidate; None where none was chosen.
        rank_: how many directions each side has; below its columns where these depend on each other.
        condition_: largest over smallest variance of each side, ridge included, a pair; on the route "moments" the
            correlations carry an error of about 1e-16 times as much.
        forced_: how many correlations are 1 for want of rows, whatever the data.
        n_components_: k.
        n_samples_: rows fitted.
        n_given_: directions of the columns held fixed, 0 without such columns.
        given_coef_, given_mean_: (g, p + q) what the columns held fixed explain of both sides, and (g,) their means;
            where there are some.
        n_targets_, y_names_: columns of y and their names, or None.
        encoding_, y_encoding_: how the columns of sources became numbers.
        route_: "moments", "svd" or "dual".

    >>> X = np.array([[0., 0., 1.], [1., 0., 0.], [2., 2., 2.], [3., 5., 4.], [4., 4., 7.], [1., 3., 2.]])
    >>> Y = np.array([[.1, -.2], [.9, 1.1], [6.2, 5.9], [11.9, 12.3], [14., 15.], [6., 4.]])
    >>> CCA().fit(X, Y).canonical_correlations_.round(4)
    array([0.9999, 0.7981])

    References:
        Hotelling, Relations between two sets of variates, Biometrika 28, 1936; Vinod, Canonical ridge and econometrics
        of joint production, Journal of Econometrics 4, 1976.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: RidgeOption = 0.0,
        scale: bool = True,
        solver: Literal["auto", "moments", "svd", "dual"] = "auto",
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.solver = solver

    @on_engine
    def fit(self, X: Any, y: Any = None, *, given: Any = None, engine: Any = None) -> Self:
        """Find the pairs of (n, p) and (n, q) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`; a source is encoded first, by the kinds of its columns.
            y: the other side, array, data frame or `Source`; or, where X is a source, the names of its columns that
                are the other side (None: those in the role "target").
            given: (n, g) columns held fixed: pairs of what they leave unexplained of both sides (partial CCA). Where X
                is a source, names of its columns.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        solver = checked_solver(self.solver)
        self._given_nothing()
        if given is not None:
            return self._fit_given(X, y, given, solver)
        X, Y = self._sides(X, y, reset=True, finite=False)
        p, d = self.n_features_in_, self.n_features_in_ + self.n_targets_
        if isinstance(X, Source) or isinstance(Y, Source):
            few = X.rows if isinstance(X, Source) else X.shape[0]
            if solver != "dual" and d <= _WIDE and not (few is not None and few < max(p, d - p)):
                return self._fit_paired(Paired(X, Y, self._names()), p, solver)
            X, Y = gathered(X), gathered(Y)
            check_consistent_length(X, Y)
        if solver == "dual" or (solver == "auto" and max(p, d - p) >= X.shape[0]):
            return self._fit_dual(X, Y, solver)
        return self._fit_paired(Paired(X, Y, self._names()), p, solver)

    def fit_moments(self, moments: Moments | GroupedMoments, split: int | Sequence[str]) -> Self:
        """Fit from a summary of both sides together, however gathered: an array, a file, a cluster, three hospitals.

        Args:
            moments: of the columns of X and y; `GroupedMoments` of folds where the ridge is to be chosen.
            split: how many of the columns are X's, which come first; or the names of y's.
        """
        if checked_solver(self.solver) in ("svd", "dual"):
            raise ParameterError(f"solver {self.solver!r} needs the rows; a summary is fitted by 'moments'")
        if isinstance(self._ridge_option(), HeldOutRidge) != isinstance(moments, GroupedMoments):
            raise ParameterError(
                "a ridge is chosen from GroupedMoments.folds(rows), and given as a number with Moments; got "
                f"{type(moments).__name__} and ridge={self.ridge!r}"
            )
        self._given_nothing()
        parts = moments.parts if isinstance(moments, GroupedMoments) else (moments,)
        order, p = _order(parts[0], split)
        parts = tuple(part[order] for part in parts)
        names = parts[0].columns
        self._record_columns(None if names is None else names[:p], p)
        self.n_targets_, self._flat_y = len(order) - p, False
        self.y_names_ = None if names is None else np.asarray(names[p:], dtype=object)
        return self._fit_moments(sum(parts[1:], start=parts[0]), parts, p)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and give the scores of both sides, as scikit-learn's CCA does: ((n, k), (n, k))."""
        return self.fit(X, y).transform(X, y)

    def transform(self, X: Any, y: Any = None, given: Any = None) -> Any:
        """Scores of the rows of X, (n, k); with y given, a pair of scores, those of X and those of y.

        Args:
            X: (n, p) rows.
            y: (n, q) the other side of the same rows; of partial pairs of a source, a source that has these columns.
            given: (n, g) the columns held fixed, where there are some; a source that has them, X itself if not said.
        """
        check_is_fitted(self)
        if isinstance(y, Source) and hasattr(self, "_given_at"):  # both were columns of one source
            scores = super().transform(X), self._y_scores(np.delete(self._encoded_right(y), self._given_at, axis=1))
        else:
            scores = super().transform(X, y)
        if not self.n_given_:
            if given is not None:
                raise ParameterError("no columns were held fixed on fit; leave out given")
            return scores
        explained = (self._held_fixed(X if given is None else given) - self.given_mean_) @ self.given_coef_
        u = explained[:, : self.n_features_in_] @ self.x_weights_
        if y is None:
            return scores - u
        return scores[0] - u, scores[1] - explained[:, self.n_features_in_ :] @ self.y_weights_

    def tests(self) -> CanonicalTests:
        """Wilks' lambda, Pillai's and Hotelling and Lawley's trace and Roy's largest root, with F, df and p.

        Entry j asks whether any pair from j on correlates, those before taken out. They assume independent normal rows,
        and are read off the rows that were fitted: what pairs are worth on others, `held_out_correlations_` and
        `correlations` say, and what chance does to them without such assumptions, the question of a study.
        """
        check_is_fitted(self)
        if self.ridge_ != (0.0, 0.0):
            raise ParameterError(f"the classical tests know no ridge; got {self.ridge_}: fit with ridge=0")
        if self.n_components_ < min(self.rank_):
            raise ParameterError(
                f"the classical tests need all {min(self.rank_)} pairs; {self.n_components_} were fitted: "
                "leave out n_components"
            )
        n, p, q = self.n_samples_ - self.n_given_, *self.rank_
        if n - 1 < p + q:
            raise DataError(
                f"{n} rows are too few for tests of {p} and {q} columns: at least {p + q + 1} are needed"
                + (f" beside {self.n_given_} held fixed" if self.n_given_ else "")
            )
        return canonical_tests(self.canonical_correlations_, n, p, q)

    def predict(self, X: Any) -> Array:
        """Least squares of y on the variates of X, (n,) or (n, q); with all pairs and no ridge, on X itself."""
        check_is_fitted(self)
        if self.n_given_:
            raise ParameterError(
                "partial pairs predict nothing alone; LeastSquares on X and the columns held fixed does"
            )
        rows = self._checked(X, reset=False, accept_sparse="csr")
        predicted: Array = self._x_scores(rows) @ self._y_from_x + self.y_mean_
        return predicted.ravel() if self._flat_y else predicted

    def _given_nothing(self) -> None:
        self.n_given_ = 0
        for name in ("given_coef_", "given_mean_", "_given_at"):  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)

    def _fit_given(self, X: Any, y: Any, given: Any, solver: str) -> Self:
        """Fit what columns held fixed leave of both sides, from moments of all three."""
        if solver not in ("auto", "moments") or isinstance(self._ridge_option(), HeldOutRidge):
            raise ParameterError("partial pairs are found by 'moments', with a ridge that is a number")
        if isinstance(X, Source) and isinstance(given, (str, list, tuple)):
            named = [given] if isinstance(given, str) else list(given)
            others = [y] if isinstance(y, str) else list(y or [f.name for f in X.schema if f.role == "target"])
            X, Y = self._sides(X, [*others, *named], reset=True, finite=False)
            fixed = np.array([self.y_encoding_.source_column(j) in named for j in range(self.n_targets_)])
            self._given_at = np.flatnonzero(fixed)
        else:
            X, Y = map(gathered, self._sides(X, y, reset=True, finite=False))
            Z = _columns(given, finite=False)
            check_consistent_length(X, Z)
            fixed = np.repeat([False, True], [self.n_targets_, Z.shape[1]])
            Y = np.hstack([dense(Y), Z])
        p = self.n_features_in_
        left, right = self._names()
        known = (*right, *(f"given {j}" for j in range(len(fixed) - len(right))))
        total = Paired(X, Y, (left, known)).moments()
        at = p + np.flatnonzero(fixed)
        rest = np.setdiff1d(np.arange(total.d), at)
        partial = total.given(at)
        self.n_targets_ = len(rest) - p
        self.y_names_ = None if self.y_names_ is None else np.array(known, dtype=object)[~fixed]
        self._fit_moments(partial, (partial,), p)
        self.n_given_, self.n_samples_ = total.count - partial.count, total.count
        self.given_coef_, self.given_mean_ = total.explained(at), total.mean[at]
        return self

    def _held_fixed(self, given: Any) -> Array:
        """Rows of the columns held fixed, (n, g)."""
        if isinstance(given, Source) and hasattr(self, "_given_at"):
            return self._encoded_right(given)[:, self._given_at]
        Z = _columns(gathered(given), finite=True)
        if Z.shape[1] != len(self.given_mean_):
            raise DataError(f"{len(self.given_mean_)} columns were held fixed on fit; given has {Z.shape[1]}")
        return Z

    def _encoded_right(self, source: Source) -> Array:
        """The columns of y and those held fixed, as they were encoded together."""
        from assay.data.columns.encoded import EncodedSource

        rows: Array = gathered(EncodedSource(source, self.y_encoding_))
        return rows

    @property
    def coef_(self) -> Array:
        """(q, p) of `predict` in the columns of X, as in scikit-learn's CCA; (1, p) for a y without columns."""
        check_is_fitted(self)
        coefficients: Array = (self.x_weights_ @ self._y_from_x).T
        return coefficients

    @property
    def intercept_(self) -> Array:
        """(q,) of `predict`."""
        shift: Array = self.y_mean_ - self.coef_ @ self.x_mean_
        return shift

    @property
    def x_rotations_(self) -> Array:
        """(p, k) what `transform` multiplies centred rows with: the weights."""
        return self.x_weights_

    @property
    def y_rotations_(self) -> Array:
        """(q, k), the same for y."""
        return self.y_weights_


def _columns(given: Any, *, finite: bool) -> Array:
    rows: Array = check_array(
        sound(given), ensure_2d=False, ensure_all_finite=finite, dtype=np.float64, input_name="given"
    )
    return rows.reshape(-1, 1) if rows.ndim == 1 else rows


def _order(moments: Moments, split: int | Sequence[str]) -> tuple[list[int], int]:
    """Positions of X's columns, then of y's, and how many are X's."""
    d = moments.d
    if isinstance(split, (int, np.integer)):
        if not 0 < split < d:
            raise ParameterError(f"split says how many of the {d} columns are X's, from 1 to {d - 1}; got {split}")
        return list(range(d)), int(split)
    names = [split] if isinstance(split, str) else list(split)
    right = [i for i, name in enumerate(moments.columns or ()) if name in names]
    if len(right) != len(set(names)) or not 0 < len(right) < d:
        known = a_few(moments.columns) if moments.columns else "none"
        raise ParameterError(
            f"split names the columns of y, some but not all of: {known}; got {a_few(map(repr, names))}"
        )
    return [i for i in range(d) if i not in right] + right, d - len(right)
