"""Which term occurs how often in which document, sparse, from texts of any script.

    counts  C, (n, d): C_ij occurrences of term j in document i; terms in the order of their characters

`a + b` is the summary of both collections. Texts are read once, one by one; what is held grows with the entries.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from assay.arrays import Whole
from assay.data.texts import texts_of
from assay.data.tokens import stop_list, terms_of
from assay.errors import DataError, ParameterError
from assay.linalg.validate import as_count


@dataclass(frozen=True, slots=True, eq=False)
class TermDocuments:
    """Terms counted in documents, as an algebra: `a + b` summarises both collections.

    Attributes:
        terms: the d terms, sorted.
        counts: (n, d) sparse, occurrences; documents in their order, those without a term among them.
        stop_words: terms that were left out.

    >>> both = TermDocuments.of(["Red rose", "red, red wine"]) + TermDocuments.of(["a rose is a rose"])
    >>> both.terms, both.counts.toarray().tolist()
    (('red', 'rose', 'wine'), [[1, 1, 0], [2, 0, 1], [0, 2, 0]])
    """

    terms: tuple[str, ...]
    counts: Any
    stop_words: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, texts: Any, column: str | None = None, *, stop_words: str | Iterable[str] | None = "english"
    ) -> TermDocuments:
        """Count the terms of texts.

        Args:
            texts: strings, or anything `assay.read` takes: a table with a column of text, a folder of text files.
            column: which column holds the texts; may be left out where there is one of text only.
            stop_words: "english", "dutch", "french", "german", "italian", "portuguese", "spanish", words of your own,
                or None for none.
        """
        left_out = stop_list(stop_words)
        cut = terms_of(left_out)
        known: dict[str, int] = {}
        found, ends = array("q"), array("q", [0])
        for text in texts_of(texts, column):
            found.extend([known.setdefault(term, len(known)) for term in cut(text)])
            ends.append(len(found))
        order = sorted(known)
        place = np.empty(len(order), dtype=np.int64)
        place[[known[term] for term in order]] = np.arange(len(order))
        columns = place[np.frombuffer(found, dtype=np.int64)] if len(found) else np.empty(0, dtype=np.int64)
        return cls(tuple(order), _counted(columns, np.frombuffer(ends, dtype=np.int64), len(order)), left_out)

    @property
    def n(self) -> int:
        """How many documents."""
        return int(self.counts.shape[0])

    @property
    def documents_with(self) -> Whole:
        """(d,) in how many documents each term occurs."""
        return np.bincount(self.counts.indices, minlength=len(self.terms)).astype(np.int64)

    def kept(self, *, min_documents: int = 1, max_share: float = 1.0, max_terms: int | None = None) -> TermDocuments:
        """The same without terms that are too rare or too common.

        Args:
            min_documents: fewest documents with a term.
            max_share: largest share of documents with it.
            max_terms: so many of the most frequent in documents; of equally frequent ones the first in order.
        """
        fewest = as_count(min_documents, max(self.n, 1), name="min_documents", what="the documents")
        if not 0.0 < max_share <= 1.0:
            raise ParameterError(f"max_share is a share above 0, 1 at most; got {max_share}")
        with_term = self.documents_with
        fit = np.flatnonzero((with_term >= fewest) & (with_term <= max_share * self.n))
        if max_terms is not None:
            most = as_count(max_terms, max(len(self.terms), 1), name="max_terms", what="the terms")
            fit = np.sort(fit[np.argsort(-with_term[fit], kind="stable")[:most]])
        return replace(self, terms=tuple(self.terms[j] for j in fit), counts=self.counts[:, fit])

    def among(self, documents: NDArray[Any]) -> TermDocuments:
        """Some of the documents, with all terms.

        Args:
            documents: their numbers, or a mask.
        """
        return replace(self, counts=self.counts[documents])

    def __add__(self, other: TermDocuments) -> TermDocuments:
        if self.stop_words != other.stop_words:
            raise DataError("these terms were counted with different stop words; count them with the same")
        terms = tuple(sorted({*self.terms, *other.terms}))
        place = {term: j for j, term in enumerate(terms)}
        parts = [_widened(part, [place[term] for term in part.terms], len(terms)) for part in (self, other)]
        return TermDocuments(terms, csr_array(vstack(parts, format="csr")), self.stop_words)


def counted_in(texts: Iterable[str], terms: Iterable[str], stop_words: frozenset[str]) -> Any:
    """(m, d) sparse counts of known terms in other texts; terms that are not known are passed over.

    Args:
        texts: the texts.
        terms: the d terms known.
        stop_words: terms left out.

    >>> counted_in(["wine, red wine"], ["red", "rose", "wine"], frozenset()).toarray()
    array([[1, 0, 2]])
    """
    place = {term: j for j, term in enumerate(terms)}
    cut = terms_of(stop_words)
    found, ends = array("q"), array("q", [0])
    for text in texts:
        found.extend([place[term] for term in cut(text) if term in place])
        ends.append(len(found))
    columns = np.frombuffer(found, dtype=np.int64) if len(found) else np.empty(0, dtype=np.int64)
    return _counted(columns, np.frombuffer(ends, dtype=np.int64), len(place))


def _counted(columns: Whole, ends: Whole, d: int) -> Any:
    """CSR of how often each column comes between two ends."""
    rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    cells, times = np.unique(rows * max(d, 1) + columns, return_counts=True)
    where = np.searchsorted(cells, np.arange(len(ends)) * max(d, 1))
    small = np.int32 if max(len(cells), d) < 2**31 else np.int64
    found = (times.astype(np.int64), (cells % max(d, 1)).astype(small), where.astype(small))
    return csr_array(found, shape=(len(ends) - 1, d))


def _widened(part: TermDocuments, place: list[int], d: int) -> Any:
    counts = part.counts
    columns = np.asarray(place, dtype=counts.indices.dtype)[counts.indices]
    return csr_array((counts.data, columns, counts.indptr), shape=(part.n, d))
