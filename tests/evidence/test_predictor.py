import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from assay.evidence.predictor import prediction


def names(p):
    return tuple(f"x{j}" for j in range(p))


def test_targets_that_the_columns_know_nothing_of_are_called_no_more_often_than_the_level():
    # of 100 at 5%: 12 or more with a chance of 0.4%
    rng = np.random.default_rng(0)
    found = [prediction(rng.standard_normal((30, 4)), rng.standard_normal(30), names(4), "y") for _ in range(100)]
    assert sum(one.evidence.verdict == "supported" for one in found) < 12


def test_what_is_explained_on_unseen_rows_is_the_share_that_was_planted():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2000, 3)) * [1.0, 100.0, 1e-3]
    y = 5.0 + X[:, 0] + rng.standard_normal(2000)  # half of the variance
    found = prediction(X, y, names(3), "y")
    assert found.evidence.verdict == "supported"
    assert found.evidence.held_out == pytest.approx(0.5, abs=0.06)
    assert found.evidence.interval[0] < 0.5 < found.evidence.interval[1]
    assert np.abs(found.coefficients[:, 0]).argmax() == 0


def test_the_interval_holds_nine_of_ten_new_rows():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((4000, 2))
    y = X[:, 0] + rng.standard_t(4, 4000)
    found = prediction(X[:2000], y[:2000], names(2), "y")
    slope, intercept = np.polyfit(X[:2000, 0], y[:2000], 1)
    inside = np.abs(y[2000:] - intercept - slope * X[2000:, 0]) <= found.half_width
    # 2000 rows: a standard error of .7% of the share, and as much of the half width
    assert inside.mean() == pytest.approx(0.9, abs=0.035)


def test_classes_are_predicted_by_rows_they_had_no_part_in():
    iris = load_iris()
    found = prediction(iris.data, iris.target.astype(float), tuple(iris.feature_names), "kind", classes=("a", "b", "c"))
    assert found.evidence.verdict == "supported" and found.right >= 0.96
    assert found.largest == pytest.approx(1 / 3)
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)
    assert (found.probability.argmax(axis=1) == found.predicted).all()


def test_wide_rows_are_predicted_along_all_their_directions():
    rng = np.random.default_rng(3)
    factor = rng.standard_normal(60)
    X = factor[:, None] + rng.standard_normal((60, 300))
    found = prediction(X, factor + 0.3 * rng.standard_normal(60), names(300), "y")
    assert found.evidence.held_out > 0.8 and found.coefficients.shape == (300, 1)


def test_choosing_the_best_of_many_useless_columns_does_not_help():
    rng = np.random.default_rng(4)
    found = prediction(rng.standard_normal((40, 500)), rng.standard_normal(40), names(500), "y")
    assert found.evidence.held_out < 0.2
    assert found.evidence.verdict != "supported"


def test_unit_and_origin_of_the_target_do_not_matter():
    bunch = load_diabetes()
    one = prediction(bunch.data, bunch.target, tuple(bunch.feature_names), "y")
    other = prediction(bunch.data, 1e6 + 1e-3 * bunch.target, tuple(bunch.feature_names), "y")
    assert other.evidence.held_out == pytest.approx(one.evidence.held_out, abs=1e-6)
    assert other.half_width == pytest.approx(1e-3 * one.half_width, rel=1e-4)


def test_too_few_rows_and_what_does_not_vary_cannot_be_asked():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    assert prediction(X[:19], y[:19], names(2), "y") is None
    assert prediction(np.ones_like(X), y, names(2), "y") is None
    assert prediction(X, np.ones(30), names(2), "y") is None


def test_stricter_multiplies_q():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((100, 2))
    found = prediction(X, X[:, 0] + rng.standard_normal(100), names(2), "y")
    harder = found.stricter(100.0, 0.05)
    assert harder.evidence.q == pytest.approx(100 * found.evidence.q)
    assert harder.evidence.verdict != "supported" and found.evidence.verdict == "supported"


def test_a_fold_whose_target_is_the_mean_of_the_others_has_nothing_to_explain():
    # one rise and one fall among rows without change: the mean without a fold is 0, and so are most folds
    y = np.zeros(40)
    y[[3, 17]] = 1.0, -1.0
    found = prediction(np.random.default_rng(8).standard_normal((40, 2)), y, names(2), "y")
    assert np.isfinite(found.evidence.held_out) and np.isfinite(found.evidence.interval).all()
