from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge as SkRidge
from threadpoolctl import threadpool_info, threadpool_limits

from assay.evidence.design import Grouped, Independent
from assay.linalg.regression.regression_sums import RegressionSums
from assay.questions.prediction import growth as growth_module
from assay.questions.prediction import peer, plan
from assay.questions.prediction import test as module
from assay.questions.prediction.asked import asked
from assay.questions.prediction.better import gain
from assay.questions.prediction.chance import measured
from assay.questions.prediction.leaks import alone, leaks
from assay.questions.prediction.machines import machines
from assay.questions.prediction.matters import matters
from assay.questions.prediction.plan import planned
from assay.questions.prediction.sure import class_sets
from assay.questions.prediction.test import prediction
from assay.questions.prediction.unseen import _left_out, learned, unseen


def names(p):
    return tuple(f"x{j}" for j in range(p))


def said(found):
    return found.findings()[0].sentence


@pytest.fixture
def quick(monkeypatch):
    """Few draws: what is asked here is not p."""
    monkeypatch.setattr(plan, "_DRAWS", (99, 99))
    monkeypatch.setattr(plan, "_MOST_REPEATS", 2)


@pytest.mark.parametrize(
    ("rule", "machine", "least"),
    [
        (lambda X: X @ [1.0, 1.0, 0.0, 0.0, 0.0], "line", 0.85),
        (lambda X: np.abs(X[:, 0]), "curves", 0.8),
        (lambda X: X[:, 0] * X[:, 1], "kernel", 0.75),
        (lambda X: X[:, 0] ** 2 + X[:, 1] * X[:, 2], "kernel", 0.75),
        (lambda X: (X[:, 0] > 0) ^ (X[:, 1] > 0), "kernel", 0.3),
    ],
    ids=["sum", "|x|", "product", "square and product", "XOR"],
)
def test_the_simplest_machine_that_can_follow_a_rule_is_named(quick, rule, machine, least):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = rule(X)
    classes = ("no", "yes") if y.dtype == bool else ()
    y = y.astype(float) if classes else y + 0.3 * y.std() * rng.standard_normal(300)
    found = prediction(X, y, names(5), "y", classes=classes)
    assert found.evidence.verdict == "supported" and found.machine == machine
    assert found.evidence.held_out > least
    only = prediction(X, y, names(5), "y", classes=classes, kinds=("line",))
    assert (only.evidence.verdict == "supported") == (machine == "line")
    assert list(only.reached) == ["line"]


def test_a_weak_line_is_not_lost_to_machines_that_could_follow_more(quick, monkeypatch):
    # 40 lines of R^2 = .1 in 100 rows: the mean loss has a standard error of half a point, so that a choice which
    # loses 4 points, most of what a line explains there on new rows, is noticed in more than 99 of 100 runs
    monkeypatch.setattr(plan, "_MOST_REPEATS", 1)
    for beside in ("boosted", "matters", "growth"):
        monkeypatch.setattr(module, beside, lambda *_: None)
    monkeypatch.setattr(module, "jackknifed", lambda *_: 0.0)
    rng, lost = np.random.default_rng(1), []
    for _ in range(40):
        X = rng.standard_normal((100, 5))
        found = prediction(X, X @ [0.27, 0.14, 0.14, 0.0, 0.0] + rng.standard_normal(100), names(5), "y")
        lost.append(found.reached["line"] - found.evidence.held_out)
    assert np.mean(lost) < 0.02


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-300])
def test_machines_make_the_same_numbers_of_rows_whenever_they_see_them_in_any_unit(scale):
    rng = np.random.default_rng(2)
    X = np.column_stack(
        [rng.standard_normal((200, 3)), rng.integers(0, 2, 200), rng.standard_cauchy(200), np.ones(200)]
    )
    able = machines(X, np.array([0, 1, 2, 3, 4, 5]), 0)
    assert [one.kind for one in able] == ["line", "curves", "kernel", "kernel"]
    for one in able:
        # triangular solves of landmarks lose the digits of their condition, at most 1 / sqrt(1e-12)
        np.testing.assert_allclose(one.features(X[:7]), one.rows[:7], atol=1e-5)
    y = X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(200)
    first, other = (prediction(s * X, s * y, names(6), "y", kinds=("line", "curves")) for s in (1.0, scale))
    # powers of two are exact, other factors round each value once
    assert other.evidence.held_out == pytest.approx(first.evidence.held_out, abs=1e-6)
    assert other.half_width / scale == pytest.approx(first.half_width, rel=1e-5)


def test_curves_go_straight_on_beyond_the_rows_and_are_left_out_where_nothing_can_bend():
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 1, (100, 1))
    (_, curves) = machines(X, np.array([0]), 0, ("line", "curves"))
    beyond = curves.features(np.array([[1.0], [1.5], [2.0]]))  # the fence is 1.5 away
    np.testing.assert_allclose(beyond[0] + beyond[2], 2 * beyond[1], rtol=1e-9, atol=1e-9)
    assert len(machines((X > 0.5).astype(float), np.array([0]), 0, ("line", "curves"))) == 1


def test_rows_learned_from_are_seen_each_without_itself_as_if_learned_again():
    rng = np.random.default_rng(4)
    X, Y = rng.standard_normal((40, 3)), rng.standard_normal((40, 2))
    able = machines(X, np.arange(3), 0, ("line",))[0]
    path = RegressionSums.of(able.rows, Y).path()
    rule = learned(able, Y, 2.0)
    again = [
        SkRidge(2.0).fit(np.delete(able.rows, i, 0), np.delete(Y, i, 0)).predict(able.rows[[i]])[0] for i in range(40)
    ]
    np.testing.assert_allclose(_left_out(rule, path, able.rows, Y, 2.0), again, atol=1e-9)


def test_columns_that_give_all_alone_are_named_first_and_left_out(quick):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + rng.standard_normal(200)
    found = prediction(np.column_stack([X, 1.17 * y + 3]), y, ("a", "b", "c", "in euro"), "price")
    assert said(found).startswith("Probable leak: in euro is price in other units")
    assert found.without.evidence.held_out == pytest.approx(0.5, abs=0.15)  # half of the variance was planted
    assert found.without.columns == ("a", "b", "c")
    only = prediction(y[:, None] * 2, y, ("twice",), "y")
    assert only.without is None and "nothing to predict from" in said(only)


@pytest.mark.parametrize(
    ("column", "classes", "leaks_"),
    [
        (lambda y, rng: np.exp(y), 0, True),
        (lambda y, rng: y + 0.5 * rng.standard_normal(300), 0, False),
        (lambda y, rng: (y > 0).astype(float), 0, False),
        (lambda y, rng: np.round(y), 0, False),
        (lambda y, rng: y, 3, True),
        (lambda y, rng: -y + 0.3 * rng.standard_normal(300), 3, False),
        (lambda y, rng: rng.integers(0, 2, 300).astype(float), 3, False),
        (lambda y, rng: np.digitize(y, [-1, 1.5]).astype(float), 3, True),
    ],
    ids=["a function", "noise", "its sign", "rounded", "cut into classes", "nearly", "useless", "the class"],
)
def test_what_a_column_gives_alone_is_asked_without_a_fit(column, classes, leaks_):
    rng = np.random.default_rng(6)
    y = rng.standard_normal(300)
    X = np.column_stack([column(y, rng), rng.standard_normal(300)])
    target = np.digitize(y, [-1, 1.5]).astype(float) if classes else y
    what = asked(X, target, names(2), names(2), "y", ("a", "b", "c")[:classes], Independent(300), 0)
    assert [one.name for one in leaks(what, alone(what))] == (["x0"] if leaks_ else [])


def test_a_rare_class_makes_no_leak_of_a_column_that_knows_nothing():
    rng = np.random.default_rng(7)
    y = np.zeros(1000)
    y[:5] = 1.0
    X = np.column_stack([rng.integers(0, 2, 1000), rng.standard_normal(1000)])
    what = asked(X, y, names(2), names(2), "y", ("no", "yes"), Independent(1000), 0)
    assert leaks(what, alone(what)) == ()


def test_what_is_lost_without_a_column_is_what_it_brings(quick):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((3000, 4))
    X[:, 3] = X[:, 2] + 0.1 * rng.standard_normal(3000)
    y = 2.0 * X[:, 0] + X[:, 2] + rng.standard_normal(3000)
    found = prediction(X, y, ("large", "none", "twin", "other twin"), "y").matters
    assert found.names[:2] == (("large",), ("twin", "other twin"))
    # shares of the variance of 4 and 1 of 6; of 2,000 rows a standard error of (16 * 2 + 16)^1/2 / 6 / 2000^1/2 = .026
    np.testing.assert_allclose(found.loss[:2], [4 / 6, 1 / 6], atol=0.09)
    assert found.sure == [0, 1]


def test_an_exchange_that_changes_nothing_loses_nothing(quick, monkeypatch):
    class Still(Independent):
        def drawn(self, rng):
            return np.arange(self.n)

    rng = np.random.default_rng(10)
    codes = np.repeat([0.0, 1.0, 2.0], 100)
    X = np.column_stack([8.0 * (codes == 1) + rng.standard_normal(300), rng.standard_normal((300, 2)) + codes[:, None]])
    given = []
    monkeypatch.setattr(module, "matters", lambda *args: given.append(args) or matters(*args))
    prediction(X, codes, names(3), "y", classes=("a", "b", "c"))
    what, told, rows = given[0]
    assert any((rule.predict(X[out]) > what.scaled.max(axis=0)).any() for out, rule in rows.taught)  # out of the range
    found = matters(replace(what, design=Still(300)), told, rows)
    np.testing.assert_allclose(found.loss, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.interval, 0.0, atol=1e-12)


def test_trees_of_few_rows_grow_in_one_thread_and_give_the_others_back(quick, monkeypatch):
    threads = []

    def told(*args):
        threads.extend(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "openmp")
        return grown(*args)

    grown = peer._trees
    monkeypatch.setattr(peer, "_trees", told)
    with threadpool_limits(3, user_api="openmp"):
        X = np.random.default_rng(0).normal(size=(120, 3))
        assert prediction(X, X[:, 0], names(3), "y").peer is not None
        after = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "openmp"]
    assert threads and set(threads) == {1} and set(after) == {3}


def test_boosted_trees_that_know_more_are_told_and_no_cannot_is_said(quick):
    rng = np.random.default_rng(9)
    X = rng.standard_normal((400, 20))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(float)
    found = prediction(X, y, names(20), "y", classes=("no", "yes"))
    assert found.peer.more.sure and "Boosted trees are right for" in said(found)
    assert "cannot be predicted" not in said(found)
    noise = prediction(X, rng.standard_normal(400), names(20), "y")
    assert "cannot be predicted" in said(noise) and "Boosted" not in said(noise)


def test_a_gain_is_as_sure_as_blocks_of_rows_allow():
    rng = np.random.default_rng(10)
    label = np.repeat(np.arange(20), 50)
    better = (0.1 + rng.standard_normal(20))[label]
    alone_, together = (gain(better, np.zeros(1000), np.ones(1000), blocks) for blocks in (np.arange(1000), label))
    assert alone_.value == together.value and together.high - together.low > 5 * (alone_.high - alone_.low)


def test_sets_of_classes_hold_the_true_one_of_new_rows_as_often_as_they_say():
    # 200 tables of 99 rows: the mean coverage of exchangeable rows is at least 90%, known to .2%
    rng, covered = np.random.default_rng(11), []
    for _ in range(200):
        probability = rng.dirichlet([1.0, 0.6, 0.3], 1099)
        codes = (probability.cumsum(axis=1) < rng.random(1099)[:, None]).sum(axis=1)
        sets = class_sets(probability[:99], codes[:99])
        held = probability[99:] >= sets.threshold
        held[np.arange(1000), probability[99:].argmax(axis=1)] = True
        covered.append(held[np.arange(1000), codes[99:]].mean())
    assert 0.895 < np.mean(covered) < 0.93


def test_more_rows_bring_what_the_law_of_ones_over_n_says():
    n = np.array([50.0, 100.0, 200.0, 400.0])
    slope, error = growth_module._slope(1.0 / n, 0.4 + 12.0 / n, np.full(4, 0.01))
    assert slope == pytest.approx(12.0) and error > 0


def test_what_more_rows_would_bring_is_what_they_bring(quick):
    # ten columns with noise of as much variance: R^2 of least squares falls short of .5 by 10 / n or so
    rng = np.random.default_rng(12)
    X = rng.standard_normal((480, 10))
    y = X.sum(axis=1) / np.sqrt(10) + rng.standard_normal(480)
    half = prediction(X[:240], y[:240], names(10), "y", kinds=("line",))
    assert half.growth.low <= 0.5 * 10 / 216 * 0.5 <= half.growth.high and half.growth.high < 0.1
    assert len(half.growth.rows) == 4 and "Twice the rows would explain" in said(half)
    groups = prediction(X, y, names(10), "y", design=Grouped(480, np.repeat(np.arange(40), 12)), kinds=("line",))
    assert groups.growth is not None  # whole groups


def test_too_few_rows_for_parts_or_trees_say_nothing_of_them(quick):
    rng = np.random.default_rng(13)
    X = rng.standard_normal((40, 2))
    found = prediction(X, X[:, 0], names(2), "y")
    assert found.growth is None and found.peer is None
    assert "Twice the rows" not in said(found)


def test_nothing_beside_the_test_changes_what_it_says(quick, monkeypatch):
    rng = np.random.default_rng(14)
    X = rng.standard_normal((100, 3))
    y = X[:, 0] + rng.standard_normal(100)
    full = prediction(X, y, names(3), "y")
    for beside in ("boosted", "matters", "growth"):
        monkeypatch.setattr(module, beside, lambda *_: None)
    assert prediction(X, y, names(3), "y").evidence == full.evidence


@pytest.mark.parametrize("design", [Independent(90), Grouped(90, np.repeat(np.arange(30), 3))], ids=["rows", "groups"])
def test_errors_of_single_rows_add_up_to_those_of_the_folds(design):
    # of a faint product a wide kernel may be chosen that the narrow one alone would not be left for
    rng = np.random.default_rng(15)
    for _ in range(15):
        X = rng.standard_normal((90, 3))
        y = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + rng.standard_normal(90)
        Y = ((y - y.mean()) / y.std())[:, None]
        able = machines(X, np.arange(3), 0)
        split = planned(design, [one.size for one in able], 1, 0, once=True)
        found = measured(able, Y, split, 1)
        rows = unseen(able, Y, split, found, design, classes=False)
        # sums of a hundred squares of size one, from products about means and from rows
        assert rows.errors.sum() == pytest.approx(float(found[0].errors.sum()), rel=1e-8)
        assert rows.base.sum() == pytest.approx(float(found[0].base.sum()), rel=1e-8)
