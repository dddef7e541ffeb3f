"""What a fitted factorisation says: of pairs, of users, of items that are alike, of somebody who was not there.

r_ui ~ mu + b_u + c_i + p_u . q_i        parts of those who are not known are 0
(b, p) of a new user                      the ridge regression on the items rated that fits the others, too
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.models.base import Estimator
from assay.models.prediction.recommender.als import Factors, Penalty, explicit, implicit
from assay.models.prediction.recommender.choose import POWER
from assay.models.prediction.recommender.ranking import first
from assay.summary.ratings.ratings import Ratings, as_name


class Recommended(NamedTuple):
    """An item and how much is expected of it."""

    item: str
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class NewUser:
    """A user who was not in the ratings, folded in: what `predict` and `recommend` need to know.

    Attributes:
        bias: how much higher than others he or she rates; 0 for counts.
        factors: (k,) tastes.
        seen: names of the items rated.
    """

    bias: float
    factors: Array
    seen: tuple[str, ...]


class _Reading(Estimator):
    """What can be asked of a fitted factorisation; see `MatrixFactorization` for what it holds."""

    feedback: str
    confidence: float
    clip: bool
    ratings_: Ratings
    mean_: float
    scale_: float
    user_bias_: Array
    item_bias_: Array
    user_factors_: Array
    item_factors_: Array
    n_components_: int
    alpha_: float
    bias_alpha_: float
    _low: float
    _high: float

    def predict(self, X: Any, items: Any = None) -> Any:
        """What users would make of items.

        Args:
            X: names of users, one or m, or `NewUser`; without items an (n, d) array of ratings, NaN where missing,
                whose rows are folded in.
            items: names of items, one or m. One user and m items, or the reverse, are fine.

        Returns:
            (m,) predictions, a number for one pair; (n, d) predictions of all cells without items. Names that are not
            known get what is known of the other, see above.
        """
        check_is_fitted(self)
        if items is None:
            return self._completed(X)
        whom, what = _listed(X), _listed(items)
        alone = _is_one(X) and _is_one(items)
        if len(whom) != len(what) and 1 not in (len(whom), len(what)):
            raise ParameterError(
                f"there are {len(whom)} users and {len(what)} items; give as many of both, or one of either"
            )
        m = max(len(whom), len(what))
        whom, what = whom * m if len(whom) == 1 else whom, what * m if len(what) == 1 else what
        numbers = self.ratings_.item_numbers
        item = np.array([numbers.get(as_name(name), -1) for name in what], np.int64)
        bias, factors = self._of_users(whom)
        known = item >= 0
        found = self.mean_ + bias
        found[known] += self.item_bias_[item[known]] + np.einsum(
            "mk,mk->m", factors[known], self.item_factors_[item[known]]
        )
        found = self._within(found)
        return float(found[0]) if alone else found

    def recommend(self, user: Any, n: int = 10, *, exclude_seen: bool = True) -> list[Recommended]:
        """The items of which most is expected, best first.

        Args:
            user: a name, or `NewUser`; None is somebody of whom nothing is known.
            n: how many at most.
            exclude_seen: whether items that the user rated are left out.
        """
        check_is_fitted(self)
        counted(n, "n")
        scores = self._all_items(user)
        if exclude_seen and user is not None:
            scores[self._seen(user)] = -np.inf
        order = first(scores[None, :], min(int(n), len(scores)))[0]
        shown = self._within(scores[order])
        return [
            Recommended(self.ratings_.items[i], float(value))
            for i, value, raw in zip(order, shown, scores[order], strict=True)
            if raw > -np.inf
        ]

    def similar_items(self, item: Any, n: int = 10) -> list[Recommended]:
        """The items whose factors point the same way, most alike first: cosines, which say nothing of popularity.

        Args:
            item: a name.
            n: how many at most.
        """
        check_is_fitted(self)
        counted(n, "n")
        at = self.ratings_.item_number(item)
        length = np.sqrt(np.einsum("dk,dk->d", self.item_factors_, self.item_factors_))
        if length[at] == 0.0:
            raise DataError(f"the item {as_name(item)!r} has no factors: there is nothing by which others are like it")
        size = np.where(length > 0.0, length, np.inf)
        cosine = self.item_factors_ @ self.item_factors_[at] / size / length[at]
        cosine[at] = -np.inf
        order = first(cosine[None, :], min(int(n), len(cosine) - 1))[0] if len(cosine) > 1 else []
        return [Recommended(self.ratings_.items[i], float(min(max(cosine[i], -1.0), 1.0))) for i in order]

    def fold_in(self, ratings: Mapping[Any, float] | Iterable[tuple[Any, float]]) -> NewUser:
        """A user who was not there, by the same regression that fits the others; nothing is fitted anew.

        Args:
            ratings: {item: rating}, or (item, rating) pairs. All items must be known; other names are refused.
        """
        check_is_fitted(self)
        pairs = list(ratings.items() if isinstance(ratings, Mapping) else ratings)
        if not pairs:
            return NewUser(0.0, np.zeros(self.n_components_), ())
        row = Ratings.of([("new", name, value) for name, value in pairs])
        number = np.array([self.ratings_.item_number(name) for name in row.items])
        order = np.argsort(number)
        X = sparse.csr_array((row.value[order], number[order], [0, len(order)]), shape=(1, self.n_features_in_))
        bias, factors = self._folded(Ratings.of_matrix(X))
        return NewUser(float(bias[0]), factors[0], tuple(row.items[i] for i in order))

    def _rows(self, X: Any) -> Ratings:
        checks = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": False}
        return Ratings.of_matrix(self._checked(X, reset=False, **checks))

    def _folded(self, rows: Ratings) -> tuple[Array, Array]:
        """Biases and factors of users who are given by their ratings, in units of the ratings."""
        root = np.sqrt(self.scale_)
        Q = self.item_factors_ / root
        zero, n = np.zeros(rows.n_users), rows.n_users
        start = Factors(
            np.zeros((n, Q.shape[1])), Q, zero, self.item_bias_ / self.scale_, np.empty(0), np.empty(0), False
        )
        penalty = Penalty(self.alpha_, self.bias_alpha_, POWER)
        if self.feedback == "implicit":
            found = implicit(self._weights(rows), start, penalty, max_iter=0, tol=np.inf)
        else:
            z = rows.with_values((rows.value - self.mean_) / self.scale_)
            found = explicit(z, start, penalty, max_iter=0, tol=np.inf)
        return found.user_bias * self.scale_, found.users * root

    def _completed(self, X: Any) -> Array:
        if sparse.issparse(X):
            raise ParameterError(
                "predictions of all cells of a sparse matrix are not sparse: name users and items, or give an array "
                "with NaN where ratings are missing"
            )
        bias, factors = self._folded(self._rows(X))
        return self._within(self.mean_ + bias[:, None] + self.item_bias_ + factors @ self.item_factors_.T)

    def _of_users(self, users: Sequence[Any]) -> tuple[Array, Array]:
        bias, factors = np.zeros(len(users)), np.zeros((len(users), self.item_factors_.shape[1]))
        numbers = self.ratings_.user_numbers
        for j, user in enumerate(users):
            if isinstance(user, NewUser):
                bias[j], factors[j] = user.bias, user.factors
            elif (at := numbers.get(as_name(user), -1)) >= 0:
                bias[j], factors[j] = self.user_bias_[at], self.user_factors_[at]
        return bias, factors

    def _all_items(self, user: Any) -> Array:
        if user is None:
            if self.feedback == "implicit":
                self._refuse_absent("what is popular is in them: name a user, or fold one in")
                return self.ratings_.per_item.astype(np.float64)
            return self.mean_ + self.item_bias_
        if not isinstance(user, NewUser):
            self.ratings_.user_number(user)  # refuses a name that is not known
        bias, factors = self._of_users([user])
        return np.asarray(self.mean_ + bias[0] + self.item_bias_ + self.item_factors_ @ factors[0])

    def _seen(self, user: Any) -> NDArray[Any]:
        if isinstance(user, NewUser):
            return np.array([self.ratings_.item_number(name) for name in user.seen], np.int64)
        at = self.ratings_.user_number(user)
        self._refuse_absent("what a user rated is in them: say exclude_seen=False, or fold the user in")
        return self.ratings_.item[self.ratings_.starts[at] : self.ratings_.starts[at + 1]]

    def _refuse_absent(self, why: str) -> None:
        if not len(self.ratings_):
            raise DataError(f"the ratings were left with the workers who read them, and {why}")

    def _within(self, predicted: Array) -> Array:
        return np.clip(predicted, self._low, self._high) if self.clip else predicted

    def _weights(self, ratings: Ratings) -> Ratings:
        done = ratings.value > 0.0
        kept = ratings if done.all() else ratings.subset(done)
        return kept.with_values(self.confidence * kept.value)


def _is_one(names: Any) -> bool:
    return isinstance(names, (str, NewUser)) or not isinstance(names, Iterable)


def _listed(names: Any) -> list[Any]:
    return [names] if _is_one(names) else list(names)


def counted(given: Any, what: str, least: int = 1) -> None:
    """Refuse what is no whole number of at least so much."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
        raise ParameterError(f"{what} is a whole number of at least {least}; got {given!r}")
