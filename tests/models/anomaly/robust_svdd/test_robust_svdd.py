"""RobustSVDD: proven optimal, plain SVDD at the hinge, and, at the linear loss, deaf to how far an outlier is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.svm import OneClassSVM

import assay
from assay import RobustSVDD
from assay.errors import DataError, NotConverged, ParameterError

LOSSES = ("linear", "hinge")


def cloud(n=120, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999), nu=st.floats(0.03, 1.0), loss=st.sampled_from(LOSSES))
def test_predictions_scores_and_attributes_tell_the_same_story(seed, nu, loss):
    X = cloud(40, 2, seed)
    ball = RobustSVDD(nu=nu, loss=loss).fit(X)
    distance = np.linalg.norm(X - ball.center_, axis=1)
    assert ball.distance(X) == pytest.approx(distance)
    assert np.array_equal(np.flatnonzero(ball.predict(X) == -1), ball.outliers_)
    assert np.array_equal(ball.decision_function(X), ball.score_samples(X) - ball.offset_)
    assert distance[ball.support_] == pytest.approx(ball.radius_)
    assert ball.offset_ == pytest.approx(-ball.radius_)
    assert len(ball.outliers_) <= nu * 40 + 1e-9 and not set(ball.support_) & set(ball.outliers_)
    assert (ball.weights_[ball.outliers_] == pytest.approx(1 / (nu * 40))) and ball.converged_
    assert 0 <= ball.duality_gap_ <= ball.tol * ball.objective_ and ball.kkt_residual_ < 1e-6


def test_a_price_is_what_a_share_stands_for():
    X = cloud()
    by_share, by_price = RobustSVDD(nu=0.2).fit(X), RobustSVDD(1 / (0.2 * 120), nu=0.77).fit(X)
    assert np.array_equal(by_share.center_, by_price.center_) and by_share.radius_ == by_price.radius_
    assert by_share.C_ == by_price.C_ == 1 / (0.2 * 120)


@pytest.mark.parametrize("nu", [0.1, 0.35])
def test_on_a_sphere_the_hinge_is_scikit_learns_one_class_machine(nu):
    # where all rows have length 1, data description with the linear kernel and the one-class machine share their dual
    X = cloud(80, 3, 1) + np.array([3.0, 0.0, 0.0])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    peer = OneClassSVM(kernel="linear", nu=nu, tol=1e-10).fit(X)
    ball = RobustSVDD(nu=nu, loss="hinge").fit(X)
    assert ball.center_ == pytest.approx(peer.coef_[0] / (nu * 80), abs=1e-6)
    far = np.abs(peer.decision_function(X)) > 1e-6
    assert np.array_equal(ball.predict(X)[far], peer.predict(X)[far])


def test_the_hinge_is_plain_data_description_with_the_linear_kernel():
    X = np.vstack([cloud(150, 3, 20), [[30.0, 0.0, 0.0]]])
    plain, ball = assay.SVDD(nu=0.15, kernel=assay.Linear(), tol=1e-8).fit(X), RobustSVDD(nu=0.15, loss="hinge").fit(X)
    assert ball.radius_ == pytest.approx(plain.radius_, rel=1e-5)
    assert ball.objective_ == pytest.approx(plain.objective_, rel=1e-7)
    assert set(ball.outliers_) == set(plain.outliers_)


def test_a_row_ten_times_as_far_hardly_moves_the_linear_ball_and_drags_the_hinge_along():
    bulk = cloud(200, 4, 2)
    moved = {}
    for loss in LOSSES:
        centres = []
        for far in (1.0, 10.0, 100.0, 1000.0):
            X = np.vstack([bulk, [[20.0 * far, 0, 0, 0]]])
            centres.append(RobustSVDD(nu=0.1, loss=loss).fit(X).center_)
        moved[loss] = np.linalg.norm(np.array(centres[1:]) - centres[0], axis=1)
    assert moved["linear"].max() < 0.05  # a cloud of unit spread
    assert (moved["linear"] < 1e-2 * moved["hinge"]).all()
    assert moved["hinge"][2] > 50 * moved["hinge"][0] > 50.0


def test_outliers_among_customers_are_found_though_they_pull_together():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.standard_normal((190, 5)), rng.standard_normal((10, 5)) + 40.0])  # 5% on one side
    found = RobustSVDD(nu=0.2).fit(X)
    assert set(range(190, 200)) <= set(found.outliers_)
    assert np.linalg.norm(found.center_) < 1.0
    worst = np.argsort(found.score_samples(X))[:10]
    assert set(worst) == set(range(190, 200))


def test_what_the_columns_add_is_the_squared_distance():
    X = cloud()
    ball = RobustSVDD().fit(X)
    added = ball.contributions(X)
    assert added.shape == X.shape and (added >= 0.0).all()
    assert added.sum(axis=1) == pytest.approx(ball.distance(X) ** 2)
    alone = ball.center_ + np.array([0.0, 7.0, 0.0])
    assert ball.contributions(alone[None]) == pytest.approx(np.array([[0.0, 49.0, 0.0]]))


def test_rows_in_another_order_repeated_or_sparse_give_the_same_ball():
    X = cloud(60, 3, 4)
    ball = RobustSVDD(nu=0.3).fit(X)
    for other in (X[::-1], np.repeat(X, 3, axis=0), csr_array(X)):
        again = RobustSVDD(nu=0.3).fit(other)
        assert again.radius_ == pytest.approx(ball.radius_) and again.center_ == pytest.approx(ball.center_, abs=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]], np.full((20, 2), [1.0, 2.0])])
def test_one_row_however_often_is_its_own_ball(X, loss):
    ball = RobustSVDD(loss=loss).fit(X)
    assert ball.center_.tolist() == [1.0, 2.0] and ball.radius_ == 0.0 and not len(ball.outliers_)
    assert ball.predict([[1.0, 2.0], [1.0, 2.1]]).tolist() == [1, -1]


def test_two_rows_are_the_ends_of_a_diameter():
    ball = RobustSVDD().fit([[0.0, 0.0], [6.0, 8.0]])
    assert ball.radius_ == pytest.approx(5.0) and ball.support_.tolist() == [0, 1]
    assert ball.center_ == pytest.approx([3.0, 4.0])


def test_with_every_row_free_to_leave_the_hinge_centre_is_the_mean():
    X = cloud(50, 2, 5)
    ball = RobustSVDD(nu=1.0, loss="hinge").fit(X)
    assert ball.route_ == "mean" and ball.center_ == pytest.approx(X.mean(axis=0))
    assert ball.radius_ == pytest.approx(np.linalg.norm(X - X.mean(axis=0), axis=1).min())


@pytest.mark.parametrize("loss", LOSSES)
def test_wide_constant_shifted_and_extreme_columns_are_fitted(loss):
    wide = RobustSVDD(loss=loss, nu=0.3).fit(cloud(20, 300, 6))
    assert wide.converged_ and wide.center_.shape == (300,)
    X = np.column_stack([cloud(50, 2, 7), np.full(50, 4.0)])
    plain = RobustSVDD(loss=loss).fit(X)
    assert plain.center_[2] == pytest.approx(4.0)
    for shift, unit in ((1e8, 1.0), (0.0, 1e-300), (0.0, 1e300)):
        other = RobustSVDD(loss=loss).fit(X * unit + shift)
        assert other.radius_ / unit == pytest.approx(plain.radius_, rel=1e-6)
        assert np.array_equal(other.outliers_, plain.outliers_)
        assert np.array_equal(other.predict(X * unit + shift), plain.predict(X))


def test_a_frame_of_named_columns_is_checked_when_scoring():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(cloud(30, 2, 8), columns=["milk", "grocery"])
    ball = RobustSVDD().fit(frame)
    assert ball.feature_names_in_.tolist() == ["milk", "grocery"]
    with pytest.raises(ValueError, match="feature names should match"):
        ball.predict(frame[["grocery", "milk"]])


def test_a_source_is_encoded_and_scored_the_same_way(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("milk,grocery\n" + "\n".join(f"{a},{b}" for a, b in cloud(30, 2, 9)))
    ball = RobustSVDD(nu=0.2).fit(assay.read(path))
    assert np.array_equal(np.flatnonzero(ball.predict(assay.read(path)) == -1), ball.outliers_)


def test_a_fit_cut_short_says_so():
    with pytest.warns(NotConverged, match=r"after 1 steps the duality gap is .* raise max_iter, or tol"):
        short = RobustSVDD(max_iter=1).fit(cloud())
    assert not short.converged_


def test_what_cannot_be_fitted_is_refused_with_the_rule():
    X = cloud(10, 2)
    for options, text in (
        ({"nu": 0.0}, r"nu is a share of the rows, above 0 and at most 1; got 0\.0"),
        ({"nu": 1.5}, r"got 1\.5"),
        ({"C": -1.0}, r"C is a price above zero; got -1\.0"),
        ({"loss": "square"}, "loss is one of linear, hinge; got 'square'"),
        ({"tol": -1e-3}, r"tol is a share of the objective, not negative; got -0\.001"),
        ({"max_iter": 0}, "max_iter is at least 1; got 0"),
    ):
        with pytest.raises(ParameterError, match=text):
            RobustSVDD(**options).fit(X)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match=r"row 3, column 1 \(counted from 0\) is NaN"):
        RobustSVDD().fit(X)
