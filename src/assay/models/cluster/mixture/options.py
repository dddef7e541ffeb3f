"""What a mixture was asked for, checked, and where its climbs begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.arrays import Array
from assay.errors import DataError, ParameterError
from assay.models.cluster.mixture.gaussians import MixtureComponents, Shape, bounded, hard_start, wide_start
from assay.models.cluster.mixture.responsibilities import MixtureTable
from assay.models.shares import sum_to_one
from assay.optimize.kmeans.lloyd import lloyd
from assay.summary.distances.distances import squared_distances

# Below this, rounding in an eigenvalue of a matrix of standardised columns is as large as the floor.
_LEAST_FLOOR = 1e-12
_GRAIN = 2.0**16  # steps in a standard deviation
_FOR_EACH = 20  # rows drawn for each component at least, however wide they are
_FEW = 2**18  # numbers compared, rows x means x columns, for which nothing is compiled
_TRIES = 10  # of k-means for each start: they cost little beside the climb, and the best is a safer start


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """The parameters of a GaussianMixture.

    Attributes:
        k: how many components.
        shape: of their covariances.
        tol, floor, max_iter, n_init, init: as the model's.
        weights, means, precisions: given to begin with, in the columns of the user, or None.
    """

    k: int
    shape: Shape
    tol: float
    floor: float
    max_iter: int
    n_init: int
    init: str
    weights: Array | None
    means: Array | None
    precisions: Array | None

    @classmethod
    def of(cls, model: Any) -> Options:
        """Those of a model; what cannot be is refused."""
        if model.covariance_type not in get_args(Shape):
            allowed = ", ".join(map(repr, get_args(Shape)))
            raise ParameterError(f"covariance_type is one of {allowed}; got {model.covariance_type!r}")
        if model.init_params not in ("kmeans", "random_from_data"):
            raise ParameterError(f"init_params is 'kmeans' or 'random_from_data'; got {model.init_params!r}")
        if not (_is_number(model.tol) and model.tol >= 0.0):
            raise ParameterError(f"tol is a number >= 0; got {model.tol!r}")
        if not (_is_number(model.floor) and _LEAST_FLOOR <= model.floor <= 1.0):
            raise ParameterError(f"floor is a share of the variance from {_LEAST_FLOOR:g} to 1; got {model.floor!r}")
        counts = {name: _count(getattr(model, name), name) for name in ("n_components", "max_iter", "n_init")}
        given = {name: getattr(model, f"{name}_init") for name in ("weights", "means", "precisions")}
        arrays = {name: None if value is None else _finite(value, f"{name}_init") for name, value in given.items()}
        weights = arrays["weights"]
        if weights is not None and (weights.min(initial=0.0) < 0.0 or not sum_to_one(given["weights"])):
            raise ParameterError(f"weights_init is not negative and sums to 1; it sums to {weights.sum():g}")
        return cls(
            counts["n_components"], model.covariance_type, float(model.tol), float(model.floor), counts["max_iter"],
            counts["n_init"], model.init_params, weights, arrays["means"], arrays["precisions"],
        )  # fmt: skip

    def going_on(self, weights: Array, means: Array, precisions: Array, d: int) -> Options:
        """The same, to begin with the law of an earlier fit, where it is of the same shape."""
        fits = means.shape == (self.k, d) and precisions.shape == self._shape_of_precisions(d)
        spread = np.einsum("...ii->...i", precisions) if self.shape in ("full", "tied") else precisions
        if not fits or not (spread > 0.0).all():  # a column without spread then may have one now
            return self
        return replace(self, weights=weights, means=means, precisions=precisions)

    def refuse_few(self, rows: int) -> None:
        """Raise where there are more components than rows."""
        if self.k > rows:
            raise DataError(
                f"n_components is at most the number of rows; got {self.k} for {rows} rows: ask for fewer components"
            )

    def starts(self, table: MixtureTable, d: int, seed: int) -> Iterator[MixtureComponents]:
        """Where to begin, once for each start; with means given, or nothing left to chance, only once."""
        self._check_given(d)
        means, covariances = self._means(table), self._covariances(table)
        weights = None if self.weights is None else self.weights / self.weights.sum()
        if means is not None and weights is not None and covariances is not None:
            yield bounded(self.shape, weights, means, covariances, self.floor)
            return
        rows = table.drawn(seed, _FOR_EACH * self.k)
        for number in range(self.n_init if means is None else 1):
            law = self._found(rows, means, seed + number)
            yield bounded(
                self.shape,
                law.weights if weights is None else weights,
                law.means if means is None else means,
                law.covariances if covariances is None else covariances,
                self.floor,
            )

    def _found(self, rows: Array, means: Array | None, seed: int) -> MixtureComponents:
        """What k-means or chance gives; with means given, the groups of the rows nearest to them."""
        if means is None and self.init == "random_from_data":
            chosen = np.random.default_rng(seed).choice(len(rows), self.k, replace=False)
            return wide_start(self.shape, rows[chosen])
        if self.k == 1:
            return hard_start(self.shape, rows, np.zeros(len(rows)), np.zeros((1, rows.shape[1])), self.floor)
        # rounded, so that the last bits, which depend on how blocks are cut, cannot turn the start
        coarse = np.round(rows * _GRAIN) / _GRAIN
        if means is not None:
            return hard_start(self.shape, rows, *_one_step(coarse, means), self.floor)
        found = lloyd(coarse, self.k, seed=seed, n_init=_TRIES)
        return hard_start(self.shape, rows, found.labels, found.centers, self.floor)

    def _check_given(self, d: int) -> None:
        k = self.k
        for name, array, shape in (
            ("weights_init", self.weights, (k,)),
            ("means_init", self.means, (k, d)),
            ("precisions_init", self.precisions, self._shape_of_precisions(d)),
        ):
            if array is not None and array.shape != shape:
                raise ParameterError(f"{name} has shape {shape} here; got {array.shape}")

    def _shape_of_precisions(self, d: int) -> tuple[int, ...]:
        return {"full": (self.k, d, d), "tied": (d, d), "diag": (self.k, d), "spherical": (self.k,)}[self.shape]

    def _means(self, table: MixtureTable) -> Array | None:
        frame = table.frame
        return None if self.means is None else (self.means[:, frame.active] - frame.centre) / frame.scale

    def _covariances(self, table: MixtureTable) -> Array | None:
        """The inverse of the precisions given, in the frame."""
        if self.precisions is None:
            return None
        active, scale = table.frame.active, table.frame.scale
        if self.shape in ("diag", "spherical"):
            given = self.precisions[:, active] if self.shape == "diag" else self.precisions[:, None]
            own = given * scale[: given.shape[1]] ** 2
            if own.min() <= 0.0:
                raise ParameterError(f"precisions_init is positive; the smallest is {self.precisions.min():g}")
            return 1.0 / own
        whole = self.precisions.reshape(-1, *self.precisions.shape[-2:])
        own = scale[:, None] * whole[np.ix_(np.arange(len(whole)), active, active)] * scale
        for g, P in enumerate(own):
            if not np.allclose(P, P.T) or np.linalg.eigvalsh(P)[0] <= 0.0:
                raise ParameterError(f"precisions_init is symmetric and positive definite; number {g} is not")
        inverse = np.linalg.inv(own)
        return np.asarray((inverse + inverse.swapaxes(1, 2)) / 2.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(np.isfinite(value))


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ParameterError(f"{name} is a whole number, at least 1; got {value!r}")
    return int(value)


def _finite(value: ArrayLike, name: str) -> Array:
    array = np.array(value, dtype=np.float64)
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ParameterError(f"{name} holds finite numbers only; entry {place} is {array[tuple(place)]}")
    return array


def _one_step(rows: Array, means: Array) -> tuple[NDArray[Any], Array]:
    """Labels (m,) and centres (k, d) of the groups of the rows nearest to given means, after one step of k-means.

    >>> labels, centres = _one_step(np.array([[0.0], [1.0], [9.0]]), np.array([[0.0], [5.0]]))
    >>> labels.tolist(), centres.ravel().tolist()
    ([0, 0, 1], [0.5, 9.0])
    """
    if rows.size * len(means) <= _FEW:
        labels = squared_distances(rows, means).argmin(axis=1)
        if np.bincount(labels, minlength=len(means)).all():
            centres = np.stack([rows[labels == g].mean(axis=0) for g in range(len(means))])
            return squared_distances(rows, centres).argmin(axis=1), centres
    found = lloyd(rows, len(means), init=means, max_iter=1)
    return found.labels, found.centers
