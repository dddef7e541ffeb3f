"""SVDD: certificates, LIBSVM's one-class machine and the enclosing ball as oracles, invariances, edges, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_moons
from sklearn.svm import OneClassSVM

import assay
from assay import SVDD, Gaussian, Gram, Linear, Polynomial, RobustSVDD
from assay.errors import DataError, NotConverged, ParameterError
from assay.optimize.enclosing_ball import enclosing_ball
from assay.optimize.qp import qp_kkt


def table(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.geomspace(2.0, 0.5, d)


def overlap(X, Y):
    return np.minimum(np.abs(X)[:, None], np.abs(Y)).sum(axis=2)


def full(model, n):
    a = np.zeros(n)
    a[model.support_] = model.dual_coef_
    return a


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 50),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.floats(0.02, 1.0),
    st.sampled_from([Gaussian(0.7), Gaussian(), Linear(), Polynomial(3), overlap]),
)
def test_every_solution_carries_a_proof(n, d, seed, nu, kernel):
    X = table(n, d, seed)
    found = SVDD(nu=nu, kernel=kernel, tol=1e-8).fit(X)
    K = Gram.of(X, kernel).values
    a = full(found, n)
    unit = found.unit_
    kkt = qp_kkt(2 * K, -np.diag(K), a, A_eq=np.ones((1, n)), b_eq=[1.0], lower=0.0, upper=found.C_, active=1e-12)
    assert kkt.worst <= 2e-8 * unit + 1e-12 * np.abs(K).max()
    assert found.kkt_residual_ <= 1.1e-8 + 1e-12 * np.abs(K).max() / unit
    squares = np.maximum(np.diag(K) - 2 * K @ a + a @ K @ a, 0.0)
    primal = found.radius_**2 + found.C_ * np.maximum(squares - found.radius_**2, 0.0).sum()
    rounding = 1e-10 * np.abs(K).max()
    assert found.objective_ == pytest.approx(primal, abs=rounding)
    assert found.dual_objective_ == pytest.approx(a @ np.diag(K) - a @ K @ a, abs=rounding)
    assert 0 <= found.duality_gap_ <= 3e-8 * unit / nu + rounding
    np.testing.assert_allclose(found.distance(X) ** 2, squares, atol=rounding)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 80), st.integers(0, 10**6), st.floats(0.02, 1.0), st.booleans())
def test_nu_is_the_largest_share_outside_and_the_least_share_of_support(n, seed, nu, linear):
    X = table(n, 2, seed)
    found = SVDD(nu=nu, kernel="linear" if linear else None).fit(X)
    assert len(found.outliers_) <= nu * n + 1e-9
    assert len(found.support_) >= nu * n - 1e-9
    np.testing.assert_array_equal(np.flatnonzero(found.predict(X) < 0), found.outliers_)
    assert found.dual_coef_.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.dual_coef_.min() > 0 and found.dual_coef_.max() <= found.C_


@pytest.mark.parametrize("nu", [0.05, 0.3])
def test_with_the_gaussian_kernel_it_is_scikit_learns_one_class_machine(nu):
    X, _ = make_moons(400, noise=0.1, random_state=0)
    new = np.random.default_rng(1).uniform(-2, 3, (200, 2))
    peer = OneClassSVM(nu=nu, gamma=2.0, tol=1e-9).fit(X)
    found = SVDD(nu=nu, kernel=Gaussian(0.5), tol=1e-10).fit(X)
    np.testing.assert_array_equal(found.support_, peer.support_)
    np.testing.assert_allclose(found.dual_coef_, peer.dual_coef_[0] / (nu * 400), atol=1e-6)  # its kernel is float32
    np.testing.assert_allclose(found.decision_function(new), 2 * peer.decision_function(new) / (nu * 400), atol=1e-7)


def test_many_rows_in_float32_are_the_one_class_machine_too():
    X = np.random.default_rng(0).standard_normal((3000, 5))
    peer = OneClassSVM(nu=0.1, gamma=0.1, tol=1e-8).fit(X)
    found = SVDD(nu=0.1, kernel=Gaussian(np.sqrt(5.0))).fit(X)
    assert found.route_ == "dual float32" and found.kkt_residual_ <= 1e-6
    a = peer.dual_coef_[0] / peer.dual_coef_.sum()
    K = np.exp(-0.1 * cdist(X[peer.support_], X[peer.support_], "sqeuclidean"))
    assert found.norm_ == pytest.approx(a @ K @ a, rel=1e-7)
    assert found.dual_objective_ == pytest.approx(1 - a @ K @ a, rel=1e-7)


@pytest.mark.parametrize("C", [1.0, np.float32(7.0), np.inf])
@pytest.mark.parametrize("d", [1, 2, 8])
def test_from_c_of_1_on_it_is_the_smallest_enclosing_ball(C, d):
    X = table(80, d)
    found, ball = SVDD(C, kernel="linear", tol=1e-10).fit(X), enclosing_ball(X)
    assert found.radius_ == pytest.approx(ball.radius, rel=1e-8)
    np.testing.assert_allclose(found.center_, ball.center, atol=1e-6)
    assert found.outliers_.size == 0


def test_the_primal_by_descent_and_the_dual_agree():
    X = table(200, 4)
    dual = SVDD(nu=0.15, kernel="linear", tol=1e-9).fit(X)
    primal = SVDD(nu=0.15, kernel="linear", solver="primal").fit(X)
    assert primal.route_ == "primal" and primal.converged_
    assert primal.duality_gap_ <= 1e-6 * primal.unit_
    assert primal.objective_ == pytest.approx(dual.objective_, rel=1e-6)
    assert primal.radius_ == pytest.approx(dual.radius_, rel=1e-3)
    np.testing.assert_allclose(primal.center_, dual.center_, atol=2e-3)
    np.testing.assert_array_equal(primal.predict(X), dual.predict(X))


def test_with_the_linear_kernel_it_is_the_hinge_form_of_the_robust_ball():
    X = table(150, 3)
    one, other = SVDD(nu=0.2, kernel="linear", tol=1e-9).fit(X), RobustSVDD(nu=0.2, loss="hinge").fit(X)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_allclose(one.center_, other.center_, atol=1e-5)


def test_polynomial_of_degree_1_without_offset_is_linear():
    X = table()
    one = SVDD(kernel=Linear(), tol=1e-9).fit(X)
    other = SVDD(kernel=Polynomial(1, coef0=0.0), tol=1e-9).fit(X)
    np.testing.assert_allclose(one.distance(X), other.distance(X), atol=1e-6)


def test_rows_in_another_order_give_the_same_ball():
    X = table(90)
    order = np.random.default_rng(1).permutation(90)
    one, other = SVDD(tol=1e-10).fit(X), SVDD(tol=1e-10, kernel=SVDD().fit(X).kernel_).fit(X[order])
    np.testing.assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()])
def test_a_shift_of_1e8_changes_nothing_that_its_rounding_does_not(kernel):
    X = np.round(table(80), 3)
    one, other = SVDD(kernel=kernel).fit(X), SVDD(kernel=kernel).fit(X + 2.0**27)
    np.testing.assert_allclose(other.distance(X + 2.0**27), one.distance(X), rtol=1e-5)
    np.testing.assert_array_equal(other.outliers_, one.outliers_)


@pytest.mark.parametrize("scale", [2.0**400, 2.0**-400])
def test_units_do_not_matter(scale):
    X = table()
    one, other = SVDD(kernel="linear").fit(X), SVDD(kernel="linear").fit(X * scale)
    assert other.radius_ == pytest.approx(one.radius_ * scale)
    np.testing.assert_array_equal(other.support_, one.support_)
    assert other.kkt_residual_ <= 1e-6
    np.testing.assert_array_equal(SVDD().fit(X * scale).outliers_, SVDD().fit(X).outliers_)


def test_a_kernel_matrix_however_given_is_fitted_alike():
    X, new = table(70), table(9, seed=5)
    kernel = Gaussian(1.5)
    fits = [
        SVDD(kernel=kernel).fit(X),
        SVDD().fit_gram(Gram.of(X, kernel)),
        SVDD().fit_gram(Gram.of(X, kernel, hold=False)),
        SVDD(kernel=lambda A, B: kernel(A, B)).fit(X),
        SVDD().fit_gram(Gram.precomputed(kernel(X))),
        SVDD(kernel="precomputed").fit(kernel(X)),
    ]
    for other in fits[1:]:
        rows = kernel(new, X) if other.support_vectors_ is None else new
        np.testing.assert_allclose(other.decision_function(rows), fits[0].decision_function(new), atol=1e-5)
    assert fits[0].center_ is None


def test_a_precomputed_kernel_with_a_diagonal_that_differs_needs_that_of_new_rows():
    X, new = table(50), table(7, seed=5)
    one, other = SVDD(kernel="linear").fit(X), SVDD(kernel="precomputed").fit(X @ X.T)
    np.testing.assert_allclose(other.distance(new @ X.T, diagonal=np.sum(new**2, axis=1)), one.distance(new), atol=1e-5)
    with pytest.raises(DataError, match=r"needs k\(x, x\), which a precomputed kernel .* call distance\(X, diagonal="):
        other.predict(new @ X.T)
    with pytest.raises(DataError, match=r"one finite number for each of 7 rows, has shape \(3,\)"):
        other.distance(new @ X.T, diagonal=np.ones(3))


def test_without_a_row_on_the_sphere_every_radius_of_a_range_is_as_good():
    X = np.array([[-1.0], [1.0], [-5.0], [5.0]])
    found = SVDD(0.5, kernel="linear").fit(X)  # two rows bear all the weight
    assert found.radius_range_ == pytest.approx((1.0, 5.0))
    assert found.radius_ == pytest.approx(np.sqrt((1 + 25) / 2))
    assert found.duality_gap_ == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(found.outliers_, [2, 3])


def test_with_nu_of_1_the_centre_is_the_mean():
    X = table(40)
    found = SVDD(nu=1.0, kernel="linear").fit(X)
    np.testing.assert_allclose(found.center_, X.mean(axis=0), atol=1e-12)
    assert found.radius_range_[0] == 0.0 and found.support_.size == 40
    assert found.duality_gap_ == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("kernel", [None, "linear", "polynomial"])
def test_one_row_and_equal_rows_have_a_ball_of_radius_0(kernel):
    for X in (np.array([[3.0, -2.0]]), np.full((12, 2), 7.5)):
        found = SVDD(kernel=kernel).fit(X)
        assert found.radius_ == pytest.approx(0.0, abs=1e-6)
        assert found.outliers_.size == 0
        np.testing.assert_array_equal(found.predict(np.vstack([X, X[:1] + 100.0])), [*np.ones(len(X)), -1])


def test_a_width_far_above_the_data_is_the_linear_kernel_again():
    X = table(300)
    linear, wide = SVDD(kernel="linear", tol=1e-9).fit(X), SVDD(kernel=Gaussian(1e4), tol=1e-5).fit(X)
    assert wide.radius_ * 1e4 == pytest.approx(linear.radius_, rel=1e-4)
    assert set(linear.outliers_) ^ set(wide.outliers_) <= set(linear.support_) & set(wide.support_)


def test_two_rows_meet_in_the_middle():
    found = SVDD(1.0, kernel="linear").fit([[0.0, 0.0], [4.0, 0.0]])
    np.testing.assert_allclose(found.center_, [2.0, 0.0])
    assert found.radius_ == pytest.approx(2.0)


def test_a_far_row_among_duplicates_is_outside():
    X = np.vstack([np.repeat(table(10), 5, axis=0), [[50.0, 50.0, 50.0]]])
    for kernel in (None, "linear"):
        assert 50 in SVDD(nu=0.1, kernel=kernel).fit(X).outliers_


def test_more_columns_than_rows():
    X = table(20, 500)
    found = SVDD(nu=0.3, kernel="linear", tol=1e-9).fit(X)
    assert found.kkt_residual_ <= 1e-9
    np.testing.assert_allclose(found.center_, found.dual_coef_ @ X[found.support_], atol=1e-12)


def test_frames_and_sparse_rows_are_rows():
    X = table() * (table() > 0)
    one = SVDD().fit(X)
    np.testing.assert_allclose(SVDD().fit(csr_array(X)).decision_function(csr_array(X)), one.decision_function(X))


def test_a_source_is_encoded_and_a_saved_model_judges_alike(tmp_path):
    pd = pytest.importorskip("pandas")
    iris = load_iris(as_frame=True).data
    source = assay.read(iris)
    found = SVDD(kernel="linear").fit(source)
    found.save(tmp_path / "ball")
    back = assay.load(tmp_path / "ball")
    np.testing.assert_array_equal(back.decision_function(source), found.decision_function(source))
    np.testing.assert_allclose(SVDD(kernel="linear").fit(pd.DataFrame(iris)).radius_, found.radius_)


def test_new_rows_in_any_batch_get_the_same_score():
    X = np.random.default_rng(0).standard_normal((700, 4))
    found = SVDD().fit(X)
    one_by_one = np.concatenate([found.score_samples(row[None]) for row in X[:20]])
    np.testing.assert_allclose(found.score_samples(X)[:20], one_by_one, atol=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.01}, r"C is at least 1 / n = 0.0166667: the weights of 60 rows sum to 1 and none exceeds C; got 0.01"),
        ({"C": np.nan}, "C is at least 1 / n"),
        ({"nu": 0.0}, "nu is a share of the rows, above 0 and at most 1; got 0.0"),
        ({"nu": 1.5}, "nu is a share of the rows"),
        ({"nu": "auto"}, "nu is a share of the rows"),
        ({"tol": 0.0}, "tol is a positive share; got 0.0"),
        ({"solver": "newton"}, "solver is 'dual' or 'primal'; got 'newton'"),
        (
            {"solver": "primal"},
            r"solver 'primal' is for the linear kernel and rows; this is Gaussian\(.*\). Use 'dual'",
        ),
        ({"kernel": "cubic"}, "kernel must be one such as"),
        ({"cache_mb": 0.0}, "cache_mb must be positive"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        SVDD(**options).fit(table())


def test_approximate_and_centred_kernel_matrices_are_refused():
    with pytest.raises(ParameterError, match="exact and not centred; this one is by landmarks"):
        SVDD().fit_gram(Gram.landmarks(table(), 5, Gaussian()))
    with pytest.raises(ParameterError, match="exact and not centred; this one is centred"):
        SVDD().fit_gram(Gram.of(table(), Gaussian()).centred())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_with_its_place(bad):
    X = table()
    X[4, 1] = bad
    with pytest.raises(DataError, match=r"4.*1|row 4"):
        SVDD().fit(X)


def test_steps_used_up_are_a_warning_and_shown():
    with pytest.warns(NotConverged, match="SMO stopped after 3 steps"):
        found = SVDD(max_iter=3).fit(table())
    assert not found.converged_ and found.n_iter_ == 3 and found.duality_gap_ > 1e-4
