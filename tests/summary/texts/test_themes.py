"""Themes against chance: margins are kept, the law is that of the race, bursts and copies make none, topics do."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from assay.summary.texts._occurrence_kernels import exchange, first_of_copies
from assay.summary.texts.occurrence import Occurrence, Rest
from assay.summary.texts.themes import themes


def corpus(n=300, d=400, length=15, spread=0.7, burst=None, topics=0, strength=0.6, seed=0):
    """Documents that draw their words independently, by urns that repeat words, or by topics."""
    rng = np.random.default_rng(seed)
    base = 1.0 / (np.arange(d) + 3.0)
    base /= base.sum()
    phi = np.array([rng.permutation(base) for _ in range(topics)])
    rows = np.zeros((n, d))
    for i in range(n):
        law = base if not topics else (1 - strength) * base + strength * rng.dirichlet(np.full(topics, 0.1)) @ phi
        if burst is not None:
            law = rng.dirichlet(np.maximum(burst * law, 1e-9))
        words = rng.choice(d, max(2, int(rng.lognormal(np.log(length), spread))), p=law)
        rows[i] = np.bincount(words, minlength=d)
    return csr_array(rows)


def dense(occurrence, terms):
    table = np.zeros((occurrence.n, occurrence.d))
    table[occurrence.document, terms] = 1.0
    return table


def used(counts, fewest=5):
    counts = csr_array(counts[:, np.bincount(counts.indices, minlength=counts.shape[1]) >= fewest])
    return Occurrence.of(csr_array(counts[np.diff(counts.indptr) >= 1]))


def test_a_draw_keeps_both_margins_and_puts_no_term_twice_into_a_document():
    found = used(corpus())
    for seed in range(3):
        terms = found.drawn(seed)
        drawn = dense(found, terms)
        assert drawn.sum() == len(terms)  # no cell twice
        np.testing.assert_array_equal(drawn.sum(axis=1), found.sizes)
        np.testing.assert_array_equal(drawn.sum(axis=0), found.documents_with)
        assert (terms != found.terms).mean() > 0.8
    np.testing.assert_array_equal(found.drawn(0), found.drawn(0))


def test_what_is_expected_has_both_margins_too():
    found = used(corpus(length=40, spread=1.2))
    left, right = found.expected()
    np.testing.assert_allclose((left @ right.T).sum(axis=1), found.sizes, rtol=1e-4)
    np.testing.assert_allclose((left @ right.T).sum(axis=0), found.documents_with, rtol=1e-4)


def test_draws_have_the_law_of_independent_entries_given_the_margins():
    # two documents of one term and one of two, three terms once, once and twice: the tables are few enough to count
    table = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 1]], dtype=float)
    found = Occurrence.of(csr_array(table))
    row, column, reach, _, _ = found._race
    odds = np.expm1(reach)[np.ix_(row, column)]
    law = {}
    for code in range(512):
        cells = np.array([code >> b & 1 for b in range(9)], dtype=float).reshape(3, 3)
        if (cells.sum(axis=0) == table.sum(axis=0)).all() and (cells.sum(axis=1) == table.sum(axis=1)).all():
            law[code] = float(np.prod(odds[cells > 0]))
    total = sum(law.values())
    tally = dict.fromkeys(law, 0)
    draws = 20_000
    for seed in range(draws):
        terms = found.terms.copy()
        seed_of = np.uint64(seed * 2654435761)
        exchange(found.ends, found.document, terms, row, column, np.log(np.expm1(reach)), 60, seed_of)
        tally[int(dense(found, terms).ravel() @ 2 ** np.arange(9))] += 1
    for code, weight in law.items():
        share = weight / total
        # five standard errors: a table as likely as it should be fails one time in two million
        assert abs(tally[code] / draws - share) < 5 * np.sqrt(share * (1 - share) / draws)


def test_products_are_those_of_the_table_written_out():
    found = used(corpus(120, 100))
    g = np.random.default_rng(0).uniform(0.5, 1, found.d)
    left, right = found.expected()
    R = (dense(found, found.terms) - left @ right.T) * g / np.sqrt(found.sizes)[:, None]
    rest = Rest(found, found.terms, g)
    x, y = np.random.default_rng(1).standard_normal((2, max(R.shape)))
    np.testing.assert_allclose(rest.apply(x[: found.d]), R @ x[: found.d], atol=1e-12)
    np.testing.assert_allclose(rest.adjoint(y[: found.n]), R.T @ y[: found.n], atol=1e-12)
    values, axes = rest.top(3, tol=1e-10)
    np.testing.assert_allclose(values, np.linalg.svd(R, compute_uv=False)[:3], rtol=1e-8)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-6)
    few = Rest(found, found.terms, g, np.arange(15))  # fewer documents than terms
    np.testing.assert_allclose(few.top(2, tol=1e-10)[0], np.linalg.svd(R[:15], compute_uv=False)[:2], rtol=1e-8)


def test_planted_topics_are_found_and_hold_on_unseen_documents():
    counts = corpus(topics=4, strength=0.8, burst=60)
    found = themes(counts)
    assert found.n_concepts == 3  # four topics differ in three directions
    assert (found.held_out > 0.2).all() and found.p[0] < 0.01
    assert found.coordinates(counts).shape == (300, 3)


@pytest.mark.parametrize("kind", [{}, {"burst": 8.0, "length": 30}, {"length": 25, "spread": 1.2}])
def test_documents_without_topics_share_no_theme(kind):
    """Of ten collections at most two: a rate of .05 gives more with a chance of .012, one of .5, as bursts would, .95.

    The rate itself is measured by the tests below that `make calibrate` runs.
    """
    assert sum(themes(corpus(200, 300, seed=seed, **kind), seed=seed).n_concepts > 0 for seed in range(10)) <= 2


def test_only_presence_counts():
    counts = corpus(topics=3, strength=0.8)
    more = counts.copy()
    more.data *= np.random.default_rng(0).integers(1, 50, len(more.data))
    np.testing.assert_array_equal(themes(more).values, themes(counts).values)


@pytest.mark.parametrize("changed", [0.0, 0.2])
def test_copies_and_near_copies_make_no_theme(changed):
    rng = np.random.default_rng(1)
    table = corpus(300, 400, length=30, spread=0.3).toarray()
    for i in range(100, 160):  # sixty documents repeat five others
        table[i] = table[i % 5]
        there = np.flatnonzero(table[i])
        gone = there[rng.random(len(there)) < changed]
        table[i, gone] = 0
        table[i, rng.choice(400, len(gone), replace=False)] = 1
    found = themes(csr_array(table))
    assert found.repeated >= 55
    assert found.n_concepts == 0
    assert not found.used[100:155].all()


def test_a_document_repeats_another_by_what_they_have_in_common():
    rng = np.random.default_rng(0)
    sets = [set(rng.choice(40, rng.integers(1, 9), replace=False).tolist()) for _ in range(300)]
    ends = np.cumsum([0, *(len(one) for one in sets)]).astype(np.int64)
    terms = np.array([t for one in sets for t in sorted(one)], dtype=np.int64)
    tells = np.linspace(3.0, 1.0, 40)
    found = first_of_copies(ends, terms, tells, 0.3, 7.0, 10**9)
    for i, one in enumerate(sets):  # the rule written out
        alike = [
            k for k in range(i)
            if sets[k] == one
            or (tells[sorted(one & sets[k])].sum() >= 7.0 and len(one & sets[k]) >= 0.3 * len(one | sets[k]))
        ]  # fmt: skip
        assert (found[i] in alike) if alike else found[i] == -1
    assert 20 < (found < 0).sum() < 280


def test_too_few_documents_or_terms_are_not_tested():
    for counts in (corpus(12), csr_array((50, 30)), csr_array(np.eye(40)), csr_array((0, 0))):
        found = themes(counts)
        assert not found.testable and found.n_concepts == 0 and found.axes.shape[1] == 0


def test_the_seed_decides():
    counts = corpus(topics=3)
    first, again, other = (themes(counts, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.chance, again.chance)
    assert (first.chance != other.chance).any()


@pytest.mark.calibrate
@pytest.mark.parametrize("kind", [{}, {"burst": 10.0, "length": 40}, {"length": 30, "spread": 1.2}, {"length": 6}])
def test_false_themes_stay_below_the_level(kind):
    """Of 60 collections at most 7: a true rate of .05 gives more with a chance of .007, one of .2 with .92."""
    hits = sum(themes(corpus(400, 800, seed=seed, **kind), seed=seed).n_concepts > 0 for seed in range(60))
    assert hits <= 7
