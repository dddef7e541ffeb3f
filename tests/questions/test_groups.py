"""Groups are believed only where k-means does better than in tables without groups."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from assay.questions.groups.test import FEWEST_ROWS, FITTED, groups


def asked(X, seed=0, alpha=0.05):
    X = np.asarray(X, dtype=float)
    names = tuple(f"c{j}" for j in range(X.shape[1]))
    return groups(X, np.arange(len(X)), names, seed=seed, alpha=alpha)


def planted(k, n=240, d=8, apart=9.0, seed=0):
    """k groups, their centres at the corners of a simplex that lies somehow in the first five columns."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    X = rng.standard_normal((n, d))
    turned = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    X[:, :5] += apart / np.sqrt(2) * turned[labels]
    return X, labels


@pytest.fixture(scope="module")
def three():
    X, labels = planted(3, n=900)
    return asked(X), labels, X


def test_groups_that_are_there_are_found_with_their_number(three):
    found, labels, _ = three
    assert found.k == 3 and found.evidence.verdict == "supported" and found.holds
    assert adjusted_rand_score(found.labels, labels) > 0.95
    assert found.evidence.p == pytest.approx(0.01)
    assert found.explained > found.explained_by_chance.max()


def test_rows_beyond_the_first_600_join_the_group_they_belong_to(three):
    found, _, _ = three
    assert len(found.labels) == 900 > FITTED
    assert found.sizes.sum() == 900 and np.all(np.diff(found.sizes) <= 0)


def test_columns_that_tell_the_groups_apart_are_those_they_were_made_of(three):
    found, _, _ = three
    assert np.all(found.column_q[5:] > 0.05)
    telling = found.between > 0.5
    assert telling.sum() >= 2 and np.all(found.column_q[telling] < 0.05)


def test_groups_come_back_on_unseen_rows_and_on_rows_drawn_again(three):
    found, _, _ = three
    assert found.evidence.held_out > 0.9 and found.strength_range[0] > 0.8
    assert found.stability.min() > 0.9 and found.evidence.stability == pytest.approx(found.stability.min())


@pytest.mark.parametrize("k", [2, 5])
def test_other_numbers_of_groups_are_found_too(k):
    X, labels = planted(k, n=300, seed=k)
    found = asked(X)
    assert (found.k, found.evidence.verdict) == (k, "supported")
    assert adjusted_rand_score(found.labels, labels) > 0.95


LUMPS = {
    "normal": lambda rng: rng.standard_normal((150, 6)),
    "one direction": lambda rng: rng.standard_normal((150, 6)) + 2 * rng.standard_normal((150, 1)),
    "uniform in the plane": lambda rng: rng.random((200, 2)),
    "skewed": lambda rng: np.exp(rng.standard_normal((150, 6)) + rng.standard_normal((150, 1))),
    "heavy tails": lambda rng: rng.standard_t(4, (150, 6)),
    "counts": lambda rng: rng.poisson(2.0, (150, 6)).astype(float),
    "more columns than rows": lambda rng: rng.standard_normal((60, 90)),
}


@pytest.mark.slow
def test_tables_without_groups_are_rarely_called_groups():
    called = {
        name: sum(asked(draw(np.random.default_rng([seed, 7])), seed=seed).evidence.p <= 0.05 for seed in range(7))
        for name, draw in LUMPS.items()
    }
    # of 49 tables more than 7: a chance of .003 at a true rate of 5%, of .11 at 10%, .79 at 20%; of one kind more
    # than 3: below .001 at 5%, .71 at 60%
    assert sum(called.values()) <= 7 and max(called.values()) <= 3, called


def test_a_lump_gets_few_draws_and_no_unseen_rows():
    found = asked(np.random.default_rng(5).standard_normal((120, 5)))
    assert found.evidence.verdict == "not distinguishable from chance"
    assert len(found.explained_by_chance) == 19 and found.evidence.held_out is None


def test_other_questions_make_the_verdict_stricter(three):
    found, _, _ = three
    strict = found.stricter(6.0, 0.05)
    assert strict.evidence.q == pytest.approx(6 * found.evidence.p) and strict.evidence.verdict == "suggestive"


def test_units_and_order_of_columns_do_not_matter():
    X, _ = planted(3, n=150)
    scaled = X * np.geomspace(1e-3, 1e3, 8) + 1e4
    assert asked(X).gains == pytest.approx(asked(scaled).gains, rel=0.02)


def test_the_same_seed_gives_the_same_groups():
    X, _ = planted(2, n=120)
    one, two = asked(X, seed=3), asked(X, seed=3)
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.gains, two.gains)


def test_too_few_rows_are_not_asked_and_copies_of_one_row_are_no_groups():
    assert asked(np.random.default_rng(0).standard_normal((FEWEST_ROWS - 1, 3))) is None
    X = np.random.default_rng(1).standard_normal((60, 3))
    assert asked(np.repeat(X, 2, axis=0)).evidence.p is not None


def test_a_column_of_few_values_in_the_rows_that_are_grouped_is_left_out():
    rng = np.random.default_rng(9)
    n = 3 * FITTED
    unfitted = np.sort(np.random.default_rng(0).permutation(n)[FITTED:])
    rare = np.zeros(n)
    rare[unfitted[:8]] = np.arange(1.0, 9.0)
    assert asked(rare[:, None]) is None
    found = asked(np.column_stack([rng.standard_normal((n, 2)), rare]))
    assert found.columns == ("c0", "c1") and found.means.shape[1] == 2
