import numpy as np
import pytest
from scipy.signal import lfilter

from assay import CCA, GroupedMoments
from assay.data.folds import fold_numbers
from assay.evidence.design import Serial
from assay.linalg.canonical.held_out import USUAL, usual_ridges
from assay.questions.canonical import test as module
from assay.questions.canonical.test import canonical


def two_sides(rng, n, strength, p=4, q=3):
    factor = rng.standard_normal(n)
    X, Y = rng.standard_normal((n, p)), rng.standard_normal((n, q))
    X[:, 0] += strength * factor
    Y[:, 1] -= strength * factor
    return X, Y


def names(p, q):
    return tuple(f"x{j}" for j in range(p)), tuple(f"y{j}" for j in range(q))


@pytest.mark.calibrate
def test_sides_that_know_nothing_of_each_other_are_called_no_more_often_than_the_level(monkeypatch):
    # of 450 more than 34: a chance of .008 at a true rate of 5%, of .95 at 10%; 39 shuffles are enough to call
    # at 5%, and two of them that do as well to know that it will not be called
    monkeypatch.setattr(module, "_DRAWS", (39, 39))
    monkeypatch.setattr(module, "_ENOUGH", 2)
    rng = np.random.default_rng(0)
    found = [canonical(*two_sides(rng, 40, 0.0), names(4, 3)) for _ in range(450)]
    assert sum(one.evidence.verdict == "supported" for one in found) <= 34


def test_a_planted_pair_is_found_with_its_size_and_its_columns():
    rng = np.random.default_rng(1)
    found = canonical(*two_sides(rng, 600, 2.0), names(4, 3))
    assert found.evidence.verdict == "supported" and found.n_pairs == 1
    assert found.evidence.held_out == pytest.approx(0.8, abs=0.06)  # 4 / (4 + 1)
    assert found.evidence.held_out <= found.evidence.statistic + 0.02
    assert np.abs(found.loadings[0][:, 0]).argmax() == 0 and np.abs(found.loadings[1][:, 0]).argmax() == 1
    assert found.loadings[0][0, 0] > 0 > found.loadings[1][1, 0]
    assert found.stability > 0.95


def test_variates_have_unit_variance_and_later_pairs_are_uncorrelated_to_earlier_ones():
    rng = np.random.default_rng(2)
    F = rng.standard_normal((300, 2))
    X, Y = (np.hstack([2 * F + rng.standard_normal((300, 2)), rng.standard_normal((300, 2))]) for _ in range(2))
    found = canonical(X, Y, names(4, 4))
    assert found.n_pairs == 2
    for side in found.variates:
        covariance = side.T @ side / 300
        np.testing.assert_allclose(np.diag(covariance), 1.0, atol=1e-10)
        assert abs(covariance[0, 1]) < 1e-8
    assert (np.diff(found.p) >= 0).all()


def test_wide_sides_without_connection_are_not_called_although_they_correlate_at_hand():
    rng = np.random.default_rng(3)
    found = canonical(rng.standard_normal((60, 200)), rng.standard_normal((60, 150)), names(200, 150))
    assert found.correlations[0] > 0.5 and found.evidence.verdict != "supported"


def test_stricter_counts_pairs_anew_and_too_little_is_not_asked():
    rng = np.random.default_rng(4)
    X, Y = two_sides(rng, 200, 2.0)
    found = canonical(X, Y, names(4, 3))
    assert found.stricter(200.0, 0.05).n_pairs == 0 < found.n_pairs
    assert canonical(X[:29], Y[:29], names(4, 3)) is None
    assert canonical(np.ones_like(X), Y, names(4, 3)) is None


def test_the_model_finds_the_same_value_on_unseen_rows_for_the_same_ridge(monkeypatch):
    monkeypatch.setattr(module, "_REPEATS", 1)
    monkeypatch.setattr(module, "usual_ridges", lambda side: usual_ridges(side)[3:4])
    rng = np.random.default_rng(5)
    X, Y = two_sides(rng, 150, 1.0)
    found = canonical(X, Y, names(4, 3), seed=7)
    both = np.hstack([(side - side.mean(axis=0)) / side.std(axis=0) for side in (X, Y)])
    moments = GroupedMoments.of(both, fold_numbers(0, 150, 5, 7))
    model = CCA(1, ridge="held-out", scale=False).fit_moments(moments, 4)
    # the question takes one multiple of both sides' variances, the model any two: the diagonal of its table
    assert found.evidence.held_out == pytest.approx(np.diag(model.held_out_table_)[3], abs=1e-10)
    chosen = USUAL[3]
    one = CCA(1, ridge=tuple(chosen * np.var(both, axis=0, ddof=1)[[0, 4]]), scale=False).fit(both[:, :4], both[:, 4:])
    u, v = one.transform(both[:, :4], both[:, 4:])
    # ridges are rounded to three digits, which moves a correlation by far less than it does the ridge
    assert abs(np.corrcoef(u[:, 0], v[:, 0])[0, 1]) == pytest.approx(found.evidence.statistic, abs=1e-6)
    assert abs(np.corrcoef(u[:, 0], found.variates[0][:, 0])[0, 1]) == pytest.approx(1.0, abs=1e-5)


def test_a_side_that_varies_in_a_single_row_is_judged_without_the_fold_it_is_in():
    rng = np.random.default_rng(6)
    rare = np.zeros((60, 1))
    rare[17] = 1.0
    found = canonical(rare, rng.standard_normal((60, 2)), names(1, 2))
    assert np.isfinite(found.held_out).all() and found.evidence.verdict == "not distinguishable from chance"


def test_a_side_that_is_constant_outside_a_fold_has_no_pair_there():
    folds = fold_numbers(0, 60, 5, 0)
    rare = np.zeros((60, 1))
    rare[np.flatnonzero(folds == 3)[:2]] = 1.0
    other = np.random.default_rng(5).standard_normal((60, 2))
    found = canonical(rare, other, (("a",), ("b", "c")))
    assert 0.0 <= found.evidence.p <= 1.0 and np.isfinite(found.evidence.held_out)
    assert 0.0 <= found.stability < 1.0  # without that fold there is no pair to come back


def test_walks_do_not_go_together_and_a_shared_series_does():
    # of 20 at 5%: 5 or more with a chance of .3%; a rule that shuffles rows one by one supports nearly all
    rng, design = np.random.default_rng(7), Serial(150, np.arange(150), 30)
    found = [canonical(*np.split(rng.standard_normal((150, 4)).cumsum(axis=0), 2, axis=1), names(2, 2), design=design)
             for _ in range(20)]  # fmt: skip
    assert sum(one.evidence.verdict == "supported" for one in found) < 5
    X, Y = (lfilter([1.0], [1.0, -0.7], rng.standard_normal((150, 2)), axis=0) for _ in range(2))
    Y[:, 0] += 2.0 * X[:, 1]
    one = canonical(X, Y, names(2, 2), design=Serial(150, np.arange(150), 10))
    assert one.evidence.verdict == "supported" and "shifted in time" in one.evidence.method
    alone = canonical(X, Y, names(2, 2))
    assert np.ptp(one.evidence.interval) > np.ptp(alone.evidence.interval)  # fewer rows count


def test_another_seed_says_the_same():
    X, Y = two_sides(np.random.default_rng(8), 100, 0.9)
    found = [canonical(X, Y, names(4, 3), seed=seed) for seed in range(4)]
    held_out = np.array([one.evidence.held_out for one in found])
    assert np.ptp(held_out) < 0.25 * np.ptp(found[0].evidence.interval)
    assert len({one.evidence.verdict for one in found}) == 1
