"""Rows are called out by what rows they had no part in say, and without a share to expect."""

import numpy as np
import pytest

from assay.evidence.design import Independent
from assay.questions.anomalies.measure import CrossMeasure
from assay.questions.anomalies.test import FEWEST_ROWS, anomalies


def asked(X, seed=0, level=0.05, sample=None, blocks=None):
    X = np.asarray(X, dtype=float)
    numbers = np.arange(len(X)) if sample is None else sample
    names = tuple(f"c{j}" for j in range(X.shape[1]))
    return anomalies(blocks or [(0, X)], X[numbers], numbers, names, seed=seed, level=level)


def planted(n=400, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    X[7, :2] += [9.0, -9.0]
    X[11] += 9.0 * np.array([1, -1, 1, -1, 1, -1, 1, -1])
    return X


def test_planted_rows_are_found_with_the_columns_that_drive_them():
    found = asked(planted())
    assert sorted(found.rows) == [7, 11] and found.evidence.verdict == "supported" and found.again == 1.0
    row = found.rows.tolist().index(7)
    assert set(np.argsort(-found.contributions[row])[:2]) == {0, 1}
    np.testing.assert_allclose(found.contributions.sum(axis=1), 1.0)
    assert found.distances[0] > found.evidence.null.upper > 2 * found.typical


def test_outliers_that_would_hide_each_other_are_found():
    X = planted()
    X[:12, 3] += 12.0
    found = asked(X)
    assert set(range(12)) <= set(found.rows.tolist())


def far_out(sd):
    def draw(rng):
        X = rng.standard_normal((300, 5))
        way = rng.standard_normal((3, 5))
        X[:3] = sd * way / np.linalg.norm(way, axis=1, keepdims=True)
        return X, 3

    return draw


def between(rng):
    """Midway between two groups 16 standard deviations apart, near the mean of all rows."""
    X = rng.standard_normal((300, 5))
    X[:, 0] += 16.0 * (np.arange(300) % 2)
    X[:3, 0] = 8.0 + 0.5 * rng.standard_normal(3)
    return X, 3


def masking(rng):
    X = rng.uniform(0, 3, (75, 4))
    X[:14] = np.array([[10.0, 10.0, 10.0, 10.0]] * 10 + [[11.0, 12.0, 12.0, 0.0]] * 4) + 0.3 * rng.random((14, 4))
    return X, 14


def far_cluster(rng):
    X = rng.standard_normal((300, 5))
    X[:30] = 5.0 + 0.3 * rng.standard_normal((30, 5))
    return X, 30


@pytest.mark.parametrize(
    ("draw", "least"), [(far_out(6.0), 7), (far_out(8.0), 7), (between, 7), (masking, 8), (far_cluster, 8)],
    ids=["6 sd", "8 sd", "between groups", "masking", "far cluster"],
)  # fmt: skip
def test_planted_rows_are_all_found(draw, least):
    # 7 of 8: a chance of .81 at a true rate of 90%, .26 at 70%, .04 at 50%
    found = 0
    for seed in range(8):
        X, many = draw(np.random.default_rng([seed, 5]))
        answer = asked(X, seed=seed)
        found += answer.evidence.verdict == "supported" and set(range(many)) <= set(answer.rows.tolist())
    assert found >= least


def test_rows_that_lie_together_are_named_as_such():
    X, many = far_cluster(np.random.default_rng(0))
    found = asked(X)
    assert [set(rows) for rows in found.numbers()["together"]] == [set(range(1, many + 1))]
    assert "30 lie together, away from all others" in found.findings()[0].sentence


def test_half_of_the_rows_far_away_are_a_group_and_no_anomalies():
    X = np.random.default_rng(1).standard_normal((300, 4))
    X[:100, 0] += 9.0
    found = asked(X)
    assert found.groups == 2 and found.n_rows == 0


def test_the_same_rows_are_called_out_whatever_the_seed_and_the_order():
    X, many = far_out(8.0)(np.random.default_rng(3))
    order = np.random.default_rng(4).permutation(300)
    for seed in range(5):
        assert set(range(many)) == set(asked(X, seed=seed).rows.tolist())
        assert set(range(many)) == set(order[asked(X[order], seed=seed).rows].tolist())


def test_heavy_tails_are_said_and_leave_nothing_supported():
    found = asked(np.random.default_rng(5).standard_cauchy((300, 4)))
    assert found.evidence.limit and found.evidence.verdict != "supported"
    assert "rows far out are to be expected" in found.findings()[0].sentence


def test_a_row_in_a_hole_is_told_by_its_neighbours():
    rng = np.random.default_rng(6)
    angle, radius = rng.uniform(0, 2 * np.pi, 600), 3 + 0.1 * rng.standard_normal(600)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    X[7] = 0.0
    found = asked(X)
    assert found.rows.tolist() == [7] and found.lonely.all() and found.evidence.verdict == "supported"
    assert "not far out, but" in found.findings()[0].sentence


def test_values_that_repeat_leave_gaps_by_themselves():
    # without the steps 31 of 40 such tables were called, at .05
    for seed in range(8):
        X = np.random.default_rng([seed, 8]).poisson(0.5, (300, 5)).astype(float)
        assert asked(X, seed=seed).n_rows == 0


def test_rows_far_out_are_found_among_counts():
    rng = np.random.default_rng(9)
    X = rng.poisson(3.0, (300, 5)).astype(float)
    X[:3] += rng.integers(9, 16, (3, 5))
    found = asked(X)
    assert set(found.rows) == {0, 1, 2} and found.evidence.verdict == "supported"


def test_a_step_nearer_is_a_step_of_the_values():
    rng = np.random.default_rng(10)
    X = np.column_stack([rng.poisson(9.0, 300), rng.standard_normal(300)])
    judge = CrossMeasure.of(X, X, np.arange(300), Independent(300), 0)
    spread = 1.4826 * np.median(np.abs(X[:, 0] - np.median(X[:, 0])))
    np.testing.assert_allclose(judge.steps, [1.0 / spread, 0.0])
    far, nearer = judge.distances(X, np.arange(300))
    assert (nearer <= far).all() and (nearer < far).any()


CLEAN = {
    "normal": lambda rng: rng.standard_normal((200, 6)),
    "t5": lambda rng: rng.standard_t(5, (200, 6)),
    "skewed": lambda rng: rng.exponential(size=(200, 6)),
    "counts": lambda rng: rng.poisson(3.0, (200, 6)).astype(float),
    "two groups": lambda rng: rng.standard_normal((200, 6)) + 5.0 * (rng.random((200, 1)) < 0.3),
    "wide": lambda rng: rng.standard_normal((60, 120)),
    "mostly zero": lambda rng: np.where(rng.random((200, 6)) < 0.6, 0.0, rng.gamma(2.0, size=(200, 6))),
    "rounded": lambda rng: np.round(rng.standard_normal((200, 6))),
}


@pytest.mark.slow
def test_clean_tables_rarely_have_a_row_called_out():
    called = {
        name: sum(asked(draw(np.random.default_rng([seed, 3])), seed=seed).evidence.q <= 0.05 for seed in range(8))
        for name, draw in CLEAN.items()
    }
    # of 64 tables more than 8: a chance of .004 at a true rate of 5%, of .18 at 10%, .91 at 20%
    assert sum(called.values()) <= 8 and max(called.values()) <= 3, called


@pytest.mark.calibrate
def test_a_normal_table_of_very_many_rows_has_no_row_called_out():
    for seed in range(3):
        X = np.random.default_rng([seed, 9]).standard_normal((100_000, 20))
        assert asked(X, seed=seed, sample=np.arange(20_000)).evidence.q > 0.05


def test_blocks_give_the_same_answer_as_the_whole():
    X = planted()
    whole = asked(X)
    starts = np.cumsum([0, *(len(part) for part in np.array_split(X, 7))]).tolist()
    cut = asked(X, blocks=list(zip(starts, np.array_split(X, 7), strict=False)))
    np.testing.assert_allclose(cut.scores, whole.scores, rtol=1e-12)
    np.testing.assert_array_equal(cut.rows, whole.rows)
    np.testing.assert_allclose(cut.contributions, whole.contributions, rtol=1e-9)


def test_rows_outside_the_sample_are_found_too():
    X = planted(n=3000)
    sample = np.arange(20, 1020)
    found = asked(X, sample=sample)
    assert sorted(found.rows) == [7, 11]


def test_no_row_is_measured_by_itself():
    # a row far out in a table of few rows would draw the measure towards itself
    X = np.random.default_rng(1).standard_normal((60, 20))
    X[0] += 4.0
    found = asked(X)
    from sklearn.covariance import LedoitWolf

    inside = np.sqrt(LedoitWolf().fit(X).mahalanobis(X))
    assert found.scores[0] / found.typical > inside[0] / np.median(inside)


def test_other_questions_make_it_stricter():
    found = asked(planted())
    strict = found.stricter(1e9, 0.05)
    assert len(strict.rows) == 0 and strict.evidence.verdict == "not distinguishable from chance"
    assert len(strict.contributions) == 0


def test_too_few_rows_are_not_asked():
    assert asked(np.random.default_rng(0).standard_normal((FEWEST_ROWS - 1, 3))) is None


def rare(where, n=60):
    """Zero but in a few rows, each of which holds another value."""
    x = np.zeros(n)
    x[where] = 1.0 + np.arange(len(where))
    return x


def test_a_column_that_is_constant_outside_a_fold_measures_no_row():
    # all that differs stands in one fold: to the others a value of 0.001 is as infinitely far as one of a million
    fold = np.flatnonzero(np.random.default_rng(0).permutation(60) % 5 == 2)
    usual = np.random.default_rng(1).standard_normal((60, 2))
    found = asked(np.column_stack([usual, rare(fold[:4])]))
    np.testing.assert_array_equal(found.scores, asked(np.column_stack([usual, np.zeros(60)])).scores)
    assert np.isfinite(found.scores).all() and np.isfinite(found.evidence.null.upper)


def test_columns_that_are_all_constant_outside_a_fold_cannot_be_asked():
    fold = np.flatnonzero(np.random.default_rng(0).permutation(60) % 5 == 2)
    assert asked(np.column_stack([rare(fold[:4]), rare(fold[4:9])])) is None


def test_a_row_beyond_the_range_of_squares_is_the_farthest_and_its_distance_a_number():
    X = np.random.default_rng(2).standard_normal((80, 3)) * 1e-100
    X[5, 1] = 1e130
    found = asked(X)
    assert found.best[0] == 5 and np.isfinite(found.scores).all()
    np.testing.assert_allclose(found.contributions.sum(axis=1), 1.0)


def test_a_row_that_no_column_drives_alone_is_told_so():
    X = np.random.default_rng(4).standard_normal((400, 40))
    X[7] = 4.0
    found = asked(X)
    assert 7 in found.rows and "by many columns together" in found.findings()[0].sentence


def test_no_row_is_farther_out_for_what_it_lacks():
    rng = np.random.default_rng(12)
    X = rng.standard_normal((200, 1)) + 0.2 * rng.standard_normal((200, 5))
    gone = rng.random(X.shape) < 0.2
    holes = np.where(gone, np.nan, X)
    judge = CrossMeasure.of(X, holes, np.arange(200), Independent(200), 0)
    whole, holed = (judge.distances(rows, np.arange(200))[0] for rows in (X, holes))
    assert (holed <= whole * (1.0 + 1e-9)).all() and (holed[gone.any(axis=1)] < whole[gone.any(axis=1)]).any()
    shares = judge.contributions(holes[gone.sum(axis=1) < 5], np.flatnonzero(gone.sum(axis=1) < 5))
    assert (shares[gone[gone.sum(axis=1) < 5]] == 0.0).all()
    assert (judge.lonely[gone.any(axis=1)] == judge.lonely.min()).all()  # nor lonelier


def test_rows_beyond_one_gap_share_its_q_and_programs_are_told_what_it_means():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    X[:4] += 30.0 * np.eye(3)[[0, 1, 2, 0]]
    found = asked(X)
    assert sorted(found.rows.tolist()) == [0, 1, 2, 3]
    # each gap has one, and a row is no surer than those farther out, whose gaps it lies before
    assert len(set(found.q.tolist())) < len(found.rows) and (np.diff(found.q) >= 0.0).all()
    told = found.numbers()
    assert "Rows beyond the same gap share it" in told["q_means"]
    assert [one["by_neighbours_only"] for one in told["rows"]] == found.lonely.tolist()
