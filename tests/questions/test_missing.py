"""Missing values: what gaps go with is found, what they do not is not, and chance is known whatever is missing."""

import numpy as np
import pytest
from scipy.stats import binom, chi2, chi2_contingency, mannwhitneyu, norm

import assay
from assay.asking.card import Column, DataCard
from assay.asking.table import FirstLook
from assay.evidence.design import Serial
from assay.questions.missing.sides import GapSide, compared
from assay.questions.missing.test import _standardised, missing_values


def look_of(X, kinds=None, levels=None):
    X = np.asarray(X, dtype=np.float64)
    n, d = X.shape
    return FirstLook(
        columns=tuple(f"c{j + 1}" for j in range(d)),
        kinds=tuple(kinds or ["number"] * d),
        units=(None,) * d,
        rows=np.arange(1, n + 1),
        values=X,
        centre=np.zeros(d),
        scale=np.ones(d),
        levels=levels or {},
        total=n,
    )


def asked(X, design=None, **options):
    look = look_of(X, **options)
    gaps = np.isnan(look.values).sum(axis=0)
    columns = tuple(
        Column(name, kind, True, missing=int(m)) for name, kind, m in zip(look.columns, look.kinds, gaps, strict=True)
    )
    card = DataCard("x", len(look.rows), len(look.rows), columns)
    return missing_values(look, card, design_of=None if design is None else lambda rows: design)


def verdicts(found):
    return {f.id: f.evidence.verdict for f in found.findings()}


def holed(rng, n=150, d=5, share=0.3):
    X = rng.standard_normal((n, d))
    X[rng.random((n, d)) < share] = np.nan
    return X


def missing_where_high(rng, n=300):
    X = rng.standard_normal((n, 4))
    X[rng.random(n) < norm.cdf(2.0 * X[:, 3] - 1.0), 0] = np.nan
    return X


def test_rank_sums_are_those_of_mann_and_whitney():
    rng = np.random.default_rng(0)
    X = holed(rng)
    X[:, 2] = np.round(X[:, 2])  # ties
    given = compared(look_of(X))
    z = _standardised(given)
    for j, lacking in enumerate(given.lacking):
        for side in (GapSide("high", 2), GapSide("high", 4)):
            if side.column == lacking:
                continue
            values, gone = X[:, side.column], np.isnan(X[:, lacking])
            known = ~np.isnan(values)
            peer = mannwhitneyu(values[known & gone], values[known & ~gone], method="asymptotic", use_continuity=False)
            ours = 2.0 * norm.sf(abs(z[j, given.sides.index(side)]))
            assert ours == pytest.approx(peer.pvalue, rel=1e-9)


def test_roots_are_those_of_the_likelihood_ratio_of_four_cells():
    rng = np.random.default_rng(1)
    X = holed(rng)
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, rng.integers(0, 3, len(X)))
    given = compared(look_of(X, kinds=["number", "category", "number", "number", "number"]))
    z = _standardised(given)
    seen = 0
    for j, lacking in enumerate(given.lacking):
        for v, side in enumerate(given.sides):
            if not side.two or np.isnan(z[j, v]):
                continue
            known, upper, gone = given.known[:, v], given.values[:, v] > 0, np.isnan(X[:, lacking])
            cells = [[np.sum(known & (gone == a) & (upper == b)) for b in (True, False)] for a in (True, False)]
            peer = chi2_contingency(cells, correction=False, lambda_="log-likelihood").statistic
            assert z[j, v] ** 2 == pytest.approx(peer, rel=1e-9, abs=1e-9)
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("share", [0.04, 0.3, 0.9])
def test_gaps_that_know_nothing_go_with_nothing(share):
    # more than 9 of 100 has a chance of .03 at the promised rate of 5%, and of .9 at 15%; two families, one answer
    claims = sum(
        min(e.evidence.q for e in found.families) <= 0.05
        for found in (asked(holed(np.random.default_rng((k, 7)), share=share)) for k in range(100))
        if found.families
    )
    assert claims <= 9 and binom.sf(9, 100, 0.05) < 0.03 and binom.sf(9, 100, 0.15) > 0.9


def test_gaps_in_runs_of_a_series_go_with_nothing():
    # taken for independent rows, 58 of these 60 claim something
    rng, n, claims = np.random.default_rng(2), 200, 0
    for _ in range(60):
        noise = rng.standard_normal((2, n + 50, 3))
        for t in range(1, n + 50):
            noise[:, t] += 0.9 * noise[:, t - 1]
        X, hidden = noise[0, 50:].copy(), noise[1, 50:]
        X[hidden > 1.0] = np.nan
        found = asked(X, design=Serial(n, np.arange(n), 20))
        claims += any(family.evidence.q <= 0.05 for family in found.families)
    assert claims <= 7 and binom.sf(7, 60, 0.05) < 0.03 and binom.sf(7, 60, 0.2) > 0.9


def test_two_outages_overlap_or_do_not_by_chance():
    # as above; taken for gaps in any rows, 54 of these 60 are missing together or by turns
    rng, claims = np.random.default_rng(11), 0
    for _ in range(60):
        X = rng.standard_normal((300, 3))
        for j, first in enumerate(rng.integers(0, 200, 2)):
            X[first : first + 100, j] = np.nan
        found = asked(X)
        claims += found.together is not None and found.together.evidence.q <= 0.05
    assert claims <= 7


def test_a_column_missing_where_another_is_high_is_found_and_said():
    found = asked(missing_where_high(np.random.default_rng(0)))
    first = found.findings()[0]
    assert first.evidence.verdict == "supported" and first.evidence.held_out > 0.2
    assert first.sentence.startswith("c1 is missing more often where c4 is high (")
    assert "no fair sample" in first.sentence
    pair = found.values.pairs[0]
    assert (pair.lacking, pair.column, pair.side.way) == ("c1", "c4", "high") and pair.upper > 0.5 > 0.1 > pair.lower


def test_another_order_of_rows_changes_nothing_but_what_is_said_of_their_order():
    X = missing_where_high(np.random.default_rng(3))
    order = np.random.default_rng(4).permutation(len(X))
    one, other = (
        {(p.lacking, p.column, p.side.way): p.p for p in found.values.pairs if p.side.way != "order"}
        for found in (asked(X), asked(X[order]))
    )
    assert one.keys() == other.keys()
    np.testing.assert_allclose([one[k] for k in one], [other[k] for k in one], rtol=1e-9)


def test_columns_missing_together_and_by_turns():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 4))
    both = rng.random(200) < 0.3
    X[both, 0] = X[both, 1] = np.nan
    X[~both & (rng.random(200) < 0.4), 2] = np.nan
    found = asked(X)
    assert verdicts(found)["missing-together"] == "supported"
    ways = {(p.lacking, p.column): p.upper > p.lower for p in found.together.standing(0.05)}
    assert ways == {("c1", "c2"): True, ("c1", "c3"): False, ("c2", "c3"): False}
    assert found.crossed[0, 1] == pytest.approx(1.0) and found.crossed[0, 2] < 0
    assert verdicts(found)["missing-with-values"] == "not distinguishable from chance"


def test_a_level_and_both_ends_are_told():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((300, 3))
    X[:, 2] = rng.integers(0, 3, 300)
    X[(X[:, 2] == 1) & (rng.random(300) < 0.6), 0] = np.nan
    X[np.abs(X[:, 0]) > 1.2, 1] = np.nan
    found = asked(X, kinds=["number", "number", "category"], levels={"c3": ("Bern", "Basel", "Genf")})
    sentence = found.findings()[0].sentence
    assert "c1 is missing more often where c3 is Basel" in sentence
    assert "c2 is missing more often where c1 is far from its middle" in sentence


def test_rows_in_a_row_and_sets_of_columns_are_counted():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((200, 3))
    X[30:70, 1] = np.nan
    X[rng.random(200) < 0.2, 2] = np.nan
    found = asked(X)
    assert [(run.column, run.first, run.last) for run in found.runs] == [("c2", 31, 70)]
    assert sum(pattern.rows for pattern in found.patterns) == 200
    gone = {pattern.columns: pattern.rows for pattern in found.patterns}
    assert gone[("c2",)] + gone[("c2", "c3")] == 40


def test_littles_test_agrees_on_both_sides():
    """Little's statistic: means of the rows of each pattern against those of EM, chi^2 if gaps know nothing."""
    for draw, missing in ((lambda rng: holed(rng, 300, 3, 0.2), False), (missing_where_high, True)):
        X = draw(np.random.default_rng(8))
        law = assay.normal_em(X)
        there, statistic, freedom = ~np.isnan(X), 0.0, -X.shape[1]
        for pattern in np.unique(there, axis=0):
            rows = X[(there == pattern).all(axis=1)][:, pattern]
            if pattern.any():
                gap = rows.mean(axis=0) - law.mean[pattern]
                statistic += len(rows) * gap @ np.linalg.solve(law.covariance[np.ix_(pattern, pattern)], gap)
                freedom += int(pattern.sum())
        assert (chi2.sf(statistic, freedom) < 0.001) == missing
        assert (asked(X).evidence.verdict == "supported") == missing


def test_what_cannot_be_compared_is_said():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((50, 3))
    assert asked(X) is None
    X[3, 0] = np.nan
    found = asked(X)
    assert verdicts(found) == {"missing": "not testable here"} and found.evidence.p is None
    assert "1 column has gaps (c1 lacks the most, 2.0%)" in found.findings()[0].sentence
    X[:, 1] = np.nan  # wholly missing: nothing to compare either
    assert verdicts(asked(X)) == {"missing": "not testable here"}
    X[:20, 0] = np.nan
    assert set(verdicts(asked(X))) == {"missing-with-values"}  # one column has gaps and values: no two to compare


def test_views_draw_sets_of_columns_and_gaps_with_gaps():
    rng = np.random.default_rng(10)
    X = rng.standard_normal((200, 4))
    X[rng.random(200) < 0.3, :2] = np.nan
    X[rng.random(200) < 0.2, 2] = np.nan
    found = asked(X)
    views = {view.name: view for view in found.views()}
    assert set(views) == {"missing-patterns", "missing-together"}
    cells = views["missing-patterns"].figure.renderers[0].data_source.data
    assert len(cells["x"]) == 3 * len(found.patterns)
    assert "c1" in views["missing-patterns"].numbers
