"""Matrix factorisation of ratings: what would a user make of an item that he or she has not rated?

summary   Ratings: the known cells of a (n, d) matrix of users and items; what is missing is not zero
explicit  r_ui ~ mu + b_u + c_i + p_u . q_i, z = (r - mu) / s, s of what biases leave   P (n, k), Q (d, k)
          min sum_seen (z_ui - b_u - c_i - p_u . q_i)^2 + beta (|b|^2 + |c|^2)
              + alpha (sum_u sqrt(n_u) |p_u|^2 + sum_i sqrt(n_i) |q_i|^2)        n_u, n_i ratings of a user, an item
implicit  min sum_all w_ui (y_ui - p_u . q_i)^2 + alpha (the same), y 1 where there is a count, w = 1 + confidence r
solver    alternating least squares: each user, each item is a small ridge regression, solved exactly
reading   rotated so that sum_i sqrt(n_i) q_i q_i^T is diagonal, descending: rotations change no prediction
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.source import Source
from assay.engine.current import is_local
from assay.errors import DataError, NotConverged, ParameterError
from assay.linalg.eigen.spectral import column_signs
from assay.models.prediction.recommender.als import (
    Factors,
    Penalty,
    Progress,
    biases,
    explicit,
    implicit,
    spectral_start,
)
from assay.models.prediction.recommender.choose import (
    ALPHAS,
    BIAS_ALPHA,
    BIAS_ALPHAS,
    COUNT_ALPHAS,
    POWER,
    RANKS,
    Choice,
    choose_explicit,
    choose_implicit,
    implicit_start,
    left_by_biases,
)
from assay.models.prediction.recommender.elsewhere import spread_start, standardised
from assay.models.prediction.recommender.reading import _Reading, counted
from assay.models.prediction.recommender.sides import Given
from assay.models.prediction.recommender.spread_ratings import SpreadRatings, spread_ratings
from assay.models.transformer import Transformer
from assay.summary.ratings.ratings import Ratings
from assay.summary.ratings.ratings_columns import looks_like_ratings, opened, rating_roles


class MatrixFactorization(ClassNamePrefixFeaturesOutMixin, Transformer, _Reading):
    """Predict ratings, and recommend items, from the ratings of all users.

    Who is unknown is predicted by what is known: an unknown user by the mean and the item's bias, an unknown item by
    the mean and the user's bias, both by the mean.

    Args:
        n_components: factors; 0 is biases alone; "held-out" takes what predicts held-out ratings best, of 2, 5, 10 and
            20, or none where that gains less than its standard error.
        alpha: penalty of the factors, times the square root of the number of ratings of a user or item; in units of the
            standard deviation of what biases leave, whatever the scale of the ratings. "held-out" tries several.
        bias_alpha: penalty of the biases: about how many ratings a bias needs to count for half. "held-out" tries
            several. Counts have no biases.
        feedback: "explicit": ratings say how much something was liked. "implicit": counts say how often something was
            done; no count is a weak sign against.
        confidence: of counts: how much more a count of 1 weighs than none.
        cv: folds of the held-out ratings.
        clip: whether predictions stay within the ratings seen.
        max_iter: sweeps at most.
        tol: relative size of the gradient at which the solver stops.
        random_state: seed of the folds; the solver itself draws nothing.

    Attributes:
        users_, items_: (n,) and (d,) names.
        mean_: of all ratings; 0 for counts.
        user_bias_, item_bias_: (n,) and (d,), in units of the ratings.
        user_factors_: (n, k)
        item_factors_: (d, k)
        components_: (k, d) the latter, as scikit-learn calls it.
        n_components_, alpha_, bias_alpha_: used.
        ranks_, alphas_: (r,) and (a,) tried, where "held-out" chose.
        held_out_errors_, held_out_std_errors_: (r, a) root mean squared error on held-out ratings; of counts 1 - NDCG
            of the first 20.
        objective_: (t,) after each sweep; it never rises.
        kkt_residual_: gradient at the end, relative to that at zero.
        n_iter_, converged_: sweeps, and whether the gradient is within tol.
        scale_: standard deviation of what biases leave of the ratings, the unit of the solver.
        ratings_: what it was fitted on; names without cells where workers kept the ratings.

    >>> loud = [("Ann", "Alien", 5), ("Ann", "Heidi", 1), ("Bob", "Alien", 4), ("Bob", "Heidi", 2), ("Bob", "Rambo", 5)]
    >>> calm = [("Cleo", "Heidi", 5), ("Cleo", "Rambo", 1), ("Dan", "Heidi", 4), ("Dan", "Alien", 1)]
    >>> model = MatrixFactorization(1, alpha=0.1).fit_ratings(loud + calm)
    >>> model.predict(["Ann", "Dan", "Cleo"], ["Rambo", "Rambo", "Alien"]).round(1)
    array([5. , 1.3, 1.2])
    >>> model.recommend("Ann")[0].item
    'Rambo'

    References:
        Koren, Bell & Volinsky, Matrix factorization techniques for recommender systems, Computer 42, 2009; Hu, Koren &
        Volinsky, Collaborative filtering for implicit feedback datasets, ICDM 2008; Zhou, Wilkinson, Schreiber & Pan,
        Large-scale parallel collaborative filtering for the Netflix prize, AAIM 2008; powers of the number of ratings
        in penalties: Srebro & Salakhutdinov, Collaborative filtering in a non-uniform world, NIPS 2010.
    """

    def __init__(
        self,
        n_components: int | Literal["held-out"] = 10,
        *,
        alpha: float | Literal["held-out"] = 1.7,
        bias_alpha: float | Literal["held-out"] = BIAS_ALPHA,
        feedback: Literal["explicit", "implicit"] = "explicit",
        confidence: float = 1.0,
        cv: int = 5,
        clip: bool = True,
        max_iter: int = 500,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.bias_alpha = bias_alpha
        self.feedback = feedback
        self.confidence = confidence
        self.cv = cv
        self.clip = clip
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: None = None, *, progress: Progress | None = None) -> Self:
        """Fit the ratings of n users and d items.

        Args:
            X: (n, d) array or frame in which NaN is missing, or sparse matrix whose stored entries are the ratings:
                what is not stored is missing, not zero. Or a table of triples as in `fit_ratings`: `Ratings`, a path, a
                `Source`, an Arrow table, a frame whose columns are called like user, item and rating, or a list of
                (user, item, rating) tuples. An array of numbers is always a matrix.
            y: not used.
            progress: called as progress(sweeps done, most).
        """
        if _is_triples(X):
            return self.fit_ratings(X, progress=progress)
        self._check_options()
        checks = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}
        matrix = self._checked(X, reset=True, **checks)
        items = getattr(self, "feature_names_in_", None)
        return self._fit(Ratings.of_matrix(matrix, items=items), progress)

    def fit_ratings(
        self,
        ratings: Any,
        user: str | None = None,
        item: str | None = None,
        rating: str | None = None,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Fit from a summary or a table with a row for each rating.

        Args:
            ratings: `Ratings`, or what `Ratings.of` reads: path, frame, Arrow table, `Source`, list of (user, item,
                rating), sparse matrix.
            user: column of the users, where its name does not tell.
            item: column of the items.
            rating: column of the ratings.
            progress: called as progress(sweeps done, most).
        """
        self._check_options()
        seen = self._read(ratings, user, item, rating)
        named = seen.named if isinstance(seen, SpreadRatings) else seen
        self._record_columns(named.items, named.n_items)
        return self._fit(seen, progress)

    def transform(self, X: Any) -> Array:
        """(n, k) factors of the users in the rows of (n, d) ratings, folded in; those fitted on get their own."""
        check_is_fitted(self)
        return self._folded(self._rows(X))[1]

    @property
    def users_(self) -> NDArray[Any]:
        """(n,) names."""
        return np.asarray(self.ratings_.users, dtype=object)

    @property
    def items_(self) -> NDArray[Any]:
        """(d,) names."""
        return np.asarray(self.ratings_.items, dtype=object)

    @property
    def components_(self) -> Array:
        """(k, d) factors of the items."""
        return np.asarray(self.item_factors_.T)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _read(self, ratings: Any, user: str | None, item: str | None, rating: str | None) -> Given:
        """Ratings here; or, where an engine is in use and they are in files, kept by its workers."""
        if is_local() or isinstance(ratings, Ratings) or sparse.issparse(ratings):
            return Ratings.of(ratings, user, item, rating)
        table = opened(ratings)
        if isinstance(ratings, (list, tuple)) or not table.portable:
            return Ratings.of(table, user, item, rating)
        if "held-out" in (self.n_components, self.alpha, self.bias_alpha):
            raise ParameterError(
                "'held-out' fits many times on ratings in memory: choose n_components, alpha and bias_alpha without an "
                "engine, on the ratings of some users, and give them as numbers"
            )
        implicit_ = self.feedback == "implicit"
        return spread_ratings(table, rating_roles(table, user, item, rating), None, done=implicit_)

    def _fit(self, ratings: Given, progress: Progress | None) -> Self:
        if not len(ratings):
            raise DataError("there are no ratings: all cells are missing; give some")
        for name in ("ranks_", "alphas_", "held_out_errors_", "held_out_std_errors_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        given = self._standardised(ratings)
        chosen = self._choose(given)
        self.n_components_ = chosen.rank
        self.alpha_, self.bias_alpha_ = chosen.alpha, chosen.bias_alpha
        found = self._solved(given, progress)
        if not found.converged:
            warnings.warn(
                f"after {self.max_iter} sweeps the gradient is {found.residuals[-1]:.2g} of that at zero, not "
                f"{self.tol:g}: raise max_iter, tol or alpha",
                NotConverged,
                stacklevel=3,
            )
        return self._keep(ratings, found)

    def _standardised(self, ratings: Given) -> Given:
        """Ratings in the units of the solver; of counts their weights above 1, without those of zero."""
        beta = BIAS_ALPHA if self.bias_alpha == "held-out" else float(self.bias_alpha)
        if isinstance(ratings, SpreadRatings):
            if self.feedback == "implicit":
                self.mean_, self.scale_, self._low, self._high = 0.0, 1.0, -np.inf, np.inf
                confidence = self.confidence
                return ratings.changed(lambda value: confidence * value)
            self._low, self._high = ratings.extremes()
            made, self.mean_, self.scale_ = standardised(ratings, beta)
            return made
        value = ratings.value
        if self.feedback == "implicit":
            if (value < 0.0).any():
                at = int(np.flatnonzero(value < 0.0)[0])
                raise DataError(
                    f"Negative values in data: the count of user {ratings.users[ratings.user[at]]!r}, item "
                    f"{ratings.items[ratings.item[at]]!r} "
                    f"is {value[at]:g}, but counts are not negative; feedback='explicit' takes any ratings"
                )
            self.mean_, self.scale_ = 0.0, 1.0
            self._low, self._high = -np.inf, np.inf
            return self._weights(ratings)
        # sums of huge ratings may be no number; a power of two costs no digit
        largest = float(np.ldexp(1.0, int(np.frexp(np.abs(value).max())[1]) - 1))
        z = value / largest
        centre, spread = float(z.mean()), float(z.std())
        # rounding of the mean is no spread
        spread = spread if spread > 1e-13 * abs(centre) else 1.0
        whole = ratings.with_values((z - centre) / spread)
        left = left_by_biases(whole, beta)
        self.mean_, self.scale_ = centre * largest, spread * left * largest
        self._low, self._high = float(value.min()), float(value.max())
        return whole.with_values(whole.value / left)

    def _choose(self, z: Given) -> Choice:
        rank, alpha, beta = self.n_components, self.alpha, self.bias_alpha
        explicit_ = self.feedback == "explicit"
        empty = np.empty((0, 0))
        nothing = np.empty(0, np.int64)
        if "held-out" not in (rank, alpha, beta if explicit_ else None):
            return Choice(nothing, np.empty(0), empty, empty, int(rank), float(alpha), float(beta))
        assert isinstance(z, Ratings)  # others were refused
        folds = z.folds(self.cv, self._seed())
        if folds.max(initial=-1) + 1 < self.cv or np.bincount(folds[folds >= 0], minlength=self.cv).min() == 0:
            raise DataError(
                f"'held-out' needs ratings in each of {self.cv} folds; users with at least two have "
                f"{int((folds >= 0).sum())} of them: set cv, or numbers for n_components and alpha"
            )
        usual = ALPHAS if explicit_ else COUNT_ALPHAS
        alphas = usual if alpha == "held-out" else (float(alpha),)
        if explicit_:
            ranks = (0, *RANKS) if rank == "held-out" else (int(rank),)
            betas = BIAS_ALPHAS if beta == "held-out" else (float(beta),)
            found = choose_explicit(z, folds, ranks, alphas, betas)
        else:
            found = choose_implicit(z, folds, RANKS if rank == "held-out" else (int(rank),), alphas)
        unit = self.scale_ if explicit_ else 1.0
        self.ranks_, self.alphas_ = found.ranks, found.alphas
        self.held_out_errors_, self.held_out_std_errors_ = found.errors * unit, found.std_errors * unit
        return found

    def _solved(self, z: Given, progress: Progress | None) -> Factors:
        k, penalty = self.n_components_, Penalty(self.alpha_, self.bias_alpha_, POWER)
        how: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "progress": progress}
        if self.feedback == "implicit":
            begin = spread_start(z, k, None) if isinstance(z, SpreadRatings) else implicit_start(z, k)
            return implicit(z, begin, penalty, **how)
        if not k:
            return biases(z, self.bias_alpha_, tol=self.tol, max_iter=self.max_iter)
        base = biases(z, self.bias_alpha_, tol=1e-2, max_iter=10)
        if isinstance(z, SpreadRatings):
            return explicit(z, spread_start(z, k, base), penalty, **how)
        return explicit(z, spectral_start(z, z.value - base.at(z.user, z.item), k, base), penalty, **how)

    def _keep(self, ratings: Given, found: Factors) -> Self:
        here, rated = (
            (ratings, ratings.per_item) if isinstance(ratings, Ratings) else (ratings.named, ratings.rated_per_item)
        )
        cost = Penalty(1.0, 0.0, POWER).of_rows(rated)
        _, axes = np.linalg.eigh((found.items * cost[:, None]).T @ found.items)
        axes = axes[:, ::-1]
        items = found.items @ axes
        signs = column_signs(items) if items.size else np.ones(axes.shape[1])
        axes = axes * signs
        # of both sides alike, so that products are in units of the ratings
        root = np.sqrt(self.scale_)
        self.item_factors_ = np.ascontiguousarray(found.items @ axes) * root
        self.user_factors_ = np.ascontiguousarray(found.users @ axes) * root
        self.user_bias_, self.item_bias_ = found.user_bias * self.scale_, found.item_bias * self.scale_
        self.objective_ = found.objective
        self.kkt_residual_ = float(found.residuals[-1])
        self.n_iter_, self.converged_ = max(len(found.objective), 1), bool(found.converged)
        self.ratings_ = here
        return self

    def _check_options(self) -> None:
        if self.feedback not in ("explicit", "implicit"):
            raise ParameterError(f"feedback is 'explicit' or 'implicit'; got {self.feedback!r}")
        if self.n_components != "held-out":
            counted(self.n_components, "n_components", least=0 if self.feedback == "explicit" else 1)
        for name in ("alpha", "bias_alpha"):
            given = getattr(self, name)
            if given != "held-out" and not _is_number(given, 0.0):
                raise ParameterError(f"{name} is a number of at least 0, or 'held-out'; got {given!r}")
        for name in ("confidence", "tol"):
            if not _is_number(getattr(self, name), 0.0):
                raise ParameterError(f"{name} is a number of at least 0; got {getattr(self, name)!r}")
        counted(self.max_iter, "max_iter")
        counted(self.cv, "cv", least=2)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.feedback == "implicit"
        return tags


def _is_triples(X: Any) -> bool:
    if isinstance(X, (Ratings, Source, str, os.PathLike, pa.Table, pa.RecordBatch)):
        return True
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(row, tuple) for row in X)
    columns = getattr(X, "columns", None)
    return columns is not None and looks_like_ratings([str(name) for name in columns])


def _is_number(given: Any, least: float) -> bool:
    number = isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
    return bool(number and least <= float(given) < np.inf)
