"""Do documents share themes beyond chance? Concepts, one after another, beside independent terms.

statistic  singular values of R, what the presence of terms leaves beyond chance: see `occurrence`; nothing but presence
           counts, so a word that is used again in the same document makes no theme
chance     the largest singular value of R where terms are exchanged between documents, each document keeping how many
           different terms it has and each term in how many documents it is
p          of the j-th value among the largest of the draws, the tail beyond them fitted; never smaller than that before
unseen     concepts found in four fifths of the documents: how much more the others vary along them than draws do
copies     documents that repeat others count once: they have the same terms; or three tenths of all terms of both in
           common, so rare ones that of n^2 / 2 pairs none has them by chance, sum ln(n / df) >= ln(n^2 / 2) + 3

Terms in fewer than five documents and documents with fewer than two terms left say nothing and stay out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from assay.arrays import Array, Indices
from assay.data.folds import fold_numbers
from assay.engine.local import in_threads
from assay.linalg.noise.fold_error import fold_error
from assay.linalg.noise.monte_carlo import monte_carlo, rank_p
from assay.linalg.noise.permutation_test import tail_p
from assay.linalg.one_thread import one_blas_thread
from assay.summary.texts.occurrence import Occurrence, Rest

ALIKE, SURE = 0.3, 3.0
_STEPS = 100_000  # of looking for a document that one repeats
FEWEST_WITH = 5  # documents with a term
FEWEST_DOCUMENTS, FEWEST_TERMS = 20, 6
DRAWS, FIRST_DRAWS = 39, 19
HOPELESS = 0.2
FOLDS = 5
MOST = 50  # concepts looked at
_AT_ONCE = 10
_SHRUNK = 20


@dataclass(frozen=True, slots=True, eq=False)
class Themes:
    """Concepts of documents, and how they compare with chance.

    Attributes:
        values: (k,) singular values looked at, descending; the last one is not beyond chance, unless 50 are.
        chance: (m,) the largest singular value of each draw.
        p: (k,) how often chance does as well, never decreasing.
        held_out: (r,) for each concept with p <= level, by which share unseen documents vary more along it than draws.
        error: (r,) standard error of that.
        axes: (d, r) what each term adds to each concept; 0 for terms that stayed out.
        weights: (d,) of terms; 0 for those that stayed out.
        used: (n,) documents that were looked at.
        first: (n,) documents that repeat none before them.
        level: level at which concepts were told apart from chance.
    """

    values: Array
    chance: Array
    p: Array
    held_out: Array
    error: Array
    axes: Array
    weights: Array
    used: NDArray[np.bool_]
    first: NDArray[np.bool_]
    level: float

    @property
    def repeated(self) -> int:
        """How many documents repeat others."""
        return int((~self.first).sum())

    @property
    def testable(self) -> bool:
        """Whether there were documents and terms enough."""
        return len(self.chance) > 0

    @property
    def holds(self) -> NDArray[np.bool_]:
        """(r,) whether unseen documents vary more along a concept than draws, by more than its error."""
        return np.asarray(self.held_out - self.error > 0.0)

    @property
    def n_concepts(self) -> int:
        """Concepts beyond chance that unseen documents have too; none behind the first that they have not."""
        return int(np.logical_and.accumulate(self.holds).sum()) if len(self.holds) else 0

    def coordinates(self, counts: Any) -> Array:
        """(m, r) where documents lie along the concepts.

        Args:
            counts: (m, d) sparse, occurrences or anything else that is positive where a term is present.
        """
        there = csr_array((np.ones(len(counts.indices)), counts.indices, counts.indptr), shape=counts.shape)
        inside = there @ (self.weights > 0.0).astype(np.float64)
        return np.asarray(there @ (self.axes * self.weights[:, None])) / np.sqrt(np.maximum(inside, 1.0))[:, None]


def themes(
    counts: Any,
    weights: Array | None = None,
    *,
    level: float = 0.05,
    folds: Callable[[Indices], Indices] | None = None,
    seed: int = 0,
    progress: Callable[[str], object] | None = None,
) -> Themes:
    """Tell which concepts of documents are beyond chance.

    Args:
        counts: (n, d) sparse, positive where a term is present.
        weights: (d,) of terms; (df + 20)^-1/2 if not given, by which all but rare terms vary alike by chance.
        level: level of each concept.
        folds: fold of each of some documents, from their numbers; at random if not given.
        seed: of draws and folds.
        progress: told what is being done.

    >>> rng = np.random.default_rng(0)
    >>> theme = np.repeat([0, 15], 100)[:, None]
    >>> words = theme + rng.integers(0, 15, (200, 8))
    >>> words[:, 5:] = rng.integers(0, 30, (200, 3))
    >>> found = themes(csr_array((np.ones(1600), words.ravel(), np.arange(201) * 8), shape=(200, 30)))
    >>> found.n_concepts, bool(found.held_out[0] > 1)
    (1, True)
    """
    tell = progress or (lambda _: None)
    known = csr_array(counts)
    known.sum_duplicates()
    known.eliminate_zeros()
    documents, columns, first = _looked_at(known)
    n, d = known.shape
    used = np.zeros(n, dtype=bool)
    used[documents] = True
    if len(documents) < FEWEST_DOCUMENTS or len(columns) < FEWEST_TERMS:
        return _nothing(d, used, first, level)
    occurrence = Occurrence.of(csr_array(known[documents][:, columns]))
    g = np.asarray(weights)[columns] if weights is not None else _even(occurrence)
    if not g.any():
        return _nothing(d, used, first, level)
    with one_blas_thread():
        tell("exchanging terms between documents")
        draws, chance = _chance(occurrence, g, seed)
        values, axes, p = _beyond(occurrence, g, chance, level)
        tell("looking at unseen documents")
        fold = fold_numbers(0, len(documents), FOLDS, seed) if folds is None else folds(documents)
        gain = _unseen(occurrence, g, axes.shape[1], fold, draws)
    everywhere, all_weights = np.zeros((d, axes.shape[1])), np.zeros(d)
    everywhere[columns], all_weights[columns] = axes, g
    error = fold_error(gain) if len(gain) > 1 else np.full(axes.shape[1], np.inf)
    return Themes(values, chance, p, gain.mean(axis=0), error, everywhere, all_weights, used, first, level)


def _looked_at(counts: Any) -> tuple[Indices, Indices, NDArray[np.bool_]]:
    """Documents and terms that say something, as numbers, and which documents repeat no other."""
    from assay.summary.texts._occurrence_kernels import first_of_copies

    n, d = counts.shape
    rank = np.empty(d, dtype=np.int64)
    with_term = np.bincount(counts.indices, minlength=d)
    rare = np.argsort(with_term, kind="stable")
    rank[rare] = np.arange(d)
    rare_first = csr_array((np.ones(counts.nnz), rank[counts.indices], counts.indptr), shape=(n, d))
    rare_first.sort_indices()
    ends, terms = rare_first.indptr.astype(np.int64), rare_first.indices.astype(np.int64)
    tells = np.log(max(n, 1) / np.maximum(with_term[rare], 1))
    first = first_of_copies(ends, terms, tells, ALIKE, np.log(max(n, 1) ** 2 / 2) + SURE, _STEPS) < 0
    documents, columns = np.flatnonzero(first), np.arange(d)
    while len(documents) and len(columns):
        part = counts[documents][:, columns]
        common = np.bincount(part.indices, minlength=len(columns)) >= FEWEST_WITH
        several = np.diff(csr_array(part[:, common]).indptr) >= 2
        if common.all() and several.all():
            break
        documents, columns = documents[several], columns[common]
    return documents, columns, first


def _nothing(d: int, used: NDArray[np.bool_], first: NDArray[np.bool_], level: float) -> Themes:
    none = np.empty(0)
    return Themes(none, none, none, none, none, np.zeros((d, 0)), np.zeros(d), used, first, level)


def _even(occurrence: Occurrence) -> Array:
    """Weights by which terms vary alike by chance; less for rare ones, whose few coincidences would be all one sees."""
    return np.asarray(1.0 / np.sqrt(occurrence.documents_with + _SHRUNK))


def _chance(occurrence: Occurrence, g: Array, seed: int) -> tuple[list[NDArray[np.int64]], Array]:
    """Draws and the largest singular value of each; fewer where it is soon clear that chance does as well."""
    largest = float(Rest(occurrence, occurrence.terms, g).top(1)[0][0])
    seeds = np.random.default_rng((seed, 7)).integers(2**63, size=DRAWS).tolist()

    def draw(own: int) -> tuple[NDArray[np.int64], float]:
        terms = occurrence.drawn(own)
        return terms, float(Rest(occurrence, terms, g).top(1)[0][0])

    drawn = monte_carlo(
        seeds,
        lambda some: in_threads(draw, some),
        (FIRST_DRAWS, DRAWS - FIRST_DRAWS),
        clear=lambda made: rank_p(sum(top >= largest for _, top in made), len(made)) > HOPELESS,
    )
    return [terms for terms, _ in drawn.values], np.array([top for _, top in drawn.values])


def _beyond(occurrence: Occurrence, g: Array, chance: Array, level: float) -> tuple[Array, Array, Array]:
    """Values looked at, the axes of those beyond chance, and p: some at a time, until one is not beyond it."""
    rest, most = Rest(occurrence, occurrence.terms, g), min(occurrence.n, occurrence.d) - 2
    k = min(_AT_ONCE, most)
    while True:
        values, axes = rest.top(k, tol=1e-8)
        by_rank = np.array([rank_p(int((chance >= value).sum()), len(chance)) for value in values])
        p = np.maximum.accumulate(tail_p(values, chance, by_rank))
        beyond = int((p <= level).sum())
        if beyond < k or k >= min(MOST, most):
            kept = min(beyond + 1, k)
            return values[:kept], axes[:, :beyond], p[:kept]
        k = min(2 * k, MOST, most)


def _unseen(occurrence: Occurrence, g: Array, r: int, fold: Indices, draws: list[NDArray[np.int64]]) -> Array:
    """(folds, r) by which share documents that were left out vary more along the concepts of the others than draws."""
    numbers = np.unique(fold)
    gain = np.zeros((len(numbers), r))
    if not r:
        return gain
    for at, number in enumerate(numbers):
        out = np.flatnonzero(fold == number)
        axes = Rest(occurrence, occurrence.terms, g, np.flatnonzero(fold != number)).top(r)[1]
        ours = (Rest(occurrence, occurrence.terms, g, out).apply(axes) ** 2).sum(axis=0)
        usual = [(Rest(occurrence, terms, g, out).apply(axes) ** 2).sum(axis=0) for terms in draws[:FIRST_DRAWS]]
        gain[at] = ours / np.maximum(np.mean(usual, axis=0), np.finfo(np.float64).tiny) - 1.0
    return gain
