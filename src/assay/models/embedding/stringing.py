"""Stringing: rows and columns put in the order in which they lie along one dimension.

points   Z, (n, d) standardised rows, or their columns, (d, n): |z_i - z_j|^2 = 2 n (1 - correlation)
summary  W, (n, n) sparse, exp(-|z_i - z_j|^2 / 2 sigma^2) among the 10 nearest, sigma their median distance
solver   Fiedler's vector of D - W, or one-dimensional t-SNE that starts from it
reading  order by position, (n,); roughness = mean |z - next z|^2 along it / mean over all pairs
chance   the same with every column of Z shuffled on its own: noise too looks smoother once it is ordered
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from assay.arrays import Array, Whole
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.noise.monte_carlo import monte_carlo, rank_p
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import as_generator, as_matrix
from assay.models.base import Estimator
from assay.models.transformer import Transformer
from assay.optimize.layout.tsne_layout import tsne_layout
from assay.summary.distances.distances import squared_distances
from assay.summary.distances.metrics import (
    Metric,
    checked_metric,
    distances,
    gaps_allowed,
    is_precomputed,
    pair_distances,
)
from assay.summary.gram.kernels import Gaussian
from assay.summary.graph.graph import Graph
from assay.summary.graph.perplexity import affinities
from assay.summary.graph.seriation import few_positions, fiedler_positions, order_of

Method: TypeAlias = Literal["fiedler", "tsne"]

_ALL_PAIRS = 1000
_FEW = 500  # points whose links are written out, zeros and all
_START = 1e-4  # spread of the positions that t-SNE starts from


@dataclass(frozen=True, slots=True, eq=False)
class Ordering:
    """An order of rows or columns, and whether it is smoother than chance would have it.

    Attributes:
        order: (n,) numbers of the rows or columns, in their new order.
        positions: (n,) where each stands on the line, by its own number; NaN for constant columns, which come last.
        roughness: mean squared difference of neighbours, relative to that of all pairs: 1 for a random order.
        chance: (draws,) the roughness that the same method reaches on shuffled columns.
    """

    order: Whole
    positions: Array
    roughness: float
    chance: Array

    @property
    def p(self) -> float:
        """How often chance does as well, (1 + draws as smooth) / (1 + draws); 1 without draws."""
        return rank_p(int((self.chance <= self.roughness).sum()), len(self.chance))

    @property
    def ratio(self) -> float:
        """Roughness over its mean by chance: 1 is no structure, 0 a smooth curve; NaN without draws."""
        usual = float(self.chance.mean()) if len(self.chance) else np.nan
        return self.roughness / usual if usual else 1.0


def reorder(
    X: ArrayLike,
    *,
    method: Method = "fiedler",
    axis: Literal["rows", "columns"] = "rows",
    scale: bool = True,
    metric: Metric = "euclidean",
    n_neighbors: int = 10,
    draws: int = 19,
    random_state: Any = 0,
) -> Ordering:
    """In which order do like rows, or like columns, stand side by side, and is it more than chance?

    Columns are compared by their correlation, not its modulus: 1 - r is half the squared distance of standardised
    columns, so that neighbours look alike and roughness means the same for both. Constant columns have none and come
    last. The order runs in the direction in which the leading principal score of its points rises; which way that is
    follows from the largest loading. Groups that no chain of near points joins are reordered one after the other.

    Args:
        X: (n, d) rows, finite.
        method: "fiedler": spectral seriation, fast. "tsne": one-dimensional t-SNE from there, smoother among
            neighbours, slower.
        axis: what to order.
        scale: divide each column by its standard deviation first; columns are compared so in any case.
        metric: how far rows are apart: "euclidean", "manhattan", "chebyshev", "cosine", "correlation", "hamming" or a
            function of two rows, of columns about their means. Columns are always compared by correlation.
        n_neighbors: how many near points each is linked with; for t-SNE the perplexity.
        draws: how many times the columns are shuffled.
        random_state: seed of the shuffles.

    Returns:
        Ordering.

    Reference: Chen, Chen, Mueller and Wang, Journal of the American Statistical Association 106, 2011.

    >>> t = np.random.default_rng(0).permutation(60) / 60
    >>> curve = np.column_stack([np.cos(3 * t), np.sin(3 * t), t])
    >>> found = reorder(curve)
    >>> bool((np.diff(t[found.order]) > 0).all() or (np.diff(t[found.order]) < 0).all()), found.p
    (True, 0.05)
    """
    table = as_matrix(X, name="X")
    if method not in ("fiedler", "tsne"):
        raise ParameterError(f'method must be "fiedler" or "tsne", is {method!r}.')
    if axis not in ("rows", "columns"):
        raise ParameterError(f'axis must be "rows" or "columns", is {axis!r}.')
    for name, value, least in (("n_neighbors", n_neighbors, 1), ("draws", draws, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ParameterError(f"{name} must be a whole number of at least {least}, is {value!r}.")
    if gaps_allowed(metric) or is_precomputed(checked_metric(metric)):
        raise ParameterError(
            f"reordering shuffles columns of numbers, which {metric!r} does not have; use another metric."
        )
    columns = axis == "columns"
    by: Metric = "euclidean" if columns else metric
    varying, Z = _centred(table, scale or columns)
    number, where = (table.shape[1], varying) if columns else (len(table), np.arange(len(table)))
    rng = as_generator(random_state)
    with one_blas_thread():  # so that the number of cores does not change the bits
        order, found, rough = _reordered(Z, columns, method, n_neighbors, by)
        chance = monte_carlo(
            (rng.permuted(Z, axis=0) for _ in range(draws)),
            lambda shuffled: [_reordered(one, columns, method, n_neighbors, by)[2] for one in shuffled],
            [1] * draws,
        ).values
    positions = np.full(number, np.nan)
    positions[where] = found
    rest = np.setdiff1d(np.arange(number), where)
    return Ordering(np.concatenate([where[order], rest]), positions, rough, np.array(chance))


class Stringing(Transformer, Estimator):
    """Order rows and columns so that like ones stand side by side, and say whether chance would do as well.

    `transform` puts the columns in order; rows stay, as scikit-learn's conventions ask, and their order is `rows_`:
    `model.transform(X)[model.rows_]` is the whole table reordered.

    Args:
        method: "fiedler" or "tsne", see `reorder`.
        scale: divide each column by its standard deviation before rows are compared.
        metric: how far rows are apart, see `reorder`.
        n_neighbors: how many near points each is linked with; for t-SNE the perplexity.
        draws: how many times the columns are shuffled, to know chance.
        random_state: seed of the shuffles.

    Attributes:
        rows_: (n,) order of the rows.
        columns_: (d,) order of the columns, constant ones last.
        embedding_: (n, 1) position of each row on the line.
        column_positions_: (d,) position of each column, NaN for constant ones.
        roughness_: (2,) of rows and columns, 1 for a random order.
        chance_: (2, draws) what shuffled columns give.
        p_: (2,) how often chance does as well.

    >>> X = np.array([[1.0, 9, 2], [3, 8, 6], [2, 1, 4]])
    >>> model = Stringing().fit(X)
    >>> model.rows_.tolist() in ([0, 2, 1], [1, 2, 0])
    True
    """

    def __init__(
        self,
        method: Method = "fiedler",
        *,
        scale: bool = True,
        metric: Metric = "euclidean",
        n_neighbors: int = 10,
        draws: int = 19,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.scale = scale
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.draws = draws
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Order (n, d) rows and their columns.

        Args:
            X: array, data frame or `Source`.
            y: not used.
        """
        rows = self._checked(X, reset=True, dtype=np.float64)
        rng = as_generator(self._seed())
        down, across = (
            reorder(
                rows, method=self.method, axis=axis, scale=self.scale, metric=self.metric,
                n_neighbors=self.n_neighbors, draws=self.draws, random_state=rng,
            )
            for axis in ("rows", "columns")
        )  # fmt: skip
        self.rows_, self.columns_ = down.order, across.order
        self.embedding_, self.column_positions_ = down.positions[:, None], across.positions
        self.roughness_ = np.array([down.roughness, across.roughness])
        self.chance_ = np.array([down.chance, across.chance])
        self.p_ = np.array([down.p, across.p])
        return self

    def transform(self, X: Any) -> Any:
        """(m, d) rows with their columns in order."""
        check_is_fitted(self)
        return self._checked(X, reset=False, dtype=np.float64)[:, self.columns_]

    def inverse_transform(self, X: ArrayLike) -> Array:
        """(m, d) rows with their columns back where they were."""
        check_is_fitted(self)
        reordered = as_matrix(X, name="X")
        if reordered.shape[1] != len(self.columns_):
            raise DataError(f"fitted on {len(self.columns_)} columns; these rows have {reordered.shape[1]}")
        return reordered[:, np.argsort(self.columns_)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns, in order."""
        check_is_fitted(self)
        names: NDArray[Any] = _check_feature_names_in(self, input_features)[self.columns_]
        return names


def _centred(X: Array, standardise: bool) -> tuple[Whole, Array]:
    """Which columns vary, and these about their mean, in units in which squares are safe."""
    Z = X / 2 - X[0] / 2  # halves, because the range of +-1e308 is not a number
    largest = np.abs(Z).max(axis=0)
    varying = np.flatnonzero(largest)
    Z, largest = Z[:, varying] / largest[varying], largest[varying]
    Z -= Z.mean(axis=0)
    if standardise:
        return varying, np.asarray(Z / Z.std(axis=0))
    return varying, np.asarray(Z * (largest / largest.max(initial=0.0)))


def _reordered(Z: Array, columns: bool, method: Method, near: int, metric: Metric) -> tuple[Whole, Array, float]:
    """Order, positions and roughness of the rows or columns of centred data."""
    points = np.ascontiguousarray(Z.T) if columns else Z
    n = len(points)
    if n < 2 or not points.any():
        order = np.arange(n)
        return order, (order + 0.5) / max(n, 1), 0.0
    lean = _leading(points)
    k = min(near, n - 1)
    if n <= _FEW and metric == "euclidean":
        positions = few_positions(_few_links(points, k), lean)
    else:
        links = _nearest(points, k, metric).symmetrised().weighted(Gaussian())
        positions = fiedler_positions(links.weights, lean)
    if method == "tsne" and n > 3:  # three points lie in order already
        positions = _by_tsne(points, positions, lean, near, metric)
    order = order_of(positions, lean)
    return order, positions, _rough(points, order, metric)


def _nearest(points: Array, k: int, metric: Metric) -> Graph:
    if len(points) > _ALL_PAIRS or metric != "euclidean":
        return Graph.nearest(points, k, metric)
    # without the threads of the search, which take longer to start than few points take to compare
    return Graph.nearest(np.sqrt(squared_distances(points)), k, "precomputed")


def _few_links(points: Array, k: int) -> Array:
    """(n, n) the same links written out: the sparse matrices of so few points take ten times as long to make."""
    n = len(points)
    D = np.sqrt(squared_distances(points))
    np.fill_diagonal(D, np.inf)
    linked = np.partition(D, k - 1, axis=1)[:, k - 1 : k] >= D
    tied = np.flatnonzero(linked.sum(axis=1) > k)  # of those equally near, the first are taken
    linked[tied] = False
    linked[tied[:, None], np.argsort(D[tied], axis=1, kind="stable")[:, :k]] = True
    linked |= linked.T
    W = np.zeros((n, n))
    W[linked] = Gaussian().of_distances(D[linked])
    return W


def _leading(points: Array) -> Array:
    """Scores on the leading principal axis; its sign is that of its largest loading."""
    found = top_svd(points - points.mean(axis=0), 1)
    return np.asarray(found.left[:, 0] * found.values[0])


def _by_tsne(points: Array, start: Array, lean: Array, near: int, metric: Metric) -> Array:
    spread = start - start.mean()
    P = affinities(points, min(float(near), (len(points) - 1) / 3), metric).P
    found = tsne_layout(P, _START * spread[:, None] / spread.std()).coordinates[:, 0]
    return -found if float((found - found.mean()) @ lean) < 0 else found


def _rough(points: Array, order: Whole, metric: Metric) -> float:
    """The same by any metric, of squared distances."""
    if metric == "euclidean":
        return roughness(points[order])
    n = len(points)
    steps = pair_distances(points, metric, order[:-1], order[1:])
    spread = float((distances(points, metric) ** 2).sum()) / (n * (n - 1))
    return float((steps**2).mean()) / spread if spread > 0.0 else 0.0


def roughness(points: Array) -> float:
    """Mean squared difference of neighbours over that of all pairs; 0 where all are equal.

    >>> roughness(np.array([[0.0], [1.0], [2.0]])), roughness(np.array([[1.0], [0.0], [2.0]]))
    (0.5, 1.25)
    """
    n = len(points)
    spread = 2 * float(points.var(axis=0).sum()) * n / (n - 1) if n > 1 else 0.0
    if spread == 0:
        return 0.0
    steps = np.diff(points, axis=0)
    return float(np.einsum("ij,ij->", steps, steps)) / (n - 1) / spread
