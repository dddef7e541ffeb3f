"""Third columns that turn a pair round or away: published data, closed forms, and silence where nothing is turned."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from assay.evidence.design import Independent, Serial
from assay.questions.correlations.given import turned_by_others
from assay.questions.correlations.partial import Third, left_of, levels_of, strength


def told(X, groups, pairs, design=None):
    return turned_by_others(X, np.asarray(groups), pairs, design=design or Independent(len(X)))


def strongest(X, many=10):
    """The pairs that would be named: those with the largest rank correlations."""
    r = np.abs(np.triu(spearmanr(X).statistic, 1))
    return [divmod(int(at), len(r)) for at in np.argsort(-r, axis=None)[:many]]


def departments(rng, n=200):
    level = rng.integers(4, size=n)
    z = rng.multivariate_normal([0, 0], [[1, -0.9], [-0.9, 1]], n) + 2.2 * level[:, None]
    return np.column_stack([z, np.eye(4)[level], rng.standard_normal((n, 3))]), [0, 1, 2, 2, 2, 2, 3, 4, 5]


def test_a_pair_that_falls_within_every_department_and_rises_over_all_is_always_found():
    rng = np.random.default_rng(0)
    for _ in range(20):
        found, looks = told(*departments(rng), [(0, 1)])
        (one,) = found
        assert looks == 4
        assert (one.third, one.turned, one.levels, one.each) == (2, "round", 4, True)
        assert one.overall > 0.6 and one.low < one.within < one.high < -0.7


def test_the_same_with_departments_that_are_numbered():
    X, groups = departments(np.random.default_rng(1))
    numbered = np.column_stack([X[:, :2], X[:, 2:6].argmax(axis=1), X[:, 6:]])
    one, same = (told(*table, [(0, 1)])[0][0] for table in ((X, groups), (numbered, np.arange(6))))
    assert one == same


# Bickel, Hammel and O'Connell, Science 187 (1975): men admitted, refused, women admitted, refused, in six departments
BERKELEY = [
    (512, 313, 89, 19), (353, 207, 17, 8), (120, 205, 202, 391), (138, 279, 131, 244), (53, 138, 94, 299),
    (22, 351, 24, 317),
]  # fmt: skip


def test_a_pair_that_levels_have_in_opposite_ways_is_not_called_nothing():
    codes = np.repeat([0, 1, 2], 200)
    x, e = np.random.default_rng(4).standard_normal((2, 600))
    found = {}
    for size in (0.0, 0.6):
        within = size * np.array([1.0, -1.0, 0.0])[codes]
        y = within * x + np.sqrt(1.0 - within**2) * e
        X = np.column_stack([x + 3.0 * codes, y + 3.0 * codes, np.eye(3)[codes]])
        found[size] = [one.turned for one in told(X, [0, 1, 2, 2, 2], [(0, 1)])[0]]
    assert found == {0.0: ["away"], 0.6: []}


def test_admissions_to_berkeley_no_longer_go_with_sex_once_departments_are_known():
    rows = [
        (sex, admitted, department)
        for department, counts in enumerate(BERKELEY)
        for many, (sex, admitted) in zip(counts, [(0, 1), (0, 0), (1, 1), (1, 0)], strict=True)
        for _ in range(many)
    ]
    X = np.array(rows, dtype=float)
    (one,), _ = told(np.column_stack([X[:, :2], np.eye(6)[X[:, 2].astype(int)]]), [0, 1] + [2] * 6, [(0, 1)])
    # of two columns of yes and no the rank correlation is phi, here -.143; Mantel and Haenszel's odds ratio is 1.1
    assert one.overall == pytest.approx(np.corrcoef(X[:, 0], X[:, 1])[0, 1], abs=1e-12)
    assert one.turned == "away" and one.low < 0 < one.within < one.high < 0.071


def test_a_number_that_drives_both_takes_their_link_away():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(20):
        z = rng.standard_normal(400)
        X = np.column_stack([z + 0.6 * rng.standard_normal(400), np.exp(z + 0.6 * rng.standard_normal(400)), z])
        found, _ = told(X, [0, 1, 2], [(0, 1)])
        hits += [(one.third, one.turned, one.levels) for one in found] == [(2, "away", 0)]
    assert hits >= 16  # "compatible with nothing" at 5% fails one time in twenty


def test_categories_of_several_levels_that_owe_their_link_to_a_third_one():
    rng = np.random.default_rng(3)
    cause = rng.integers(3, size=600)
    sides = [np.eye(3)[np.where(rng.random(600) < 0.8, cause, rng.integers(3, size=600))] for _ in range(2)]
    X = np.column_stack([*sides, np.eye(3)[cause]])
    (one,), _ = told(X, np.repeat([0, 1, 2], 3), [(0, 1)])
    assert one.turned == "away" and one.within < one.high < one.overall / 2 and not one.each


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.standard_normal((200, 8)),
        lambda rng: rng.lognormal(size=(40, 10)),
        lambda rng: 0.4 * rng.standard_normal((200, 1)) + 0.9 * rng.standard_normal((200, 8)),
        lambda rng: 0.7 * rng.standard_normal((200, 1)) + 0.7 * rng.standard_normal((200, 8)),
        lambda rng: 0.9 * rng.standard_normal((60, 1)) + 0.4 * rng.standard_normal((60, 8)),
        lambda rng: np.round(0.7 * rng.standard_normal((200, 1)) + 0.7 * rng.standard_normal((200, 8))),
    ],
    ids=["independent", "lognormal", "factor .4", "factor .7", "factor .9", "few values"],
)
def test_where_nothing_is_turned_nothing_is_said(make):
    # none or one of 50 tables may say something: a rate of 10% passes with a chance of 3.4%
    rng = np.random.default_rng(4)
    tables = [make(rng) for _ in range(50)]
    assert sum(bool(told(X, np.arange(X.shape[1]), strongest(X))[0]) for X in tables) <= 1


def test_of_levels_alike_in_size_what_is_left_is_the_mean_of_what_each_has():
    rng = np.random.default_rng(5)
    X, level = rng.standard_normal((120, 2)), np.repeat(np.arange(4), 30)
    used, A, B = left_of((X[:, :1], X[:, 1:]), Third(2, level, None))
    each = [spearmanr(X[level == k]).statistic for k in range(4)]
    assert len(used) == 120 and strength(A, B) == pytest.approx(np.mean(each), abs=1e-12)


def test_levels_are_those_of_categories_and_of_numbers_with_few_values():
    rng = np.random.default_rng(6)
    assert levels_of(rng.standard_normal((50, 1))) is None
    np.testing.assert_array_equal(levels_of(np.repeat([[7.0], [3.0]], 10, axis=0)), np.repeat([1, 0], 10))
    assert levels_of(np.eye(40)) is None  # no level has enough rows
    np.testing.assert_array_equal(levels_of(np.repeat(np.eye(3)[:, :2], 9, axis=0)), np.repeat([0, 1, 2], 9))


def test_rows_that_repeat_each_other_do_not_make_it_surer():
    rng = np.random.default_rng(7)
    X, groups = departments(rng, 60)
    slow = np.repeat(X, 10, axis=0)
    free, _ = told(slow, groups, [(0, 1)])
    bound, _ = told(slow, groups, [(0, 1)], Serial(600, np.arange(600), 20))
    assert bound[0].high - bound[0].low > 2 * (free[0].high - free[0].low)


def test_constant_columns_copies_and_two_columns_alone_have_nothing_to_say():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((100, 1))
    noisy = x + 0.3 * rng.standard_normal((100, 1))
    assert told(np.hstack([x, noisy]), [0, 1], [(0, 1)]) == ((), 0)
    assert told(np.hstack([x, noisy, np.ones((100, 1)), x]), [0, 1, 2, 3], [(0, 1)])[0] == ()
    assert told(np.hstack([np.ones((100, 1)), noisy, x]), [0, 1, 2], [(0, 1)])[0] == ()
