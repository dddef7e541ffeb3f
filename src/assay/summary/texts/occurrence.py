"""Which term is in which document, and what it would be if terms knew nothing of each other.

Words drawn one by one come new to a document in a race: each term j arrives after an exponential time of rate w_j, and
a document ends when it has its K_i different terms. That is so whether words are drawn independently or once used are
used again (Polya's urn: the next new term comes with chances in proportion to w whatever was repeated before), so that
neither the length of documents nor bursts of a word in one of them are taken for themes. With t_i the time to get K_i,

    P_ij = 1 - exp(-w_j t_i),   sum_j P_ij = K_i,   sum_i P_ij = df_j       w depends on df_j only, t on K_i only

    draw   entries exchanged between documents, which keeps every K_i and every df_j, accepted by the odds P / (1 - P):
           the law of independent entries given both margins
    rest   R = diag(a) (B - P) diag(g), B the presence of terms, a_i = K_i^-1/2, g_j weights; P has rank 4 to 10 to
           1e-6, so that R is applied and never formed

References: Madsen, Kauchak and Elkan, Modeling word burstiness using the Dirichlet distribution, ICML 2005. Besag and
Clifford, Generalized Monte Carlo significance tests, Biometrika 76 (1989).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from assay.arrays import Array, Whole

TRIES = 5  # exchanges tried for each entry, twice as many in which it takes part
_RANK = 1e-6
_STEPS = 200


@dataclass(frozen=True, eq=False)
class Occurrence:
    """Presence of d terms in n documents.

    Attributes:
        ends: (n + 1,) where the terms of each document begin.
        terms: (e,) the terms of each document, one after another.
        d: how many terms there are; each is in a document, and each document has one.
    """

    ends: Whole
    terms: Whole
    d: int

    @classmethod
    def of(cls, counts: Any) -> Occurrence:
        """From (n, d) sparse counts without empty rows or columns."""
        return cls(counts.indptr.astype(np.int64), counts.indices.astype(np.int64), counts.shape[1])

    @property
    def n(self) -> int:
        """How many documents."""
        return len(self.ends) - 1

    @cached_property
    def sizes(self) -> Whole:
        """(n,) different terms of each document."""
        return np.diff(self.ends)

    @cached_property
    def documents_with(self) -> Whole:
        """(d,) documents with each term."""
        return np.bincount(self.terms, minlength=self.d).astype(np.int64)

    @cached_property
    def document(self) -> Whole:
        """(e,) document of each entry."""
        return np.repeat(np.arange(self.n), self.sizes)

    @cached_property
    def _race(self) -> tuple[Whole, Whole, Array, Array, Array]:
        """Class of each document and of each term; w t, and the factors of P, for each pair of classes."""
        sizes, row, rows = np.unique(self.sizes, return_inverse=True, return_counts=True)
        with_term, column, columns = np.unique(self.documents_with, return_inverse=True, return_counts=True)
        t, w = _times_and_rates(sizes, rows, with_term, columns)
        reach = np.outer(t, w)
        P = -np.expm1(-reach)
        left, values, right = np.linalg.svd(P * np.sqrt(np.outer(rows, columns)), full_matrices=False)
        rank = int(np.count_nonzero(values > _RANK * values[0]))
        L = (left * values)[:, :rank] / np.sqrt(rows)[:, None]
        return row, column, reach, L, right[:rank].T / np.sqrt(columns)[:, None]

    def expected(self) -> tuple[Array, Array]:
        """(n, r) and (d, r) factors of P, the chance of each term in each document."""
        row, column, _, L, M = self._race
        return L[row], M[column]

    def drawn(self, seed: int) -> Whole:
        """(e,) terms of a draw of chance, document by document.

        Args:
            seed: of the draw.
        """
        from assay.summary.texts._occurrence_kernels import exchange

        row, column, reach, _, _ = self._race
        # log(exp(x) - 1), which for large x is x
        odds = np.where(reach > 30.0, reach, np.log(np.expm1(np.minimum(reach, 30.0))))
        terms = self.terms.copy()
        tries = TRIES * len(terms)
        exchange(self.ends, self.document, terms, row, column, odds, tries, np.uint64(seed))
        return terms


class Rest:
    """What presence leaves beyond chance, as products: R = diag(a) (B - P) diag(g).

    Args:
        occurrence: the margins, from which P follows.
        terms: (e,) the terms of each document, of the data or of a draw.
        g: (d,) weights of terms.
        rows: which documents; all if not given.
    """

    def __init__(self, occurrence: Occurrence, terms: Whole, g: Array, rows: NDArray[Any] | None = None) -> None:
        a = 1.0 / np.sqrt(occurrence.sizes)
        values = a[occurrence.document] * g[terms]
        shape = (occurrence.n, occurrence.d)
        table = csr_array((values, terms, occurrence.ends), shape=shape)
        left, right = occurrence.expected()
        left = left * a[:, None]
        if rows is not None:
            table, left = csr_array(table[rows]), left[rows]
        self._table, self._turned = table, csr_array(table.T.tocsr())
        self._left, self._right = left, right * g[:, None]

    def apply(self, x: Array) -> Array:
        """R x, for one or several columns."""
        return np.asarray(self._table @ x - self._left @ (self._right.T @ x))

    def adjoint(self, y: Array) -> Array:
        """R' y."""
        return np.asarray(self._turned @ y - self._right @ (self._left.T @ y))

    def top(self, k: int, *, tol: float = 1e-4) -> tuple[Array, Array]:
        """The k largest singular values, descending, and their (d, k) right vectors; the largest entry is positive.

        Args:
            k: how many, fewer than terms and documents.
            tol: of the squared values, relative.
        """
        n, d = self._table.shape
        small, many = (d, n) if d <= n else (n, d)
        forth, back = (self.apply, self.adjoint) if d <= n else (self.adjoint, self.apply)
        start = np.random.default_rng((small, many)).standard_normal(small)
        square = LinearOperator((small, small), matvec=lambda x: back(forth(x.ravel())), dtype=np.float64)
        values, vectors = eigsh(square, k=k, which="LA", tol=tol, v0=start)
        order = np.argsort(-values)
        values, vectors = np.sqrt(np.maximum(values[order], 0.0)), vectors[:, order]
        if d > n:
            vectors = self.adjoint(vectors) / np.where(values > 0.0, values, 1.0)
        signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)])
        return values, vectors * np.where(signs == 0.0, 1.0, signs)


def _times_and_rates(sizes: Whole, rows: Whole, with_term: Whole, columns: Whole) -> tuple[Array, Array]:
    """T and w that give both margins, by Newton's steps in their logarithms, one side after the other."""
    unit = np.sqrt(float(sizes @ rows))
    t, w = sizes / unit, with_term / unit
    for _ in range(_STEPS):
        step_t = _step(np.outer(t, w), columns, sizes)
        t = t * np.exp(step_t)
        step_w = _step(np.outer(w, t), rows, with_term)
        w = w * np.exp(step_w)
        if max(np.abs(step_t).max(), np.abs(step_w).max()) < 1e-9:
            break
    return t, w


def _step(reach: Array, weight: Whole, wanted: Whole) -> Array:
    """Newton's step in the logarithm of each line's rate; at most one, since a full line has no finite rate."""
    gone = np.exp(-reach)
    slope = (reach * gone) @ weight
    return np.asarray(np.clip((wanted - (1.0 - gone) @ weight) / np.maximum(slope, 1e-9 * wanted), -1.0, 1.0))
