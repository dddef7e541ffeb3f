"""ROC, calibration and confusion agree with scikit-learn, and their ranges hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    roc_auc_score,
    roc_curve,
)

import assay
from assay.errors import DataError, ParameterError
from assay.evidence.classification import calibration, confusion, roc
from assay.evidence.shares import share_interval

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 300)
SCORE = TRUTH + RNG.standard_normal(300)


@pytest.mark.parametrize("score", [SCORE, SCORE.round(), np.zeros(300), SCORE * 1e300, SCORE * 1e-300, SCORE + 1e8])
def test_the_curve_and_its_area_are_those_of_scikit_learn(score):
    found = roc(TRUTH, score)
    across, up, thresholds = roc_curve(TRUTH, score, drop_intermediate=False)
    np.testing.assert_allclose(found.false_positive, across, atol=1e-15)
    np.testing.assert_allclose(found.true_positive, up, atol=1e-15)
    np.testing.assert_array_equal(found.thresholds, thresholds)
    assert found.area == pytest.approx(roc_auc_score(TRUTH, score), abs=1e-14)
    assert (found.n_positive, found.n_negative, found.positive) == (TRUTH.sum(), 300 - TRUTH.sum(), 1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=2, max_size=30))
def test_the_area_counts_pairs_and_turns_around_with_the_classes(rows):
    truth, score = np.array([t for t, _ in rows]), np.array([float(s) for _, s in rows])
    if truth.all() or not truth.any():
        return
    gap = score[truth][:, None] - score[~truth]
    found = roc(truth, score)
    assert found.area == pytest.approx(np.mean((gap > 0) + 0.5 * (gap == 0)), abs=1e-14)
    assert roc(truth, -score).area == pytest.approx(1 - found.area, abs=1e-14)
    other = roc(truth, -score, positive=False)
    assert other.area == found.area and other.interval == pytest.approx(found.interval)
    assert found.interval[0] <= found.area <= found.interval[1]


@pytest.mark.parametrize("area", [0.5, 0.8, 0.95])
def test_the_range_of_the_area_and_the_band_hold_the_truth_as_often_as_promised(area):
    shift = np.sqrt(2) * stats.norm.ppf(area)  # normal scores of both classes have this area
    rng, held, inside = np.random.default_rng(1), 0, 0
    truth = np.repeat([0, 1], [25, 15])
    for _ in range(400):
        found = roc(truth, shift * truth + rng.standard_normal(40))
        held += found.interval[0] <= area <= found.interval[1]
        with np.errstate(all="ignore"):
            curve = stats.norm.sf(stats.norm.isf(found.band_at) - shift)
        inside += bool(np.all((found.lower <= curve) & (curve <= found.upper)))
    assert 0.92 <= held / 400 <= 0.99
    assert inside / 400 >= 0.95


def test_perfect_separation_has_a_range_that_is_not_a_point():
    low, high = roc([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6]).interval
    assert high == 1.0 and 0.3 < low < 0.9
    assert roc([0, 1] * 5000, np.tile([0.0, 1.0], 5000)).interval[0] > 0.999
    # two rows say next to nothing
    assert roc([0, 1], [0.0, 1.0]).interval[0] < 0.3


def test_the_classes_may_have_any_names_and_either_may_be_positive():
    names = np.where(TRUTH == 1, "ill", "healthy")
    found = roc(names, SCORE)
    assert found.positive == "ill" and found.area == roc(TRUTH, SCORE).area
    assert roc(names.astype(object), -SCORE, positive="healthy").area == pytest.approx(found.area, abs=1e-14)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("bins", [1, 5, 10, 50])
def test_bins_are_those_of_scikit_learn_and_no_row_is_lost(strategy, bins):
    probability = stats.norm.cdf(SCORE - 0.5).round(2)  # some lie on the edges
    found = calibration(TRUTH, probability, bins, strategy=strategy)
    observed, predicted = calibration_curve(TRUTH, probability, n_bins=bins, strategy=strategy)
    there = found.counts > 0
    np.testing.assert_allclose(found.observed[there], observed, atol=1e-14)
    np.testing.assert_allclose(found.predicted[there], predicted, atol=1e-14)
    assert found.counts.sum() == 300 and np.isnan(found.observed[~there]).all()
    assert found.brier == pytest.approx(brier_score_loss(TRUTH, probability))
    weights = found.counts[there] / 300
    assert found.error == pytest.approx(np.sum(weights * np.abs(observed - predicted)))
    assert np.all(found.lower[there] <= observed) and np.all(observed <= found.upper[there])


def test_ranges_of_shares_are_those_of_scipy():
    for hits, n in [(0, 1), (1, 1), (0, 20), (20, 20), (8, 10), (333, 1000)]:
        expected = stats.binomtest(hits, n).proportion_ci(0.9, method="wilson")
        assert share_interval(hits, n, 0.9) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert np.isnan(share_interval(0, 0)).all()


def test_probabilities_that_are_all_alike_make_one_bin():
    for strategy in ("uniform", "quantile"):
        found = calibration([0, 1, 1, 1], [0.75] * 4, strategy=strategy)
        assert found.error == 0.0 and found.counts.max() == 4


def test_outcomes_of_one_kind_are_calibrated_but_have_no_curve():
    assert calibration([1, 1], [0.5, 0.7]).brier == pytest.approx((0.25 + 0.09) / 2)
    assert calibration([0, 0], [0.5, 0.7]).brier == pytest.approx((0.25 + 0.49) / 2)
    assert calibration(["ill"], [0.5], positive="ill").observed[4] == 1.0
    with pytest.raises(DataError, match="all rows are 'ill'; say which class is positive"):
        calibration(["ill"], [0.5])
    with pytest.raises(DataError, match="needs rows of both classes; got 2 positive and 0 negative"):
        roc([1, 1], [0.0, 1.0])


def test_confusion_counts_as_scikit_learn_does_in_any_order_of_classes():
    truth, called = RNG.choice(["a", "b", "c"], 200), RNG.choice(["a", "b", "d"], 200)
    found = confusion(truth, called)
    np.testing.assert_array_equal(found.matrix, confusion_matrix(truth, called))
    assert found.classes.tolist() == ["a", "b", "c", "d"]
    order = ["d", "c", "x", "a", "b"]
    np.testing.assert_array_equal(
        confusion(truth, called, classes=order).matrix, confusion_matrix(truth, called, labels=order)
    )
    assert found.accuracy == np.mean(truth == called)
    both = np.isin(called, ["a", "b"]) & (truth != "c")
    assert confusion(truth[both], called[both]).balanced_accuracy == pytest.approx(
        balanced_accuracy_score(truth[both], called[both])
    )
    assert np.isnan(found.shares[3]).all() and found.shares[:3].sum(axis=1) == pytest.approx(1.0)
    low, high = found.interval()
    assert low < found.accuracy < high


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: roc([0, 1, 2], [1, 2, 3]), DataError, "truth has two classes; got 3. .* truth == 0"),
        (lambda: roc([0, 1], [1, np.nan]), DataError, "score is a finite number in each row; got nan in row 1, from 0"),
        (lambda: roc([0, 1], [[1, 2]]), DataError, r"score has one number per row; got an array of shape \(1, 2\)"),
        (lambda: roc([0, None], [1, 2]), DataError, "truth lacks the class of row 1"),
        (lambda: roc([0.0, np.nan], [1, 2]), DataError, "truth lacks the class of row 1"),
        (lambda: roc(np.array([0, "a"], dtype=object), [1, 2]), DataError, "classes of one type; got int and str"),
        (lambda: roc([], []), DataError, r"at least one row; got an array of shape \(0,\)"),
        (lambda: roc([0, 1], [1, 2], positive=7), ParameterError, r"positive is one of the classes \[0, 1\]; got 7"),
        (lambda: roc([0, 1], [1, 2], confidence=95), ParameterError, "confidence lies between 0 and 1.* got 95"),
        (lambda: calibration([0, 1], [0.5, 1.5]), DataError, "between 0 and 1; got 1.5 in row 1"),
        (lambda: calibration([0, 1], [0.5, 1], bins=0), ParameterError, "bins is a number of at least 1; got 0"),
        (lambda: calibration([0, 1], [0.5, 1], strategy="odd"), ParameterError, "'uniform' or 'quantile'; got 'odd'"),
        (lambda: confusion([0, 1], [0]), DataError, "one class per row; got 2 and 1"),
        (lambda: confusion([0, 1], [0, 1], classes=[0]), ParameterError, "every class that occurs; 1 is not there"),
        (lambda: confusion([0, 1], [0, 1], classes=[0, 0, 1]), ParameterError, "each class once"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_the_place(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_measures_are_found_at_the_front_door():
    assert (assay.roc, assay.calibration, assay.confusion) == (roc, calibration, confusion)
