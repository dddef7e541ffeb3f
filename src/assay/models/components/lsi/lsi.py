"""Latent semantic indexing: documents and terms in one space of few dimensions, where near means used alike.

summary  A, (n, d): n documents by d terms, sparse, not centred: zeros stay zeros; from texts, weights of `TermWeights`
solver   A = U S V^T, the leading k triples, by products only;  A_k is the best approximation of rank k (Eckart, Young)
reading  documents U S = A V, (n, k);  terms V, (d, k);  a query q is a document of its own: q V
         likeness of two documents: the cosine of their coordinates; of two terms: of their rows of V S
chance   "real": the mean direction and the concepts that terms exchanged between documents do not give: see
         `assay.summary.texts.themes`
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.texts import texts_of
from assay.errors import DataError, ParameterError
from assay.linalg.eigen.top_svd import top_svd
from assay.linalg.validate import as_count
from assay.models.base import Estimator
from assay.models.components.lsi.term_weights import Scheme, TermWeights
from assay.models.transformer import Transformer
from assay.summary.texts.term_documents import TermDocuments
from assay.summary.texts.themes import Themes, themes

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


@dataclass(frozen=True, slots=True, eq=False)
class SimilarTerms:
    """The terms most like a text.

    Attributes:
        terms: (n,) most similar first; equally similar ones in their order.
        cosines: (n,) descending.
    """

    terms: tuple[str, ...]
    cosines: Array


@dataclass(frozen=True, slots=True, eq=False)
class Concept:
    """The terms that describe a dimension.

    Attributes:
        towards: terms of documents that lie high on it, the strongest first.
        away: terms of documents that lie low.
        weights, away_weights: of these terms.
    """

    towards: tuple[str, ...]
    away: tuple[str, ...]
    weights: Array
    away_weights: Array


class LSI(ClassNamePrefixFeaturesOutMixin, Transformer, Estimator):
    """Find the themes of documents from the terms they share, and documents like a query even without a common term.

    `fit` takes numbers, as they are; `fit_texts` takes texts, counts their terms and weighs them.

    Args:
        n_components: how many dimensions; None takes 100, or as many as the table has rows or columns. "real" takes the
            mean direction and as many concepts as are beyond chance, possibly none.
        weights: of terms in texts: "log-entropy", "tf-idf" or "counts".
        unit_length: whether texts are scaled to length one.
        stop_words: terms of texts to leave out: the name of a language, such as "english", words, or None.
        min_documents: fewest texts with a term.
        max_share: largest share of texts with a term.
        random_state: seed of the solver's start, and of chance.

    Attributes:
        components_: (k, d) terms in each dimension, orthonormal; the largest entry of each is positive.
        singular_values_: (k,) descending.
        documents_: (n, k) coordinates of the training documents.
        explained_share_: (k,) squared singular values as shares of the sum of squares of the table. Nothing is
            centred, so this is not a share of the variance.
        residual_: largest length of A v - s u, as a share of the largest singular value.
        route_: "svd" (full decomposition), "gram" (the smaller product formed) or "lanczos" (products only).
        weights_: the terms and their `TermWeights`, after `fit_texts`.
        n_concepts_, concept_p_, concept_held_out_: with "real", how many concepts are beyond chance; p of each looked
            at; by which share unseen documents vary more along it than chance gives.

    >>> ratings = np.array([[5, 4, 1], [5, 5, 0], [0, 0, 5], [1, 0, 4]])
    >>> lsi = LSI(2).fit(ratings)
    >>> lsi.singular_values_.round(7)
    array([9.6438109, 6.3638909])
    >>> lsi.similar([[0, 3, 0]], 2).documents  # rows most like someone who liked the second column only
    array([[1, 0]])
    >>> texts = ["car engine", "automobile engine", "automobile engine oil", "rose petal", "petal of a rose"]
    >>> LSI(2).fit_texts(texts).query("cars and a car", 3).documents  # two of these hold no car
    array([0, 1, 2])

    References:
        Deerwester, Dumais, Furnas, Landauer and Harshman, Indexing by latent semantic analysis, 1990.
    """

    def __init__(
        self,
        n_components: int | Literal["real"] | None = None,
        *,
        weights: Scheme = "log-entropy",
        unit_length: bool = True,
        stop_words: str | Iterable[str] | None = "english",
        min_documents: int = 1,
        max_share: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.weights = weights
        self.unit_length = unit_length
        self.stop_words = stop_words
        self.min_documents = min_documents
        self.max_share = max_share
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Find the dimensions of an (n, d) table of documents by terms.

        Args:
            X: array, data frame, sparse matrix or `Source`; counts, or weights such as tf-idf.
            y: not used.
        """
        table = self._checked(X, reset=True, accept_sparse="csr", dtype=np.float64)
        self._forget()
        found = None
        if self.n_components == "real":
            entries: Array = table.data if hasattr(table, "toarray") else table
            if entries.min(initial=0.0) < 0.0:
                raise DataError(
                    f"Negative values in data: 'real' asks which term is where, so no entry may be negative; one is "
                    f"{entries.min():g}"
                )
            found = self._against_chance(csr_array(table), None)
        return self._fitted(table, found)

    def fit_texts(self, texts: Any, column: str | None = None) -> Self:
        """Count and weigh the terms of texts, and find their dimensions.

        Args:
            texts: strings, or anything `assay.read` takes: a table with a column of text, a folder of text files.
            column: which column holds the texts; may be left out where there is one of text only.
        """
        counted = TermDocuments.of(texts, column, stop_words=self.stop_words)
        return self.fit_terms(counted)

    def fit_terms(self, documents: TermDocuments) -> Self:
        """Fit from a summary: terms counted in documents, however gathered.

        Args:
            documents: the summary; `stop_words` are those it was counted with.
        """
        kept = documents.kept(min_documents=self.min_documents, max_share=self.max_share)
        if not kept.n or not kept.terms:
            left = f"{len(documents.terms):,} terms, none of which is kept" if documents.terms else "no terms"
            raise DataError(f"the {kept.n:,} texts hold {left}; give others, or other stop_words or min_documents")
        self._forget()
        if hasattr(self, "encoding_"):
            del self.encoding_
        weights = TermWeights.of(kept, self.weights, unit_length=self.unit_length)
        self._record_columns(kept.terms, len(kept.terms))
        self._fitted(weights.weighed(kept.counts), self._against_chance(kept.counts, weights.factors))
        self.weights_ = weights
        return self

    def _against_chance(self, counts: Any, factors: Array | None) -> Themes | None:
        if self.n_components != "real":
            return None
        return themes(counts, _typical(counts) if factors is None else factors, seed=self._seed())

    def _forget(self) -> None:
        """What an earlier fit may have left that this one does not set."""
        for name in ("weights_", "n_concepts_", "concept_p_", "concept_held_out_"):
            if hasattr(self, name):
                delattr(self, name)

    def _fitted(self, table: Any, chance: Themes | None) -> Self:
        n, d = table.shape
        most = min(n, d)
        asked: Any = min(_DEFAULT, most) if self.n_components is None else self.n_components
        if chance is not None:
            self.n_concepts_ = chance.n_concepts
            self.concept_p_, self.concept_held_out_ = chance.p, chance.held_out
            asked = min(chance.n_concepts + 1, most)
        elif isinstance(asked, str):
            raise ParameterError(f"n_components is None, 'real' or an integer from 1 to {most}; got {asked!r}")
        k = as_count(asked, most, name="n_components", what="the smaller of rows and columns")
        # documents that repeat others must not make dimensions where these are chosen
        space = table if chance is None or not chance.repeated else table[chance.first]
        found = top_svd(space, min(k, *space.shape), random_state=self._seed())
        self.singular_values_ = found.values
        self.components_ = np.ascontiguousarray(found.right.T)
        self.documents_ = found.left * found.values if space is table else np.asarray(table @ found.right)
        largest = float(found.values[0])
        self.residual_ = float(found.residuals.max()) / largest if largest > 0.0 else 0.0
        self.route_ = found.method
        self.explained_share_ = _shares(found.values, space)
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

    def transform_texts(self, texts: Any, column: str | None = None) -> Array:
        """Fold other texts in: their coordinates, (m, k). Terms that are not known are passed over.

        Args:
            texts: as for `fit_texts`.
            column: as for `fit_texts`.
        """
        return np.asarray(self._known_weights().of_texts(texts_of(texts, column)) @ self.components_.T)

    def similar(self, queries: Any, n: int = 10) -> Similar:
        """The n training documents most like each of (m, d) queries, by the cosine of their coordinates.

        A document of which nothing is left in the space has cosine 0 with every query.
        """
        check_is_fitted(self)
        n = as_count(n, len(self.documents_), name="n", what="the documents")
        folded = self.transform(queries)
        empty = np.flatnonzero(~folded.any(axis=1))
        if len(empty):
            raise DataError(f"query {empty[0]} has no term in the space, so no document is like it; use other terms")
        return Similar(*_nearest(folded, self.documents_, n))

    def query(self, text: str, n: int = 10) -> Similar:
        """The n training documents most like a text, in (n,) arrays.

        Args:
            text: words; those that are not known are passed over.
            n: how many documents.
        """
        folded = self._folded(text)
        n = as_count(n, len(self.documents_), name="n", what="the documents")
        documents, cosines = _nearest(folded, self.documents_, n)
        return Similar(documents[0], cosines[0])

    def like_document(self, document: int, n: int = 10) -> Similar:
        """The n other training documents most like one of them, in (n,) arrays.

        Args:
            document: its number, from 0.
            n: how many others.
        """
        check_is_fitted(self)
        count = len(self.documents_)
        if isinstance(document, bool) or not isinstance(document, (int, np.integer)) or not 0 <= document < count:
            raise ParameterError(f"document is a number from 0 to {count - 1}; got {document!r}")
        n = as_count(n, count - 1, name="n", what="the other documents")
        documents, cosines = _nearest(self.documents_[[document]], self.documents_, min(n + 1, count))
        others = np.flatnonzero(documents[0] != document)[:n]
        return Similar(documents[0][others], cosines[0][others])

    def nearest_terms(self, text: str, n: int = 10) -> SimilarTerms:
        """The n terms used most like those of a text, which is one term or several; they are not among them.

        Args:
            text: terms.
            n: how many others.
        """
        weights = self._known_weights()
        own = weights.of_texts([text]).indices
        place = np.setdiff1d(np.arange(len(weights.terms)), own)
        n = as_count(n, len(place), name="n", what="the other terms")
        where = self.components_.T * self.singular_values_
        at = self._folded(text) * self.singular_values_ if len(own) != 1 else where[own]
        if not at.any():
            raise DataError(f"nothing of {text!r} is left in the space, so no term is like it; use other terms")
        found, cosines = _nearest(at, where[place], n)
        return SimilarTerms(tuple(weights.terms[j] for j in place[found[0]]), cosines[0])

    def concepts(self, n: int = 8) -> tuple[Concept, ...]:
        """For each dimension, the terms that describe it at either end.

        Args:
            n: how many terms at each end, at most.
        """
        check_is_fitted(self)
        d = self.components_.shape[1]
        n = as_count(n, d, name="n", what="the terms")
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"term {j}" for j in range(d)])]
        found = []
        for axis in self.components_:
            order = np.argsort(-axis, kind="stable")
            up = [j for j in order[:n] if axis[j] > 0.0]
            down = [j for j in order[::-1][:n] if axis[j] < 0.0]
            found.append(Concept(tuple(names[j] for j in up), tuple(names[j] for j in down), axis[up], axis[down]))
        return tuple(found)

    def _known_weights(self) -> TermWeights:
        check_is_fitted(self)
        if not hasattr(self, "weights_"):
            raise DataError("this LSI was fitted on numbers and knows no terms; fit it with fit_texts")
        return self.weights_

    def _folded(self, text: str) -> Array:
        """(1, k) coordinates of a text, which has something in the space."""
        if not isinstance(text, str):
            raise ParameterError(f"a query is one text; got {type(text).__name__}: transform_texts takes several")
        folded = self._known_weights().of_texts([text]) @ self.components_.T
        if not folded.any():
            raise DataError(f"no term of {text!r} is known, so no document is like it; use other terms")
        return np.asarray(folded)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = isinstance(self.n_components, str)
        return tags


def _shares(values: Array, table: Any) -> Array:
    """Squares of the singular values over the sum of squares, in units of the first so that 1e300 stays finite."""
    unit = float(values[0])
    if unit == 0.0:
        return np.zeros_like(values)
    entries = table.data if hasattr(table, "toarray") else table
    return np.asarray((values / unit) ** 2 / np.sum((entries / unit) ** 2))


def _nearest(queries: Array, among: Array, n: int) -> tuple[NDArray[np.int64], Array]:
    """(m, n) numbers of the rows most like each query, and their cosines; 0 for a row that is zero."""
    size = np.linalg.norm(among, axis=1)
    known = np.divide(among, size[:, None], out=np.zeros_like(among), where=size[:, None] > 0.0)
    cosines = np.clip(queries / np.linalg.norm(queries, axis=1)[:, None] @ known.T, -1.0, 1.0)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :n]
    return order, np.take_along_axis(cosines, order, axis=1)


def _typical(table: Any) -> Array:
    """(d,) root mean square of the entries that each column has: what its weight is, whoever weighed it."""
    d = table.shape[1]
    unit = float(table.data.max(initial=0.0)) or 1.0
    squares = np.bincount(table.indices, (table.data / unit) ** 2, minlength=d)
    return np.asarray(np.sqrt(squares / np.maximum(np.bincount(table.indices, minlength=d), 1)))
