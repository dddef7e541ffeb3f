"""Latent semantic indexing: documents and terms in one space of few dimensions, where near means used alike.

summary  A, (n, d): n documents by d terms, sparse, not centred: zeros stay zeros
solver   A = U S V^T, the leading k triples;  A_k is the best approximation of rank k (Eckart and Young)
reading  documents U S = A V, (n, k);  terms V, (d, k);  a query q is a document of its own: q V
         likeness of two documents: the cosine of their coordinates
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from assay.errors import DataError, ParameterError
from assay.linalg.top_svd import top_svd
from assay.linalg.validate import as_count
from assay.models.base import Estimator

Array: TypeAlias = NDArray[np.float64]

_DEFAULT = 100


@dataclass(frozen=True, slots=True, eq=False)
class Similar:
    """The documents most like each query.

    Attributes:
        documents: (m, n) row numbers, most similar first; equally similar ones by row number.
        cosines: (m, n) their cosines with the query, descending.
    """

    documents: NDArray[np.int64]
    cosines: Array


class LSI(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Find the themes of documents from the terms they share, and documents like a query even without a common term.

    Args:
        n_components: how many dimensions; None takes 100, or as many as the table has rows or columns.
        random_state: seed of the solver's start.

    Attributes:
        components_: (k, d) terms in each dimension, orthonormal; the largest entry of each is positive.
        singular_values_: (k,) descending.
        documents_: (n, k) coordinates of the training documents.
        explained_share_: (k,) squared singular values as shares of the sum of squares of the table. Nothing is
            centred, so this is not a share of the variance.
        residual_: largest length of A v - s u, as a share of the largest singular value.
        route_: "svd" (full decomposition), "gram" (the smaller product formed) or "lanczos" (products only).

    >>> ratings = np.array([[5, 4, 1], [5, 5, 0], [0, 0, 5], [1, 0, 4]])
    >>> lsi = LSI(2).fit(ratings)
    >>> lsi.singular_values_.round(7)
    array([9.6438109, 6.3638909])
    >>> lsi.similar([[0, 3, 0]], 2).documents  # rows most like someone who liked the second column only
    array([[1, 0]])

    References:
        Deerwester, Dumais, Furnas, Landauer and Harshman, Indexing by latent semantic analysis, 1990.
    """

    def __init__(self, n_components: int | None = None, *, random_state: Any = None) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the dimensions of an (n, d) table of documents by terms.

        Args:
            X: array, data frame, sparse matrix or `Source`; counts, or weights such as tf-idf.
            y: not used.
        """
        table = self._checked(X, reset=True, accept_sparse="csr", dtype=np.float64)
        n, d = table.shape
        most = min(n, d)
        asked = min(_DEFAULT, most) if self.n_components is None else self.n_components
        k = as_count(asked, most, name="n_components", what="the smaller of rows and columns")
        found = top_svd(table, k, random_state=self._seed())
        self.singular_values_ = found.values
        self.components_ = np.ascontiguousarray(found.right.T)
        self.documents_ = found.left * found.values
        largest = float(found.values[0])
        self.residual_ = float(found.residuals.max()) / largest if largest > 0.0 else 0.0
        self.route_ = found.method
        self.explained_share_ = _shares(found.values, table)
        return self

    def transform(self, X: Any) -> Array:
        """Fold (m, d) documents or queries in: their coordinates, (m, k)."""
        check_is_fitted(self)
        coordinates: Array = self._checked(X, reset=False, accept_sparse="csr", dtype=np.float64) @ self.components_.T
        return coordinates

    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Terms that (m, k) coordinates stand for: (m, d)."""
        check_is_fitted(self)
        coordinates = np.asarray(Z, dtype=np.float64)
        k = len(self.components_)
        if coordinates.ndim != 2 or coordinates.shape[1] != k:
            raise ParameterError(f"coordinates have shape (m, {k}); got {coordinates.shape}")
        return np.asarray(coordinates @ self.components_)

    def similar(self, queries: Any, n: int = 10) -> Similar:
        """The n training documents most like each of (m, d) queries, by the cosine of their coordinates.

        A document of which nothing is left in the space has cosine 0 with every query.
        """
        check_is_fitted(self)
        n = as_count(n, len(self.documents_), name="n", what="the documents")
        folded = self.transform(queries)
        lengths = np.linalg.norm(folded, axis=1)
        empty = np.flatnonzero(lengths == 0.0)
        if len(empty):
            raise DataError(f"query {empty[0]} has no term in the space, so no document is like it; use other terms")
        size = np.linalg.norm(self.documents_, axis=1)
        known = np.divide(self.documents_, size[:, None], out=np.zeros_like(self.documents_), where=size[:, None] > 0.0)
        cosines = np.clip(folded / lengths[:, None] @ known.T, -1.0, 1.0)
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :n]
        return Similar(order, np.take_along_axis(cosines, order, axis=1))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _shares(values: Array, table: Any) -> Array:
    """Squares of the singular values over the sum of squares, in units of the first so that 1e300 stays finite."""
    unit = float(values[0])
    if unit == 0.0:
        return np.zeros_like(values)
    entries = table.data if hasattr(table, "toarray") else table
    return np.asarray((values / unit) ** 2 / np.sum((entries / unit) ** 2))
