import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge as SkRidge

import assay
from assay import Ridge
from assay.data.folds import fold_numbers
from assay.evidence.design import Grouped, Independent, Serial
from assay.questions.prediction import plan
from assay.questions.prediction import test as module
from assay.questions.prediction.test import prediction
from assay.report.text import render as render_text


def names(p):
    return tuple(f"x{j}" for j in range(p))


@pytest.fixture
def bare(monkeypatch):
    """The test alone, without what is said beside it, on fewer splits and draws: a true one whatever these are."""
    monkeypatch.setattr(plan, "_DRAWS", (39, 39))  # enough to call at 5%
    monkeypatch.setattr(plan, "_MOST_REPEATS", 1)
    for beside in ("boosted", "matters", "growth"):
        monkeypatch.setattr(module, beside, lambda *_: None)


@pytest.mark.calibrate
def test_targets_that_the_columns_know_nothing_of_are_called_no_more_often_than_the_level(bare, monkeypatch):
    # of 450 more than 34: a chance of .008 at a true rate of 5%, of .95 at 10%
    monkeypatch.setattr(module, "jackknifed", lambda *_: 0.0)  # of the interval, by which nothing is called
    rng = np.random.default_rng(0)
    found = [prediction(rng.standard_normal((30, 4)), rng.standard_normal(30), names(4), "y") for _ in range(450)]
    assert sum(one.evidence.verdict == "supported" for one in found) <= 34


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
    harder = found.stricter(1000.0, 0.05)
    assert harder.evidence.q == pytest.approx(min(1000 * found.evidence.q, 1.0))
    assert harder.evidence.verdict != "supported" and found.evidence.verdict == "supported"


def test_classes_are_those_of_the_gaussian_rule_among_fitted_values():
    iris = load_iris()
    y = iris.target.astype(float)
    found = prediction(
        iris.data, y, tuple(iris.feature_names), "kind", classes=("a", "b", "c"), seed=3, kinds=("line",)
    )
    Z = (iris.data - iris.data.mean(axis=0)) / iris.data.std(axis=0)
    Y = np.eye(3)[iris.target]
    scale = np.sqrt(((Y - Y.mean(axis=0)) ** 2).mean())
    probability = np.zeros((150, 3))
    for chosen, repeat in zip(found.chosen, range(5), strict=True):
        folds = fold_numbers(0, 150, 10, 5 * 3 + repeat)
        for f in range(10):
            out, alpha = folds == f, found.strengths[chosen[f]]
            ridge = SkRidge(alpha).fit(Z[~out], Y[~out] / scale)
            # rows learned from, each without itself; scikit-learn's rule on two of the three columns, from which the
            # third follows
            centred = Z[~out] - Z[~out].mean(axis=0)
            inverse = np.linalg.inv(centred.T @ centred + alpha * np.eye(4))
            leverage = 1.0 / len(centred) + np.einsum("ij,jk,ik->i", centred, inverse, centred)
            left = Y[~out] / scale - (Y[~out] / scale - ridge.predict(Z[~out])) / (1.0 - leverage)[:, None]
            scores = [left[:, :2], ridge.predict(Z[out])[:, :2]]
            rule = LinearDiscriminantAnalysis(solver="lsqr").fit(scores[0], iris.target[~out])
            probability[out] += rule.predict_proba(scores[1]) / 5
    # a hair of the identity is in the model's covariance: 1e-9 of its mean
    np.testing.assert_allclose(found.probability, probability, atol=1e-6)


@pytest.mark.parametrize("columns", [1, 3])
def test_classes_that_a_column_tells_exactly_are_predicted_exactly(columns):
    rng = np.random.default_rng(7)
    y = rng.integers(2, size=60).astype(float)
    X = np.column_stack([y, rng.standard_normal((60, 2))])[:, :columns]
    found = prediction(X, y, names(columns), "y", classes=("no", "yes"))
    assert found.right == 1.0 and found.evidence.verdict == "supported"


def test_a_class_of_one_row_is_not_predicted_by_the_fold_that_never_saw_it():
    rng = np.random.default_rng(8)
    y = np.zeros(40)
    y[5] = 1.0
    found = prediction(rng.standard_normal((40, 2)), y, names(2), "y", classes=("no", "yes"))
    assert found.predicted[5] == 0.0
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)


def test_more_classes_than_the_columns_have_directions_are_told_apart_as_far_as_these_go():
    rng = np.random.default_rng(9)
    y = np.arange(120) % 4
    found = prediction(
        (y + 0.1 * rng.standard_normal(120))[:, None], y.astype(float), names(1), "y", classes=tuple("abcd")
    )
    assert found.right == 1.0


def test_penalties_are_the_usual_ones_of_the_model():
    bunch = load_diabetes()
    found = prediction(bunch.data, bunch.target, tuple(bunch.feature_names), "y")
    Z = (bunch.data - bunch.data.mean(axis=0)) / bunch.data.std(axis=0)
    usual = Ridge("held-out").fit(Z, bunch.target).alphas_
    np.testing.assert_allclose(found.strengths[[0, -1]], usual[[0, -1]], rtol=1e-10)


def test_more_classes_than_a_third_of_the_rows_are_not_asked_and_that_is_said():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.standard_normal(60), "y": rng.standard_normal(60)})
    frame["many"] = [f"L{i % 25}" for i in range(60)]
    study = assay.study(frame.assign(many=frame["many"].astype("category")), target="many")
    assert "prediction" not in study.answers
    (why,) = [one.why for one in study.ledger.not_asked if "predicted" in one.question]
    assert "classes of many need" in why and "there are 60" in why
    assert "Not asked: Can a column be predicted from the others?" in " ".join(render_text(study).split())


def test_a_fold_whose_target_is_the_mean_of_the_others_has_nothing_to_explain():
    # one rise and one fall among rows without change: the mean without a fold is 0, and so are most folds
    y = np.zeros(40)
    y[[3, 17]] = 1.0, -1.0
    found = prediction(np.random.default_rng(8).standard_normal((40, 2)), y, names(2), "y")
    assert np.isfinite(found.evidence.held_out) and np.isfinite(found.evidence.interval).all()


def test_a_walk_is_not_predicted_by_other_walks_though_they_look_alike(bare, monkeypatch):
    # of 40 at 5%: 7 or more with a chance of 1.4% at most; a rule that supports a fifth of them, as one that permutes
    # rows or shifts with a seam does, gets there nine times in ten
    monkeypatch.setattr(module, "jackknifed", lambda *_: 0.0)
    rng, supported = np.random.default_rng(10), 0
    for _ in range(40):
        X = rng.standard_normal((150, 4)).cumsum(axis=0)
        found = prediction(X[:, 1:], X[:, 0], names(3), "y", design=Serial(150, np.arange(150), 30))
        supported += found.evidence.verdict == "supported"
    assert supported < 7


def test_a_series_that_leads_another_is_found_and_judged_by_what_lies_before():
    rng = np.random.default_rng(11)
    noise, X = (lfilter([1.0], [1.0, -0.7], rng.standard_normal((300, d)), axis=0) for d in (1, 3))
    y = X[:, 0] + 1.5 * noise[:, 0]  # a third of the variance
    found = prediction(X, y, names(3), "y", design=Serial(300, np.arange(300), 10))
    assert found.evidence.verdict == "supported" and "shifted in time" in found.evidence.method
    assert len(found.truth) == 240  # the first two of ten folds only teach
    np.testing.assert_array_equal(found.truth, y[60:])
    assert found.evidence.interval[0] < 0.3 < found.evidence.interval[1]
    # views number the judged rows as all others do, from 1, so that a page selects the same rows everywhere
    sources = [view.figure.select_one({"name": "rows"}) for view in found.views()[:3]]
    for source in sources:
        np.testing.assert_array_equal(source.data["row"], np.arange(61, 301))
    # rows are judged by their place in time, not by where they stand in the table
    order = rng.permutation(300)
    again = prediction(X[order], y[order], names(3), "y", design=Serial(300, order, 10))
    assert again.evidence.held_out == pytest.approx(found.evidence.held_out, abs=1e-9)


def subjects(rng, apart):
    label = np.repeat(np.arange(30), 10)
    arm = rng.permutation(np.arange(30) % 2)
    own = rng.standard_normal((30, 4))
    own[:, :3] += apart * arm[:, None]
    X = np.sqrt(0.7) * own[label] + np.sqrt(0.3) * rng.standard_normal((300, 4))
    return X, arm[label].astype(float), Grouped(300, label)


def test_what_holds_between_subjects_is_judged_on_subjects_that_were_not_used():
    rng = np.random.default_rng(12)
    X, y, design = subjects(rng, 0.0)
    alone = prediction(X, y, names(4), "arm", classes=("a", "b"))
    told = prediction(X, y, names(4), "arm", classes=("a", "b"), design=design)
    assert alone.evidence.verdict == "supported"  # ten rows of one subject tell each other's arm
    assert told.evidence.verdict == "not distinguishable from chance" and told.right < alone.right
    X, y, design = subjects(rng, 1.5)
    found = prediction(X, y, names(4), "arm", classes=("a", "b"), design=design)
    assert found.evidence.verdict == "supported" and "exchanged groups" in found.evidence.method
    low, high = found.right_interval
    # thirty subjects, not three hundred rows: Wilson's interval of 300 would be less than .1 wide
    assert low < found.right < high and high - low > 0.12


def test_rows_that_cannot_be_told_apart_in_three_parts_are_not_asked():
    X, y, _ = subjects(np.random.default_rng(13), 0.0)
    assert prediction(X, y, names(4), "arm", classes=("a", "b"), design=Grouped(300, np.arange(300) % 2)) is None


def test_what_limits_the_rows_limits_the_verdict():
    rng = np.random.default_rng(14)
    X = rng.standard_normal((100, 2))
    found = prediction(X, X[:, 0], names(2), "y", design=Independent(100, limit="too few rows count"))
    assert found.evidence.verdict == "suggestive" and found.evidence.limit == "too few rows count"


def test_another_seed_and_another_order_of_the_rows_say_the_same():
    # what splits change is small beside what rows do: a tenth of the interval, and p to within its Monte Carlo error
    bunch = load_diabetes()
    rng = np.random.default_rng(15)
    rows = rng.permutation(len(bunch.target))[:80]
    X, y, found = bunch.data[rows][:, :4], bunch.target[rows], []
    for seed in range(6):
        order = rng.permutation(80)
        found.append(prediction(X[order], y[order], names(4), "y", seed=seed))
    shares = np.array([one.evidence.held_out for one in found])
    low, high = found[0].evidence.interval
    assert np.ptp(shares) < 0.25 * (high - low)
    assert len({one.evidence.verdict for one in found}) == 1


def test_the_interval_of_the_share_holds_what_the_rule_reaches_on_new_rows(bare):
    # of 60 tables at 95%: 51 or fewer are covered with a chance of .3%; an interval that covers 80% gets there in 87%
    rng, covered, widths = np.random.default_rng(16), 0, []
    slope = np.array([0.6, 0.3, 0.0, 0.0])
    new = rng.standard_normal((4000, 4))
    for _ in range(60):
        X = rng.standard_normal((80, 4))
        found = prediction(X, X @ slope + rng.standard_normal(80), names(4), "y")
        off = ((found.learned.predict(new)[:, 0] - new @ slope) ** 2).mean()
        low, high = found.evidence.interval
        covered += low <= 1.0 - (1.0 + off) / (1.0 + slope @ slope) <= high
        widths.append(high - low)
    assert covered > 51
    # that of R^2 at hand would be 4 * 1.96 r (1 - r^2) / sqrt(n) = .34 wide, were there nothing to choose
    assert np.mean(widths) < 0.5


def test_of_classes_of_equal_size_the_one_found_least_often_is_named():
    rng = np.random.default_rng(3)
    codes = np.arange(150) % 3
    X = rng.standard_normal((150, 2)) + np.array([[0.0, 9.0], [0.0, 0.0], [1.5, 0.0]])[codes]
    found = prediction(X, codes.astype(float), names(2), "kind", classes=("a", "b", "c"), kinds=("line",))
    told, hits = found.findings()[0].sentence, found.confusion.matrix.diagonal()
    worst = "abc"[int(hits.argmin())]
    assert "each class is 33.3%" in told and f"{hits.min()} of 50 of the class found least often, {worst}" in told


def test_right_for_most_rows_is_no_success_where_one_class_has_most():
    rng = np.random.default_rng(11)
    left = rng.random(1500) < 0.05
    X = rng.standard_normal((1500, 3)) + 0.6 * left[:, None] * [1.0, 0.0, 0.0]
    found = prediction(X, left.astype(float), names(3), "left", classes=("stayed", "went"))
    told = found.findings()[0].sentence
    missed = int(found.confusion.matrix[1].sum() - found.confusion.matrix[1, 1])
    assert found.evidence.verdict == "supported" and missed > 0.9 * left.sum()
    would = "would" if found.largest >= found.right else "may"
    assert f"calling that one always {would} do as well" in told and "of the rarest class, went, are found" in told
    assert "variance" not in told and f"{found.roc.area:.2f}".lstrip("0") in told
    assert found.numbers()["balanced_accuracy"] == found.confusion.balanced_accuracy < 0.6
