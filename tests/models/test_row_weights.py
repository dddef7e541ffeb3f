"""Weights of rows in vector machines and discriminants: repetition, removal, scikit-learn's machines, AdaBoost."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import AdaBoostClassifier
from sklearn.svm import SVC
from sklearn.svm import SVR as PeerSVR

import assay
from assay import SVDD, SVM, SVR, Fisher, Gaussian, GaussianRule, Gram
from assay.data.source import ArrowSource

CLASSIFIERS = {
    "svm": SVM(),
    "linear": SVM(kernel="linear", tol=1e-6),
    "polynomial": SVM(kernel="polynomial", class_weight="balanced"),
    "passes": SVM(kernel="linear", solver="primal", tol=1e-6),
    "hard": SVM(C=None, kernel=Gaussian(0.3)),
    "fisher": Fisher(),
    "shrunk": Fisher(shrinkage="auto"),
    "unequal": GaussianRule(),
    "equal": GaussianRule("equal", shrinkage="auto"),
}
OTHERS = {
    "svr": SVR(),
    "svr linear": SVR(kernel="linear", tol=1e-7),
    "svr passes": SVR(kernel="linear", solver="primal", tol=1e-5),
    "svdd": SVDD(),
    "svdd linear": SVDD(kernel="linear"),
    "svdd primal": SVDD(kernel="linear", solver="primal", tol=1e-9),
}


def table(seed=0, n=48, d=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, d)) + np.array([[0.0], [1.0], [2.0]])[y]
    often = rng.integers(0, 4, n)
    often[:3] = 1
    return X, y, often


def answers(model, X):
    return model.predict(X) if isinstance(model, SVR) else model.decision_function(X)


@pytest.mark.parametrize("name", [*CLASSIFIERS, *OTHERS])
def test_a_weight_is_so_many_rows_and_weight_zero_is_none(name):
    model = CLASSIFIERS.get(name) or OTHERS[name]
    X, y, often = table()
    y = y if name in CLASSIFIERS else X[:, 0] * np.cos(X[:, 1])
    many = answers(model.fit(np.repeat(X, often, axis=0), np.repeat(y, often)), X)
    one = answers(model.fit(X, y, sample_weight=often), X)
    # passes and primal end at a gap, where errors are roots of it or sums of roundings; all others at rounding
    loose = "passes" in name or "primal" in name or "linear" in name
    scale = np.abs(many).max()
    np.testing.assert_allclose(one, many, atol=(2e-3 if "passes" in name else 2e-4 if loose else 1e-7) * scale)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_weighted_machines_are_scikit_learns(scale):
    X, y = load_iris(return_X_y=True)
    w = np.random.default_rng(1).gamma(1.0, 1.0, len(y)) * scale
    w[::7] = 0.0
    ours = SVM(C=2.0, kernel=Gaussian(1.0)).fit(X, y, sample_weight=w)
    theirs = SVC(C=2.0, gamma=0.5, tol=1e-9, decision_function_shape="ovo").fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.pairwise_decisions(X), theirs.decision_function(X), atol=1e-6)
    given = np.flatnonzero(w)  # scikit-learn numbers the rows that have a weight
    np.testing.assert_array_equal(ours.support_, given[theirs.support_])
    t = X[:, 3]
    line = SVR(C=2.0, epsilon=0.05, kernel=Gaussian(1.0)).fit(X[:, :3], t, sample_weight=w)
    peer = PeerSVR(C=2.0, epsilon=0.05, gamma=0.5, tol=1e-9).fit(X[:, :3], t, sample_weight=w)
    np.testing.assert_allclose(line.predict(X[:, :3]), peer.predict(X[:, :3]), atol=1e-6)


def test_a_weighted_ball_leaves_at_most_its_share_of_the_weight_outside():
    X, _, _ = table(3, 200)
    w = np.random.default_rng(2).gamma(0.5, 1.0, 200)
    w[:10] = 0.0
    ball = SVDD(nu=0.2).fit(X, sample_weight=w)
    assert w[ball.outliers_].sum() <= 0.2 * w.sum() <= w[ball.support_].sum() + 1e-9
    assert ball.kkt_residual_ <= 1e-9 and (w[ball.support_] > 0).all()


@pytest.mark.parametrize("model", [SVM(), SVR(), SVDD()])
def test_kernel_matrices_take_weights_too(model):
    X, y, often = table(5)
    gram = Gram.of(X, Gaussian(1.0))
    target = [] if isinstance(model, SVDD) else [y]
    by_matrix = model.fit_gram(gram, *target, sample_weight=often)
    direct = type(model)(kernel=Gaussian(1.0)).fit(X, *target, sample_weight=often)
    values = type(model)(kernel="precomputed").fit(gram.values, *target, sample_weight=often)
    np.testing.assert_array_equal(by_matrix.support_, direct.support_)
    np.testing.assert_array_equal(values.support_, direct.support_)
    np.testing.assert_allclose(answers(values, gram.values), answers(direct, X), atol=1e-8)


@pytest.mark.parametrize("name", ["passes", "linear", "svm", "fisher", "equal"])
def test_rows_of_a_source_take_weights_in_their_order(name):
    X, y, often = table(6, 120)
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    source, new = ArrowSource(pa.table({**columns, "kind": y.astype(str)})), ArrowSource(pa.table(columns))
    of_source = CLASSIFIERS[name].fit(source, "kind", sample_weight=often).decision_function(new)
    of_rows = CLASSIFIERS[name].fit(X, y.astype(str), sample_weight=often).decision_function(X)
    np.testing.assert_allclose(of_source, of_rows, rtol=1e-6, atol=1e-9)


def test_probabilities_heed_weights():
    X, y = make_moons(150, noise=0.3, random_state=0)
    w = np.where(y == 1, 5.0, 1.0)
    plain = SVM(probability=True).fit(X, y).predict_proba(X)[:, 1].mean()
    heavy = SVM(probability=True).fit(X, y, sample_weight=w).predict_proba(X)[:, 1].mean()
    assert heavy > plain + 0.1


def test_logarithms_of_probabilities_are_those_of_predict_proba():
    X, y = load_iris(return_X_y=True)
    machine = SVM(probability=True).fit(X, y)
    np.testing.assert_allclose(np.exp(machine.predict_log_proba(X)), machine.predict_proba(X), atol=1e-12)
    assert not hasattr(SVM(), "predict_log_proba")


def test_adaboost_over_the_machine_is_adaboost_over_scikit_learns():
    X, y = make_moons(200, noise=0.2, random_state=0)
    ours, theirs = (
        AdaBoostClassifier(estimator=weak, n_estimators=8, random_state=0).fit(X, y)
        for weak in (SVM(C=50.0, kernel=Gaussian(1.0)), SVC(C=50.0, gamma=0.5, tol=1e-9))
    )
    assert len(ours.estimators_) == 8
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_adaboost_over_fisher_weighs_the_rows_it_got_wrong():
    X, y = make_moons(200, noise=0.2, random_state=0)
    boosted = AdaBoostClassifier(estimator=Fisher(), n_estimators=2, random_state=0).fit(X, y)
    wrong = Fisher().fit(X, y).predict(X) != y
    w = np.where(wrong, (1.0 - wrong.mean()) / wrong.mean(), 1.0)  # odds, as SAMME has it for two classes
    second = Fisher().fit(X, y, sample_weight=w)
    a, b = second.coef_[0], boosted.estimators_[1].coef_[0]
    assert a @ b / np.linalg.norm(a) / np.linalg.norm(b) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", ["fisher", "shrunk", "unequal", "equal"])
def test_weights_that_are_shares_count_as_if_their_mean_was_one(name):
    X, y, often = table(2, 90)
    model, w = CLASSIFIERS[name], 1.0 + often
    whole = model.fit(X, y, sample_weight=w / w.mean()).decision_function(X)
    np.testing.assert_allclose(model.fit(X, y, sample_weight=w / w.sum()).decision_function(X), whole, rtol=1e-9)
    assert model.weight_ == pytest.approx(90.0)


@pytest.mark.parametrize("model", [*CLASSIFIERS.values(), *OTHERS.values()])
def test_weights_that_cannot_be_are_refused(model):
    X, y, _ = table()
    with pytest.raises(assay.errors.ParameterError, match="one weight for each of the 48 rows"):
        model.fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(assay.errors.ParameterError, match="the weight of row 4 is -1"):
        model.fit(X, y, sample_weight=np.where(np.arange(48) == 4, -1.0, 1.0))
    with pytest.raises(ValueError, match="zero"):
        model.fit(X, y, sample_weight=np.zeros(48))
