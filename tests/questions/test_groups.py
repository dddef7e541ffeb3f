"""Groups are believed only where a lump does not do as well and unseen rows show a valley between them."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from assay.questions.groups.profile import Category
from assay.questions.groups.test import FEWEST_ROWS, FITTED, groups
from assay.questions.groups.words import line, sentence


def asked(X, seed=0, numbers=None, **options):
    X = np.asarray(X, dtype=float)
    names = tuple(f"c{j}" for j in range(X.shape[1]))
    return groups(X, np.arange(len(X)) if numbers is None else numbers, names, seed=seed, **options)


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
    assert found.evidence.p < 1e-4 and found.evidence.statistic > found.evidence.null.upper
    assert (found.fewest, found.most) == (3, 3)


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
    assert found.evidence.verdict == "not distinguishable from chance" and found.k == 1
    assert found.evidence.null.draws == 19 and found.evidence.held_out is None
    assert sentence(found).startswith("No groups of rows stand out")


def one_column(rng):
    X = rng.standard_normal((300, 5))
    X[:, 0] += 5.0 * (rng.random(300) < 0.5)
    return X


def elongated(rng):
    X = rng.standard_normal((300, 4)) * [6.0, 1.0, 1.0, 1.0]
    X[:, 1] += 6.0 * (rng.random(300) < 0.5)
    return X @ np.linalg.qr(rng.standard_normal((4, 4)))[0]


def rings(rng):
    angle, far = rng.uniform(0, 2 * np.pi, 300), rng.random(300) < 0.5
    radius = np.where(far, 3.0, 1.0) + 0.15 * rng.standard_normal(300)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


@pytest.mark.parametrize("draw", [one_column, elongated, rings])
def test_two_groups_are_found_whatever_their_shape(draw):
    found = asked(draw(np.random.default_rng(3)))
    assert (found.k, found.evidence.verdict) == (2, "supported") and found.evidence.p < 0.005


def test_the_simplest_description_is_named():
    found = asked(one_column(np.random.default_rng(4)))
    assert found.way == "peaks of one column, c0"


def parabola(rng):
    x = rng.uniform(-2, 2, 300)
    return np.column_stack([x, x**2 + 0.3 * rng.standard_normal(300)])


def one_ring(rng):
    angle = rng.uniform(0, 2 * np.pi, 300)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * (2 + 0.15 * rng.standard_normal((300, 1)))


@pytest.mark.parametrize("draw", [parabola, one_ring])
def test_a_curve_is_called_that_and_not_groups(draw):
    found = [asked(draw(np.random.default_rng(seed)), seed=seed) for seed in range(2)]
    assert all(one.evidence.verdict == "not distinguishable from chance" and one.k == 1 for one in found)
    assert any("along a curve or a gradient" in sentence(one) for one in found)


@pytest.mark.parametrize("seed", [1000, 1012])
def test_a_sine_is_no_two_groups_by_its_height(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 4 * np.pi, 300)
    found = asked(np.column_stack([angle, np.sin(angle) + 0.1 * rng.standard_normal(300)]))
    assert found.evidence.verdict == "not distinguishable from chance"
    assert "along a curve or a gradient" in sentence(found)


def test_known_tables_get_their_known_answers_for_every_seed_and_order():
    from sklearn.datasets import load_iris, load_wine

    for X, k in ((load_iris().data, 2), (load_wine().data, 3)):
        order = np.random.default_rng(8).permutation(len(X))
        told = [asked(X), asked(X[order], seed=1)]
        assert [(one.k, one.evidence.verdict) for one in told] == [(k, "supported")] * 2
        assert f"{k + 1} groups or more are not separable" in sentence(told[0])
        np.testing.assert_array_equal(told[0].labels[order], told[1].labels)


def test_labels_and_sizes_are_those_of_all_rows_where_only_some_were_drawn():
    X, labels = planted(3, n=3000)
    found = asked(X[::5], numbers=np.arange(0, 3000, 5), blocks=[(0, X[:1000]), (1000, X[1000:])])
    assert len(found.labels) == 3000 and len(found.drawn) == 600
    assert adjusted_rand_score(labels, found.labels) > 0.98
    assert found.sizes.tolist() == np.bincount(found.labels).tolist()
    np.testing.assert_allclose(np.sort(found.sizes), np.sort(np.bincount(labels)), atol=15)
    assert found.sizes.sum() == 3000


def test_a_group_says_with_which_level_of_a_category_it_coincides(three):
    _, labels, X = three
    rng = np.random.default_rng(2)
    wrong = np.where(rng.random(900) < 0.05, (labels + 1) % 3, labels)
    told = Category("kind", ("red", "green", "blue"), wrong)
    noise = Category("side", ("left", "right"), rng.integers(2, size=900))
    found = asked(X, categories=(told, noise))
    assert {one.column for one in found.coincide} == {"kind"} and len(found.coincide) == 3
    for one in found.coincide:
        shared = np.sum((found.labels == one.group) & (wrong == told.levels.index(one.level)))
        assert one.shared == shared > 0.9 * one.in_group and one.p < 1e-10
    assert f", nearly those of kind {found.coincide[0].level} (" in sentence(found)


def test_other_questions_make_the_verdict_stricter(three):
    found, _, _ = three
    factor = 0.06 / found.evidence.p
    strict = found.stricter(factor, 0.05)
    assert strict.evidence.q == pytest.approx(0.06) and strict.evidence.verdict == "suggestive"


def test_units_and_order_of_columns_do_not_matter():
    X, _ = planted(3, n=150)
    scaled = X * np.geomspace(1e-3, 1e3, 8) + 1e4
    one, two = (np.array([gain for _, gain in asked(some).beyond]) for some in (X, scaled))
    np.testing.assert_allclose(one, two, rtol=0.02, atol=0.02)


def test_the_same_seed_gives_the_same_groups():
    X, _ = planted(2, n=120)
    one, two = asked(X, seed=3), asked(X, seed=3)
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.beyond == two.beyond


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).standard_normal((60, 1)),
        np.random.default_rng(1).standard_cauchy((60, 3)) * 1e300 / 1e3,
        np.random.default_rng(2).standard_normal((60, 3)) * 1e-300,
        np.random.default_rng(3).standard_normal((60, 2)) @ np.ones((2, 5)),
        np.random.default_rng(4).standard_normal((45, 200)),
        np.where(np.random.default_rng(5).random((80, 3)) < 0.7, 0.0, np.random.default_rng(6).random((80, 3))),
    ],
    ids=["one column", "1e300", "1e-300", "one rank", "wide", "zeros"],
)
def test_hard_tables_get_an_answer(X):
    found = asked(X)
    assert found is not None and np.isfinite(found.evidence.statistic)


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


def test_a_single_column_has_no_correlations_to_speak_of():
    found = asked(np.random.default_rng(3).gamma(9.0, 8.0, (300, 1)))
    assert "No groups of rows stand out: one lump does as well in about" in sentence(found)
    assert "correlations" not in line(found)
