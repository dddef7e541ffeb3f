"""How much a term counts in a document: weights learned from a collection, applied to it and to what comes later.

    tf_ij occurrences of term j in document i, gf_j in all n documents, df_j documents with it, p_ij = tf_ij / gf_j

    counts       tf_ij
    tf-idf       tf_ij (ln((1 + n) / (1 + df_j)) + 1)
    log-entropy  ln(1 + tf_ij) (1 + sum_i p_ij ln p_ij / ln n)      0 for a term spread evenly over all documents, 1 for
                                                                    one that is in a single document

then each document is scaled to length one, if asked for.

Reference: Dumais, Improving the retrieval of information from external sources, Behavior Research Methods 23 (1991).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.sparse import csr_array

from assay.arrays import Array
from assay.errors import ParameterError
from assay.summary.texts.term_documents import TermDocuments, counted_in

Scheme: TypeAlias = Literal["counts", "tf-idf", "log-entropy"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


@dataclass(frozen=True, slots=True, eq=False)
class TermWeights:
    """Weights of d terms.

    Attributes:
        scheme: "counts", "tf-idf" or "log-entropy".
        unit_length: whether documents are scaled to length one.
        terms: the d terms, sorted.
        factors: (d,) weight of each term in the whole collection.
        stop_words: terms left out, sorted.

    >>> found = TermDocuments.of(["red rose", "red wine", "red red"])
    >>> weights = TermWeights.of(found, "log-entropy", unit_length=False)
    >>> weights.factors.round(3), weights.of_texts(["rose wine, wine!"]).toarray().round(3)
    (array([0.054, 1.   , 1.   ]), array([[0.   , 0.693, 1.099]]))
    """

    scheme: Scheme
    unit_length: bool
    terms: tuple[str, ...]
    factors: Array
    stop_words: tuple[str, ...] = ()

    @classmethod
    def of(cls, documents: TermDocuments, scheme: Scheme = "log-entropy", *, unit_length: bool = True) -> TermWeights:
        """Learn the weights from a collection.

        Args:
            documents: the collection.
            scheme: which weights.
            unit_length: whether documents are scaled to length one.
        """
        if scheme not in SCHEMES:
            raise ParameterError(f"weights is one of {', '.join(SCHEMES)}; got {scheme!r}")
        factors = _FACTORS[scheme](documents)
        return cls(scheme, bool(unit_length), documents.terms, factors, tuple(sorted(documents.stop_words)))

    def of_texts(self, texts: Iterable[str]) -> Any:
        """(m, d) sparse weights of other texts.

        Args:
            texts: the texts; terms that are not known are passed over.
        """
        return self.weighed(counted_in(texts, self.terms, frozenset(self.stop_words)))

    def weighed(self, counts: Any) -> Any:
        """(m, d) sparse weights of documents.

        Args:
            counts: (m, d) sparse, occurrences of the terms.
        """
        values = counts.data.astype(np.float64)
        if self.scheme == "log-entropy":
            np.log1p(values, out=values)
        values *= self.factors[counts.indices]
        if self.unit_length:
            rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
            squares = np.bincount(rows, values**2, minlength=counts.shape[0])
            values /= np.sqrt(np.where(squares > 0.0, squares, 1.0))[rows]
        return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def _idf(documents: TermDocuments) -> Array:
    return np.asarray(np.log((1.0 + documents.n) / (1.0 + documents.documents_with)) + 1.0)


def _entropy(documents: TermDocuments) -> Array:
    counts, d = documents.counts, len(documents.terms)
    if documents.n < 2:
        return np.ones(d)
    total = np.bincount(counts.indices, counts.data, minlength=d)
    p = counts.data / total[counts.indices]
    entropy = np.bincount(counts.indices, p * np.log(p), minlength=d) / np.log(documents.n)
    return np.asarray(np.maximum(1.0 + entropy, 0.0))  # rounding may leave a term that is everywhere just below 0


_FACTORS = {"counts": lambda documents: np.ones(len(documents.terms)), "tf-idf": _idf, "log-entropy": _entropy}
