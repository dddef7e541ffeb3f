"""A mixture of normal laws, as values: four shapes of covariance, their floor, the maximisation step, and their units.

    density   p(z) = sum_g pi_g N(z | m_g, S_g),       S_g = L_g L_g^T          g = 1 .. k, z (d,) in a frame
    E step    r_ig = pi_g N(z_i | m_g, S_g) / p(z_i),  w_ig = L_g^-1 (z_i - m_g)
    sums      N_g = sum_i r_ig,  a_g = sum_i r_ig w_ig / N_g,  B_g = sum_i r_ig w_ig w_ig^T / N_g
    M step    pi_g = N_g / n,  m_g + L_g a_g,  S_g = L_g (B_g - a_g a_g^T) L_g^T, pooled as the shape asks for

The sums are about the old mean and in units of the old covariance: near the end they are close to 0 and to the
identity, so neither data far from zero nor long thin components cost digits.

The floor is a constraint: no eigenvalue of any S_g is below it. Raising the eigenvalues below the floor to it is
the exact maximiser under that constraint (for each eigenvector, log l + s / l grows in l beyond s), so the likelihood
of the constrained model still never falls; adding a constant to the diagonal would break that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular

from assay.arrays import Array
from assay.summary.incomplete.expectation import Frame

Shape: TypeAlias = Literal["full", "tied", "diag", "spherical"]

_LOG_2PI = float(np.log(2.0 * np.pi))
# The logarithm of a weight of zero: exp of it is zero, and no infinity meets another.
_NEVER = -1e30
# Shares that sum to less have lost their digits to underflow, and count as none.
_NOTHING = 1e-200


@dataclass(frozen=True, slots=True, eq=False)
class MixtureSums:
    """What one pass over rows gives; sums of parts are the sums of the whole.

    Attributes:
        rows: how many.
        log_likelihood: of the rows, in the units of the frame.
        mass: (k,) sum of responsibilities.
        first: (k, d) sum of r w.
        second: (k, d, d) sum of r w w^T for triangular shapes, (k, d) sum of r w^2 for diagonal ones.
    """

    rows: int
    log_likelihood: float
    mass: Array
    first: Array
    second: Array

    def __add__(self, other: MixtureSums) -> MixtureSums:
        return MixtureSums(
            self.rows + other.rows,
            self.log_likelihood + other.log_likelihood,
            self.mass + other.mass,
            self.first + other.first,
            self.second + other.second,
        )


@dataclass(frozen=True, slots=True, eq=False)
class MixtureComponents:
    """k weighted normal laws in d columns.

    Attributes:
        shape: which covariances the components may have.
        weights: (k,) summing to 1.
        means: (k, d).
        factors: (k, d, d) lower triangular with S = L L^T for "full", (1, d, d) for "tied"; standard deviations
            (k, d) for "diag" and (k, 1) for "spherical".
        floored: (k,), for "tied" (1,), directions held at the floor.
    """

    shape: Shape
    weights: Array
    means: Array
    factors: Array
    floored: NDArray[np.int64]

    @property
    def triangular(self) -> bool:
        """Whether covariances have entries off the diagonal."""
        return self.shape in ("full", "tied")

    @property
    def covariances(self) -> Array:
        """(k, d, d), (1, d, d), (k, d) or (k, 1), as the factors are."""
        product: Array = self.factors @ self.factors.swapaxes(1, 2) if self.triangular else self.factors**2
        return product

    def ordered(self) -> MixtureComponents:
        """The same with the heaviest component first."""
        order = np.argsort(-self.weights, kind="stable")
        own = order if len(self.factors) == len(order) else slice(None)
        return MixtureComponents(
            self.shape, self.weights[order], self.means[order], self.factors[own], self.floored[own]
        )


def bounded(
    shape: Shape,
    weights: Array,
    means: Array,
    covariances: Array,
    floor: float,
    before: MixtureComponents | None = None,
) -> MixtureComponents:
    """Components from their covariances, none below the floor.

    Args:
        shape: of the covariances.
        weights, means: (k,) and (k, d).
        covariances: (k, d, d), (1, d, d), (k, d) or (k, 1), as `Components.covariances`.
        floor: the smallest eigenvalue.
        before: where a component without weight keeps its covariance from.
    """
    if covariances.ndim == 2:
        floored = np.count_nonzero(covariances < floor, axis=1)
        factors = np.sqrt(np.maximum(covariances, floor))
    else:
        pairs = [_raised(S, floor) for S in covariances]
        factors, floored = np.stack([L for L, _ in pairs]), np.array([count for _, count in pairs])
    if before is not None and len(factors) == len(weights):
        lost = weights == 0.0
        factors[lost], floored[lost] = before.factors[lost], before.floored[lost]
    return MixtureComponents(shape, weights, means, factors, floored.astype(np.int64))


def maximised(law: MixtureComponents, sums: MixtureSums, floor: float) -> MixtureComponents:
    """The M step: the components that make the rows most likely, each row shared out as the E step did.

    A component without any share of a row keeps its place and shape, with weight zero.
    """
    alive = sums.mass > _NOTHING
    mass = np.where(alive, sums.mass, 1.0)
    offset = np.where(alive[:, None], sums.first / mass[:, None], 0.0)
    weights = np.where(alive, sums.mass / sums.rows, 0.0)
    if law.triangular:
        L = np.broadcast_to(law.factors, (len(mass), *law.factors.shape[1:]))
        means = law.means + np.einsum("kij,kj->ki", L, offset)
        spread = sums.second / mass[:, None, None] - offset[:, :, None] * offset[:, None, :]
        if law.shape == "tied":
            spread = np.einsum("k,kij->ij", weights, spread)[None]
        S = law.factors @ spread @ law.factors.swapaxes(1, 2)
        return bounded(law.shape, weights, means, (S + S.swapaxes(1, 2)) / 2.0, floor, law)
    means = law.means + law.factors * offset
    spread = sums.second / mass[:, None] - offset**2
    if law.shape == "spherical":
        spread = spread.mean(axis=1, keepdims=True)
    return bounded(law.shape, weights, means, law.factors**2 * spread, floor, law)


def hard_start(shape: Shape, rows: Array, labels: NDArray[Any], centres: Array, floor: float) -> MixtureComponents:
    """Components of groups of (m, d) rows, each row wholly in its own group.

    Args:
        shape: of the covariances.
        rows: in the frame.
        labels: (m,) group of each row, from 0.
        centres: (k, d) near the groups; a group without rows stays there.
        floor: the smallest eigenvalue.
    """
    even = wide_start(shape, centres)
    parts = [rows[labels == g] - centre for g, centre in enumerate(centres)]
    first = np.stack([part.sum(axis=0) for part in parts])
    squares = [part.T @ part if even.triangular else np.einsum("ij,ij->j", part, part) for part in parts]
    mass = np.array([float(len(part)) for part in parts])
    return maximised(even, MixtureSums(len(rows), 0.0, mass, first, np.stack(squares)), floor)


def wide_start(shape: Shape, means: Array) -> MixtureComponents:
    """Equal components around given (k, d) means, each as wide as all the data are in their frame."""
    k, d = means.shape
    factors = _unit(shape, k, d)
    return MixtureComponents(shape, np.full(k, 1.0 / k), means, factors, np.zeros(len(factors), np.int64))


def n_parameters(shape: Shape, k: int, d: int) -> int:
    """How many numbers describe k components in d columns.

    >>> n_parameters("full", 2, 3)
    19
    """
    covariance = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}[shape]
    return covariance + k * d + k - 1


@dataclass(frozen=True, slots=True, eq=False)
class MixtureWhitening:
    """What the E step needs: w = A z - c, log joint density = base - w^2 / 2.

    Attributes:
        A: (k, d, d) lower triangular, or (k, d).
        c: (k, d).
        base: (k,).
    """

    A: Array
    c: Array
    base: Array

    @classmethod
    def of(cls, law: MixtureComponents) -> MixtureWhitening:
        """That of components in their frame."""
        k, d = law.means.shape
        if law.triangular:
            own = np.stack([lapack.dtrtri(L, lower=1)[0] for L in law.factors])
            A = np.ascontiguousarray(np.broadcast_to(own, (k, d, d)))
        else:
            A = np.ascontiguousarray(np.broadcast_to(1.0 / law.factors, (k, d)))
        return cls.about(law.weights, law.means, A)

    @classmethod
    def about(cls, weights: Array, means: Array, A: Array) -> MixtureWhitening:
        """That of components with given inverse factors A."""
        c = np.einsum("kij,kj->ki", A, means) if A.ndim == 3 else A * means
        scales = np.diagonal(A, axis1=1, axis2=2) if A.ndim == 3 else A
        size = np.log(scales, out=np.zeros(scales.shape), where=scales > 0.0).sum(axis=1)
        chance = np.log(weights, out=np.full(len(weights), _NEVER), where=weights > 0.0)
        dimension = np.count_nonzero(scales[0] > 0.0)
        return cls(A, c, chance + size - 0.5 * dimension * _LOG_2PI)


def in_units(law: MixtureComponents, frame: Frame, mean: Array) -> tuple[Array, Array, Array]:
    """Means, covariances and Cholesky factors of precisions in the columns of the user, in scikit-learn's shapes.

    There the covariance is scale S scale and its inverse U U^T with U = L^-T / scale, (d, d) upper triangular; constant
    columns have zeros in both.

    Args:
        law: in the frame.
        frame: of the fit, z = (x - centre) / scale.
        mean: (D,) of all columns, those that are left out of the frame too.
    """
    active, scale, d = frame.active, frame.scale, len(mean)
    means = np.tile(mean, (len(law.means), 1))
    means[:, active] += scale * law.means
    if law.shape == "spherical":
        return means, law.covariances[:, 0] * scale[0] ** 2, 1.0 / (law.factors[:, 0] * scale[0])
    if law.shape == "diag":
        covariances, factors = np.zeros((2, *means.shape))
        covariances[:, active] = law.covariances * scale**2
        factors[:, active] = 1.0 / (law.factors * scale)
        return means, covariances, factors
    grid = np.ix_(np.arange(len(law.factors)), active, active)
    covariances, factors = np.zeros((2, len(law.factors), d, d))
    covariances[grid] = scale[:, None] * law.covariances * scale
    unit = np.eye(len(active))
    factors[grid] = [solve_triangular(L, unit, lower=True).T / scale[:, None] for L in law.factors]
    return (means, covariances[0], factors[0]) if law.shape == "tied" else (means, covariances, factors)


def reading(shape: Shape, weights: Array, means: Array, factors: Array) -> tuple[Frame, MixtureWhitening]:
    """How to look at new rows: a frame, and the whitening in it.

    Args:
        shape: of the covariances.
        weights, means: (k,) and (k, d).
        factors: of the precisions, as `in_units` gives them.
    """
    A = _lower(shape, factors, means.shape)
    sizes = np.diagonal(A, axis1=1, axis2=2) if A.ndim == 3 else A
    active = np.flatnonzero(sizes[0] > 0.0)
    scale = 1.0 / sizes[:, active].max(axis=0)
    centre = (weights @ means)[active]
    inner = A[np.ix_(np.arange(len(A)), active, active)] if A.ndim == 3 else A[:, active]
    frame = Frame(active, centre, scale)
    return frame, MixtureWhitening.about(
        weights, (means[:, active] - centre) / scale, np.ascontiguousarray(inner * scale)
    )


def drawn_from(
    shape: Shape, weights: Array, means: Array, factors: Array, n: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int64]]:
    """(n, d) rows drawn from a mixture, and (n,) the component of each."""
    frame, whitening = reading(shape, weights, means, factors)
    labels = rng.choice(len(weights), size=n, p=weights)
    noise = rng.standard_normal((n, len(frame.active)))
    rows = means[labels]
    for g, A in enumerate(whitening.A):
        own = np.flatnonzero(labels == g)
        z = solve_triangular(A, noise[own].T, lower=True).T if A.ndim == 2 else noise[own] / A
        rows[np.ix_(own, frame.active)] += z * frame.scale
    return rows, labels


def _raised(S: Array, floor: float) -> tuple[Array, int]:
    """The Cholesky factor of a symmetric matrix with its eigenvalues raised to the floor, and how many were."""
    if lapack.dpotrf(S - floor * np.eye(len(S)), lower=1)[1] == 0:
        return lapack.dpotrf(S, lower=1, clean=1)[0], 0
    values, vectors = np.linalg.eigh(S)
    # by QR of a root, which no rounding can make indefinite: S = H H^T, H^T = Q R, so S = R^T R
    R = np.asarray(np.linalg.qr((vectors * np.sqrt(np.maximum(values, floor))).T, mode="r"))
    return (R * np.where(np.diag(R) < 0.0, -1.0, 1.0)[:, None]).T, int(np.count_nonzero(values < floor))


def _unit(shape: Shape, k: int, d: int) -> Array:
    if shape == "full":
        return np.tile(np.eye(d), (k, 1, 1))
    return {"tied": np.eye(d)[None], "diag": np.ones((k, d)), "spherical": np.ones((k, 1))}[shape]


def _lower(shape: Shape, factors: Array, size: tuple[Any, ...]) -> Array:
    """The transposed factors of every component: (k, d, d) lower triangular, or (k, d)."""
    k, d = size
    match shape:
        case "full":
            return factors.swapaxes(1, 2)
        case "tied":
            return np.broadcast_to(factors.T, (k, d, d))
        case "diag":
            return factors
        case "spherical":
            return np.broadcast_to(factors[:, None], (k, d))
