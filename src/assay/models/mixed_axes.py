"""What `MCA` and `MixedPCA` share: levels as indicators with a geometry of their own, from moments, and what chance does.

    encoded   a number x;  a level k of a category: z_k = 1 in its rows, 0 in others, with share p_k
    scaled    (x - mean) / s, s^2 = sum (x - mean)^2 / n;   (z_k - p_k) / sqrt(u p_k), u one number for the model
    summary   C = D^-1 (scatter / n) D^-1, (d, d), D the scales             solver  C v_j = lambda_j v_j, descending
    within    sum_k sqrt(p_k) z_k = sqrt(p_k) is no direction: a category of L levels has L - 1, with u C = I among them

So a category weighs as much as it has free levels, numbers as much as a category of two levels, rare levels lie far out
(at a squared distance of 1 / p_k - 1), and what is left to find is what columns share with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from assay.data.columns.typed import TypedColumn, told_levels, typed_columns
from assay.data.sound import sound
from assay.data.source import Source
from assay.errors import DataError, ParameterError
from assay.linalg.permuted import permutation_plan, permuted_spectrum
from assay.linalg.principal import dense
from assay.linalg.spectral import eigen_symmetric
from assay.models.axes import _Axes
from assay.models.base import Array, on_engine
from assay.summary.grouped_law import grouped_law
from assay.summary.moments import Moments

_MOST_COLUMNS = 4_096  # moments of so many take 128 MB
_WHOLE = 1e-6  # what rounding and weights may leave of shares that sum to one


@dataclass(frozen=True, slots=True, eq=False)
class AxisChance:
    """Which axes are larger than independent columns would give.

    Attributes:
        p_values: (t,) of the axes tested, one after the other until the first that falls: the chance of one as large,
            given those before; never decreasing.
        upper: (t,) inertia that chance exceeds with probability alpha.
        n_real: leading axes with p <= alpha.
        draws: (t,) how many were made.
        method: how chance was drawn.
    """

    p_values: Array
    upper: Array
    n_real: int
    draws: tuple[int, ...]
    method: str


class _MixedAxes(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Axes):
    """Base of every model whose columns are numbers and indicators of levels."""

    n_components: int | float | str | None
    min_share: float
    _only_levels: ClassVar[bool]

    @on_engine
    def fit(self, X: Any, y: None = None, *, engine: Any = None) -> Self:
        """Find the axes of (n, d) rows.

        Args:
            X: array, data frame or `Source`, without missing values.
            y: not used.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use.
        """
        if not 0.0 <= self.min_share < 1.0:
            raise ParameterError(f"min_share is a share from 0 to below 1; got {self.min_share!r}")
        if isinstance(X, Source):
            encoded = self._source_as_numbers(X)
            self._record_columns(encoded.numeric_columns, len(encoded.numeric_columns))
            return self._settle(Moments.of(encoded), None)
        if hasattr(self, "encoding_"):  # of an earlier fit
            del self.encoding_
        rows = self._encoded(self._typed(X, reset=True), reset=True)
        return self._settle(Moments.of(rows, columns=tuple(self.column_names_)), rows)

    def fit_moments(self, moments: Moments, variables: Sequence[Any]) -> Self:
        """Fit from a summary of numbers and indicators, however gathered: an array, a file, a cluster, three hospitals.

        Args:
            moments: of all columns, one 0/1 column for each level.
            variables: (d,) what each column belongs to, such as ["sex", "sex", "age"]: several columns of one variable
                are the levels of a category, one alone is a number.
        """
        labels = list(variables)
        if len(labels) != moments.d:
            raise ParameterError(f"variables has one label for each of the {moments.d} columns; got {len(labels)}")
        known = list(dict.fromkeys(labels))
        groups = np.array([known.index(label) for label in labels], dtype=np.intp)
        sizes = np.bincount(groups)
        names = moments.columns or tuple(f"{label} ({i})" for i, label in enumerate(labels))
        levels = [np.array([names[i] for i in np.flatnonzero(groups == g)], dtype=object) for g in range(len(known))]
        self._describe(
            [str(name) for name in known],
            [None if size == 1 and not self._only_levels else level for size, level in zip(sizes, levels, strict=True)],
            groups,
            list(names),
        )
        self._record_columns(moments.columns, moments.d)
        self._raw = False
        return self._settle(moments, None)

    def transform(self, X: Any) -> Array:
        """Coordinates of rows, (n, k); rows that took no part are supplementary ones.

        A level that was not met on fit says nothing: its column counts as if it had the shares of all rows, so that the
        row lies where its other columns put it. Where rare levels were pooled, it counts as one of them.
        """
        return self._along(X)[0]

    def chance(self, X: Any = None, *, alpha: float = 0.05) -> AxisChance:
        """Which axes exceed what independent columns give, tested one after the other.

        Levels of one category depend on each other by making, so laws of random matrices do not hold for them. With rows
        each column of the user is permuted as a whole, which for the first axis is exact, and the axes before are taken
        out. Without rows chance is drawn from normal columns made uncorrelated within each category: for two categories
        the law of their chi-square. It needs many rows in every pair of levels. Both assume rows that are independent.

        Args:
            X: the rows that were fitted, where they are at hand.
            alpha: level of each step: the chance that independent columns give any axis.
        """
        check_is_fitted(self)
        return self._chance(None if X is None else self._numbers_of(X), alpha)

    @property
    def variable_cos2_(self) -> Array:
        """(v, k) of each column of the user with each axis: squared correlation, or of categories the correlation ratio,
        the share of the axis's variance that lies between levels."""
        check_is_fitted(self)
        return self.variable_contributions_ * self.explained_variance_ * self._unit

    @property
    def variable_contributions_(self) -> Array:
        """(v, k) share of each axis that comes from each column of the user; sums to 1."""
        parts = self.column_contributions_
        return np.array([parts[self.groups_ == g].sum(axis=0) for g in range(len(self.variables_))])

    def _unit_of(self, variables: int) -> float:
        raise NotImplementedError

    def _kinds_of(self, X: Source) -> dict[str, Any]:
        """Options of the encoding of a source."""
        raise NotImplementedError

    def _source_as_numbers(self, X: Source) -> Source:
        from assay.data.columns.encoded import EncodedSource, encode

        if not isinstance(X, EncodedSource):
            X = encode(X, log="never", min_share=self.min_share, max_levels=_MOST_COLUMNS, **self._kinds_of(X))
        encoding = self.encoding_ = X.encoding
        used = [column for column in encoding.columns if column.used]
        if not used:
            raise DataError("no column of the source became numbers: there are no axes; see its kinds, or declare them")
        numbers = [column.name for column in used if column.kind != "category"]
        if self._only_levels and numbers:
            raise DataError(
                f"MCA takes categories, and column {numbers[0]!r} was encoded as a number: use MixedPCA, leave it out "
                "with assay.encode(source, drop=[...]), or declare it: assay.read(..., kinds={...: 'category'})"
            )
        outputs = [column.outputs for column in used]
        groups = np.repeat(np.arange(len(used)), outputs)
        levels = [
            np.array(encoding.levels(column.name), dtype=object) if column.kind == "category" else None
            for column in used
        ]
        self._describe([column.name for column in used], levels, groups, list(encoding.names))
        self._raw = False
        return X

    def _typed(self, X: Any, *, reset: bool) -> list[TypedColumn]:
        """Columns of an array or a frame, none of them with a missing value."""
        if hasattr(X, "__dataframe__") or hasattr(X, "dtypes") or hasattr(X, "column_names"):
            validate_data(self, sound(X), reset=reset, skip_check_array=True)
        else:
            X = validate_data(
                self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=2 if reset else 1
            )
        columns = typed_columns(X, categories=self._only_levels)
        if reset and (not columns or len(columns[0].values) < 2):
            raise DataError(f"axes need at least 2 rows and a column; got {len(columns)} columns of too few rows")
        known = getattr(self, "feature_names_in_", None)
        for j, column in enumerate(columns):
            infinite = column.values.dtype.kind == "f" and np.isinf(column.values).any()
            if column.missing.any() or infinite:
                bad = np.isinf(column.values) if infinite else column.missing
                what = "infinity" if infinite else "NaN"
                raise DataError(
                    f"column {repr(known[j]) if known is not None else j} has no value in row {int(np.argmax(bad))}: "
                    "fill it (FillMissing), leave the row out, or make a level of what is missing. "
                    f"Input X contains {what}"
                )
        return columns

    def _encoded(self, columns: list[TypedColumn], *, reset: bool) -> Any:
        """(n, d) sparse rows of numbers and indicators."""
        if reset:
            self._learn(columns)
        n, at = len(columns[0].values), 0
        where, which, what = [], [], []
        rows = np.arange(n)
        for j, (column, levels) in enumerate(zip(columns, self.levels_, strict=True)):
            if levels is None:
                if not column.number:
                    raise DataError(f"column {self.variables_[j]!r} was a number on fit; these are levels")
                where.append(rows)
                which.append(np.full(n, at))
                what.append(column.values)
                at += 1
                continue
            codes = self._codes(column, j)
            known = codes >= 0
            where.append(rows[known])
            which.append(at + codes[known])
            what.append(np.ones(int(known.sum())))
            width = int(np.count_nonzero(self.groups_ == j))
            if not known.all():  # says nothing: the shares of all rows
                new = rows[~known]
                where.append(np.repeat(new, width))
                which.append(np.tile(np.arange(at, at + width), len(new)))
                what.append(np.tile(self.mean_[at : at + width], len(new)))
            at += width
        parts = (np.concatenate(what), (np.concatenate(where), np.concatenate(which)))
        return sp.csr_array(sp.coo_array(parts, shape=(n, at)))

    def _learn(self, columns: list[TypedColumn]) -> None:
        """Levels of each column, the rare ones of which are pooled."""
        known = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(len(columns))] if known is None else [str(name) for name in known]
        levels: list[NDArray[Any] | None] = []
        told: list[str] = []
        groups: list[int] = []
        self._pooled: list[bool] = []
        for j, column in enumerate(columns):
            if column.number:
                levels.append(None)
                told.append(names[j])
                groups.append(j)
                self._pooled.append(False)
                continue
            found, counts = np.unique(column.values, return_counts=True)
            rare = counts < self.min_share * len(column.values)
            levels.append(found[~rare])
            shown = told_levels(found[~rare].tolist()) + ([f"other ({rare.sum():,} levels)"] if rare.any() else [])
            told += [f"{names[j]} = {level}" for level in shown]
            groups += [j] * len(shown)
            self._pooled.append(bool(rare.any()))
        if len(told) > _MOST_COLUMNS:
            raise DataError(
                f"the columns have {len(told):,} levels together, more than {_MOST_COLUMNS:,}: pool rare ones with "
                "min_share=0.01, or leave out columns that name rows"
            )
        self._describe(names, levels, np.array(groups, dtype=np.intp), told)
        self._raw = True

    def _codes(self, column: TypedColumn, j: int) -> NDArray[np.intp]:
        """The level of each row, -1 where it was not met on fit and nothing was pooled."""
        levels = self.levels_[j]
        if column.number or (len(levels) and (levels.dtype.kind == "O") != (column.values.dtype.kind == "O")):
            raise DataError(f"column {self.variables_[j]!r} was fitted on levels of another type than these")
        place = np.minimum(np.searchsorted(levels, column.values), max(len(levels) - 1, 0))
        found = levels[place] == column.values if len(levels) else np.zeros(len(column.values), dtype=bool)
        return np.where(found, place, len(levels) if self._pooled[j] else -1).astype(np.intp)

    def _describe(self, names: list[str], levels: list[Any], groups: NDArray[np.intp], told: list[str]) -> None:
        self.variables_ = np.array(names, dtype=object)
        self.levels_ = levels
        self.groups_ = groups
        self.column_names_ = np.array(told, dtype=object)
        self._unit = self._unit_of(len(names))

    def _numbers_of(self, X: Any) -> Any:
        if self._raw and not isinstance(X, Source):
            return self._encoded(self._typed(X, reset=False), reset=False)
        rows = np.array(self._checked(X, reset=False), dtype=np.float64)
        for g, levels in enumerate(self.levels_):
            if levels is not None:
                inside = np.flatnonzero(self.groups_ == g)
                rows[np.ix_(~rows[:, inside].any(axis=1), inside)] = self.mean_[inside]
        return rows

    def _settle(self, moments: Moments, rows: Any) -> Self:
        """Scales, axes and what is said of them."""
        level = np.array([self.levels_[g] is not None for g in self.groups_])
        mean, variance = moments.mean, np.diag(moments.scatter) / moments.weight
        self._refuse_shares(mean, level)
        scale = np.sqrt(np.where(level, mean * self._unit, variance))
        self.scale_ = np.where(scale > 0.0, scale, 1.0)
        self.mean_ = mean
        self.n_samples_, self.weight_ = moments.count, moments.weight
        C = moments.scatter / moments.weight / self.scale_[:, None] / self.scale_
        self.column_variance_ = np.diag(C).copy()
        self.total_variance_ = float(self.column_variance_.sum())
        self._squares = float(np.sum(C**2))
        limit = min(self._free_directions()[0].shape[1], moments.count - 1)
        if limit < 1:
            raise DataError("every column is constant: there are no axes")
        spectrum = eigen_symmetric(C)
        self.eigenvalues_ = np.maximum(spectrum.values[:limit], 0.0)
        self.components_ = np.ascontiguousarray(spectrum.vectors[:, :limit].T)
        k = self._count(rows, limit)
        self.n_components_ = k
        self.components_ = self.components_[:k].copy()
        self.explained_variance_ = self.eigenvalues_[:k].copy()
        self.explained_variance_ratio_ = self.explained_variance_ / self.total_variance_
        return self

    def _refuse_shares(self, mean: Array, level: NDArray[np.bool_]) -> None:
        for g in np.unique(self.groups_[level]):
            total = float(mean[self.groups_ == g].sum())
            if abs(total - 1.0) > _WHOLE:
                raise DataError(
                    f"the indicators of {self.variables_[g]!r} sum to {total:.4g} in the mean, not to 1: every row has "
                    "one level; give a column to those that have none"
                )

    def _count(self, rows: Any, limit: int) -> int:
        asked = self.n_components
        if asked is None:
            return limit
        if isinstance(asked, str) and asked == "real":
            return self._chance(rows, 0.05).n_real
        if isinstance(asked, float) and 0.0 < asked < 1.0:
            share = np.cumsum(self.eigenvalues_) / self.total_variance_
            return min(int(np.searchsorted(share, asked - 1e-12)) + 1, limit)
        if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) and 0 < asked <= limit:
            return int(asked)
        raise ParameterError(
            f"n_components is None, 'real', a share between 0 and 1, or an integer from 1 to {limit} (levels less "
            f"columns, numbers, and rows less one); got {asked!r}"
        )

    def _chance(self, rows: Any, alpha: float) -> AxisChance:
        if not 0.005 <= alpha < 1.0:
            raise ParameterError(f"alpha is from 0.005, which 199 draws can reach, to below 1; got {alpha}")
        T, groups = self._free_directions()
        plan = permutation_plan(self.n_samples_, T.shape[1])
        rng = np.random.default_rng(self._seed())
        if len(np.unique(groups)) < 2:  # nothing that one column could share with another
            return AxisChance(np.empty(0), np.empty(0), 0, (), "there is only one column")
        if rows is not None and plan.draws > 0 and (1 + plan.draws) * alpha >= 1.0:
            if rows.shape[0] != self.n_samples_:
                raise ParameterError(
                    f"chance is drawn from the {self.n_samples_} rows that were fitted; got {rows.shape[0]}"
                )
            found = permuted_spectrum(
                self._centred(rows) @ T, rng=rng, alpha=alpha, n_max=plan.draws, max_components=plan.components,
                groups=groups,
            )  # fmt: skip
            t = len(found.null)
            upper = np.array([np.quantile(tops, 1.0 - alpha, method="higher") for tops in found.null])
            return AxisChance(
                found.p_values[:t], upper * (self.n_samples_ - 1.0) / self.weight_, found.n_real, found.draws,
                "columns permuted, axes found before taken out",
            )  # fmt: skip
        several = [g for g, levels in enumerate(self.levels_) if levels is None and (self.groups_ == g).sum() > 1]
        if several:
            raise DataError(
                f"the numbers made from {self.variables_[several[0]]!r} depend on each other by making, which only rows "
                "can tell from a finding: give them, chance(X), or leave the column out"
            )
        law = grouped_law(
            self.eigenvalues_[: len(self.components_)] * self._unit, T.T @ self.components_.T, groups,
            self.n_samples_, rng=rng, alpha=alpha, max_components=20,
        )  # fmt: skip
        return AxisChance(
            law.p_values,
            law.upper / self._unit,
            law.n_real,
            law.draws,
            "normal columns, uncorrelated within each category",
        )

    def _free_directions(self) -> tuple[Array, NDArray[np.intp]]:
        """(d, r) orthonormal directions of the scaled columns in which rows can move at all, and the column of each."""
        parts, groups = [], []
        for g, levels in enumerate(self.levels_):
            inside = np.flatnonzero(self.groups_ == g)
            if levels is None:
                basis = np.eye(len(inside))[:, self.column_variance_[inside] > 0.0]
            else:
                there = self.mean_[inside] > 0.0
                q = np.sqrt(self.mean_[inside])
                # the first axis of [q, e_k of levels that occur] is q: the others are what is free
                full, _ = np.linalg.qr(np.column_stack([q, np.eye(len(inside))[:, there]]))
                basis = full[:, 1 : int(there.sum())]
            parts.append(basis)
            groups += [g] * basis.shape[1]
        T: Array = sp.block_diag(parts, format="csr").toarray()
        return T, np.array(groups, dtype=np.intp)

    @property
    def _freedom(self) -> float:
        return self.weight_

    def _centred(self, X: Any) -> Array:
        centred: Array = (dense(X) - self.mean_) / self.scale_
        return centred

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
