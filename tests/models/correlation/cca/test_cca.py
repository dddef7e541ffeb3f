import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import kstest, pearsonr
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.cross_decomposition import CCA as PeerCCA
from sklearn.datasets import load_digits, load_iris, load_linnerud
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

import assay
from assay import CCA, GroupedMoments, HeldOutRidge, Moments
from assay.data.source import ArrowSource
from assay.errors import DataError, ParameterError

ROUTES = ("moments", "svd", "dual")


def two_sides(n=200, p=6, q=4, shared=3, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, shared))
    X = rng.standard_normal((n, p)) + hidden @ rng.standard_normal((shared, p))
    Y = rng.standard_normal((n, q)) + hidden @ rng.standard_normal((shared, q))
    return X, Y


def by_whitening(X, Y, ridge=(0.0, 0.0)):
    """Correlations by symmetric inverse roots of the covariances: another way than any of the three."""
    p = X.shape[1]
    S = np.cov(np.hstack([X, Y]), rowvar=False)

    def inverse_root(C, r):
        values, vectors = np.linalg.eigh(C + r * np.eye(len(C)))
        return vectors / np.sqrt(values) @ vectors.T

    M = inverse_root(S[:p, :p], ridge[0]) @ S[:p, p:] @ inverse_root(S[p:, p:], ridge[1])
    return np.linalg.svd(M, compute_uv=False)


@pytest.mark.parametrize("route", ROUTES)
def test_correlations_are_those_of_whitened_covariances(route):
    X, Y = two_sides()
    cca = CCA(solver=route).fit(X, Y)
    assert cca.route_ == route
    np.testing.assert_allclose(cca.canonical_correlations_, by_whitening(X, Y), atol=1e-12)
    ridged = CCA(solver=route, ridge=(0.5, 2.0), scale=False).fit(X, Y)
    np.testing.assert_allclose(ridged.canonical_correlations_, by_whitening(X, Y, (0.5, 2.0)), atol=1e-12)
    units = X / X.std(axis=0, ddof=1), Y / Y.std(axis=0, ddof=1)
    scaled = CCA(solver=route, ridge=(0.5, 2.0)).fit(X, Y)
    np.testing.assert_allclose(scaled.canonical_correlations_, by_whitening(*units, (0.5, 2.0)), atol=1e-12)


@given(seed=st.integers(0, 10**6), ridge=st.sampled_from([0.0, 1e-3, (0.1, 3.0)]), scale=st.booleans())
@settings(max_examples=15, deadline=None)
def test_the_three_forms_agree(seed, ridge, scale):
    X, Y = two_sides(60, 7, 5, 2, seed)
    fitted = [CCA(ridge=ridge, scale=scale, solver=route).fit(X, Y) for route in ROUTES]
    for other in fitted[1:]:
        for name in ("canonical_correlations_", "variate_correlations_", "x_mean_", "y_mean_"):
            np.testing.assert_allclose(getattr(other, name), getattr(fitted[0], name), atol=1e-8)
        # vectors of near correlations may turn into each other
        apart = np.diff(fitted[0].canonical_correlations_).max() < -1e-3
        for name in (
            "x_weights_",
            "y_weights_",
            "x_loadings_",
            "y_loadings_",
            "x_cross_loadings_",
            "y_cross_loadings_",
        ):
            if apart:
                np.testing.assert_allclose(getattr(other, name), getattr(fitted[0], name), atol=1e-8)
        np.testing.assert_allclose(other.predict(X), fitted[0].predict(X), atol=1e-8)


def test_the_first_correlation_squared_is_the_largest_eigenvalue():
    X, Y = two_sides()
    S, p = np.cov(np.hstack([X, Y]), rowvar=False), X.shape[1]
    product = np.linalg.solve(S[:p, :p], S[:p, p:]) @ np.linalg.solve(S[p:, p:], S[p:, :p])
    largest = np.linalg.eigvals(product).real.max()
    assert CCA(1).fit(X, Y).canonical_correlations_[0] ** 2 == pytest.approx(largest, abs=1e-12)


def test_the_first_pair_is_that_of_scikit_learn_at_a_tight_tolerance():
    X, Y = two_sides()
    peer = PeerCCA(2, tol=1e-15, max_iter=100_000).fit(X, Y)
    u, v = peer.transform(X, Y)
    cca = CCA(2).fit(X, Y)
    reached = [np.corrcoef(u[:, j], v[:, j])[0, 1] for j in range(2)]
    np.testing.assert_allclose(cca.canonical_correlations_, reached, atol=1e-9)
    ours = cca.transform(X, Y)
    for mine, theirs in zip(ours, (u, v), strict=True):
        for j in range(2):
            assert abs(np.corrcoef(mine[:, j], theirs[:, j])[0, 1]) == pytest.approx(1.0, abs=1e-9)


def test_fitness_club_numbers_published_with_sas():
    # the example of SAS's CANCORR procedure: physiology and exercise of twenty men
    club = load_linnerud()
    cca = CCA().fit(club.target, club.data)
    np.testing.assert_allclose(cca.canonical_correlations_, [0.795608, 0.200556, 0.072570], atol=1e-6)
    np.testing.assert_allclose(cca.x_loadings_[:, 0], [0.6206, 0.9254, -0.3328], atol=1e-4)
    np.testing.assert_allclose(cca.y_loadings_[:, 0], [-0.7276, -0.8177, -0.1622], atol=1e-4)
    np.testing.assert_allclose(cca.x_cross_loadings_[:, 0], [0.4938, 0.7363, -0.2648], atol=1e-4)
    np.testing.assert_allclose(cca.y_cross_loadings_[:, 0], [-0.5789, -0.6506, -0.1290], atol=1e-4)


def test_a_ridge_is_that_of_cca_zoo():
    zoo = pytest.importorskip("cca_zoo.linear")
    X, Y = two_sides(40, 60, 50)
    peer = zoo.RidgeCCA(3, shrinkage=[0.2, 0.5]).fit([X, Y])
    cca = CCA(3, ridge=(0.25, 1.0), scale=False).fit(X, Y)  # c / (1 - c)
    for mine, theirs in zip((cca.x_weights_, cca.y_weights_), peer.weights_, strict=True):
        cosine = np.sum(mine * theirs, axis=0) / np.linalg.norm(mine, axis=0) / np.linalg.norm(theirs, axis=0)
        np.testing.assert_allclose(np.abs(cosine), 1.0, atol=1e-10)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("ridge", [0.0, (0.3, 0.1)])
def test_weights_are_orthonormal_in_the_regularised_covariance_and_pairs_uncorrelated(route, ridge):
    X, Y = two_sides()
    cca = CCA(ridge=ridge, scale=False, solver=route).fit(X, Y)
    r = (0.0, 0.0) if ridge == 0.0 else ridge
    for W, rows, r_side in ((cca.x_weights_, X, r[0]), (cca.y_weights_, Y, r[1])):
        C = np.cov(rows, rowvar=False) + r_side * np.eye(rows.shape[1])
        np.testing.assert_allclose(W.T @ C @ W, np.eye(W.shape[1]), atol=1e-11)
    u, v = cca.transform(X, Y)
    across = (u - u.mean(0)).T @ (v - v.mean(0)) / (len(X) - 1)
    np.testing.assert_allclose(across, np.diag(cca.canonical_correlations_), atol=1e-11)
    np.testing.assert_allclose(u.mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_loadings_are_correlations_of_columns_with_variates(ridge):
    X, Y = two_sides()
    cca = CCA(3, ridge=ridge).fit(X, Y)
    u, v = cca.transform(X, Y)
    for name, columns, variates in (
        ("x_loadings_", X, u),
        ("y_loadings_", Y, v),
        ("x_cross_loadings_", X, v),
        ("y_cross_loadings_", Y, u),
    ):
        expected = np.corrcoef(columns.T, variates.T)[: columns.shape[1], columns.shape[1] :]
        np.testing.assert_allclose(getattr(cca, name), expected, atol=1e-11)
    np.testing.assert_allclose(cca.variate_correlations_, cca.correlations(X, Y), atol=1e-12)
    largest = np.abs(cca.x_loadings_).argmax(axis=0)
    assert (cca.x_loadings_[largest, range(3)] > 0).all()


@pytest.mark.parametrize("route", ROUTES)
def test_without_a_ridge_any_invertible_map_of_either_side_changes_nothing(route):
    X, Y = two_sides()
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((6, 6)), rng.standard_normal((4, 4)) * 1e-6
    plain, mapped = CCA(solver=route).fit(X, Y), CCA(solver=route).fit(X @ A + 7.0, Y @ B - 1e-6)
    np.testing.assert_allclose(mapped.canonical_correlations_, plain.canonical_correlations_, atol=1e-10)
    for one, other in zip(plain.transform(X, Y), mapped.transform(X @ A + 7.0, Y @ B - 1e-6), strict=True):
        signs = np.sign(np.sum(one * other, axis=0))
        np.testing.assert_allclose(other * signs, one, atol=1e-8)


def test_the_sides_may_be_exchanged():
    X, Y = two_sides()
    one, other = CCA(ridge=(0.1, 0.4)).fit(X, Y), CCA(ridge=(0.4, 0.1)).fit(Y, X)
    np.testing.assert_allclose(one.canonical_correlations_, other.canonical_correlations_, atol=1e-12)
    np.testing.assert_allclose(np.abs(one.x_loadings_), np.abs(other.y_loadings_), atol=1e-9)


def test_squared_correlation_with_one_target_is_the_explained_share_of_least_squares():
    X, Y = two_sides()
    cca = CCA().fit(X, Y[:, 0])
    peer = LinearRegression().fit(X, Y[:, 0])
    assert cca.canonical_correlations_[0] ** 2 == pytest.approx(peer.score(X, Y[:, 0]), abs=1e-12)
    np.testing.assert_allclose(cca.predict(X), peer.predict(X), atol=1e-10)
    np.testing.assert_allclose(cca.coef_, peer.coef_[None], atol=1e-10)
    np.testing.assert_allclose(cca.intercept_, [peer.intercept_], atol=1e-10)
    assert cca.score(X, Y[:, 0]) == pytest.approx(peer.score(X, Y[:, 0]), abs=1e-12)


def test_all_pairs_predict_as_least_squares_and_fewer_as_its_reduced_rank():
    X, Y = two_sides()
    peer = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(CCA().fit(X, Y).coef_, peer.coef_, atol=1e-10)
    few = CCA(2).fit(X, Y)
    assert np.linalg.matrix_rank(few.coef_, tol=1e-10) == 2
    # of y, what two variates of X explain by least squares
    u = few.transform(X)
    np.testing.assert_allclose(few.predict(X), LinearRegression().fit(u, Y).predict(u), atol=1e-10)
    ridged = CCA(2, ridge=1.0).fit(X, Y)
    u = ridged.transform(X)
    np.testing.assert_allclose(ridged.predict(X), LinearRegression().fit(u, Y).predict(u), atol=1e-10)


def test_two_groups_are_told_apart_as_by_fisher():
    X, labels = load_iris(return_X_y=True)
    rows, groups = X[labels < 2], labels[labels < 2]
    gap = rows[groups == 1].mean(0) - rows[groups == 0].mean(0)
    within = sum(np.cov(rows[groups == g], rowvar=False) for g in (0, 1))
    direction = np.linalg.solve(within, gap)
    w = CCA().fit(rows, groups).x_weights_[:, 0]
    assert abs(w @ direction) / np.linalg.norm(w) / np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-10)


def test_moments_merged_of_three_hospitals_fit_as_all_rows():
    X, Y = two_sides()
    both = np.hstack([X, Y])
    merged = Moments.of(both[:20]) + Moments.of(both[20:23]) + Moments.of(both[23:])
    cca = CCA(ridge=0.1).fit_moments(merged, 6)
    whole = CCA(ridge=0.1).fit(X, Y)
    for name in ("canonical_correlations_", "x_weights_", "y_cross_loadings_"):
        np.testing.assert_allclose(getattr(cca, name), getattr(whole, name), atol=1e-10)
    np.testing.assert_allclose(cca.transform(X), whole.transform(X), atol=1e-10)


def test_moments_are_split_by_the_names_of_y():
    X, Y = two_sides(p=3, q=2)
    rows = np.column_stack([X[:, 0], Y[:, 0], X[:, 1], Y[:, 1], X[:, 2]])
    m = Moments.of(rows, columns=["a", "u", "b", "v", "c"])
    cca = CCA().fit_moments(m, ["u", "v"])
    assert cca.feature_names_in_.tolist() == ["a", "b", "c"]
    assert cca.y_names_.tolist() == ["u", "v"]
    np.testing.assert_allclose(cca.x_weights_, CCA().fit(X, Y).x_weights_, atol=1e-10)
    with pytest.raises(ParameterError, match="split names the columns of y, some but not all of: a, u, b, v, c; got"):
        CCA().fit_moments(m, ["nothing"])
    with pytest.raises(ParameterError, match="split says how many of the 5 columns are X's, from 1 to 4; got 5"):
        CCA().fit_moments(m, 5)


class TestHeldOutRidge:
    def test_fold_moments_choose_as_pairs_fitted_anew_on_each_fold(self):
        X, Y = two_sides(60, 8, 5, 1)
        ridges = (0.01, 1.0)
        cca = CCA(2, ridge=HeldOutRidge(ridges, cv=3)).fit(X, Y)
        from assay.data.folds import fold_numbers

        folds, units = fold_numbers(0, 60, 3), (X.std(axis=0, ddof=1), Y.std(axis=0, ddof=1))
        for i, rx in enumerate(ridges):
            for j, ry in enumerate(ridges):
                sums = np.zeros(3)
                for f in range(3):
                    new = folds == f
                    one = CCA(1, ridge=(rx, ry), scale=False).fit(X[~new] / units[0], Y[~new] / units[1])
                    u, v = (s.ravel() for s in one.transform(X[new] / units[0], Y[new] / units[1]))
                    sums += [u @ v, u @ u, v @ v]
                assert cca.held_out_table_[i, j] == pytest.approx(sums[0] / np.sqrt(sums[1] * sums[2]), abs=1e-9)
        best = np.unravel_index(cca.held_out_table_.argmax(), (2, 2))
        assert cca.ridge_ == (ridges[best[0]], ridges[best[1]])
        assert cca.held_out_correlations_[0] == pytest.approx(cca.held_out_table_.max(), abs=1e-9)

    def test_gram_matrices_choose_as_moments_do(self):
        X, Y = two_sides(60, 8, 5, 1)
        option = HeldOutRidge((0.0, 0.1, 1.0), cv=4)
        moments, dual = (CCA(ridge=option, solver=route).fit(X, Y) for route in ("moments", "dual"))
        np.testing.assert_allclose(dual.held_out_table_, moments.held_out_table_, atol=1e-9)
        np.testing.assert_allclose(dual.held_out_correlations_, moments.held_out_correlations_, atol=1e-8)
        assert dual.ridge_ == moments.ridge_

    def test_noise_in_many_columns_calls_for_a_ridge_and_it_pays_on_new_rows(self):
        X, Y = two_sides(1100, 80, 60, 1, seed=3)
        chosen, plain = CCA(1, ridge="held-out").fit(X[:100], Y[:100]), CCA(1).fit(X[:100], Y[:100])
        assert chosen.ridge_[0] > 0 and chosen.held_out_table_.shape == (6, 6)
        assert chosen.correlations(X[100:], Y[100:])[0] > plain.correlations(X[100:], Y[100:])[0] + 0.2
        assert chosen.held_out_correlations_[0] == pytest.approx(chosen.correlations(X[100:], Y[100:])[0], abs=0.15)

    def test_grouped_moments_of_folds_are_enough(self):
        X, Y = two_sides()
        folds = GroupedMoments.folds(np.hstack([X, Y]), 5)
        from_folds, from_rows = CCA(ridge="held-out").fit_moments(folds, 6), CCA(ridge="held-out").fit(X, Y)
        assert from_folds.ridge_ == pytest.approx(from_rows.ridge_)
        np.testing.assert_allclose(from_folds.held_out_correlations_, from_rows.held_out_correlations_, atol=1e-10)
        with pytest.raises(ParameterError, match="a ridge is chosen from GroupedMoments.folds"):
            CCA(ridge="held-out").fit_moments(folds.total, 6)

    def test_too_few_rows_are_refused(self):
        X, Y = two_sides(9)
        with pytest.raises(DataError, match="by 5 folds needs at least 10 rows; there are 9. Give ridge as a number"):
            CCA(ridge="held-out").fit(X, Y)

    def test_options_that_cannot_be_are_refused(self):
        with pytest.raises(ParameterError, match="cv is a whole number of at least 2, or a splitter; got 1"):
            HeldOutRidge(cv=1)
        with pytest.raises(ParameterError, match="ridges are finite and not negative, at least one"):
            HeldOutRidge((-1.0,))


class TestRoute:
    def test_more_columns_than_rows_take_the_dual_form(self):
        X, Y = two_sides(30, 50, 4)
        cca = CCA(2, ridge=0.1).fit(X, Y)
        assert cca.route_ == "dual"
        np.testing.assert_allclose(
            cca.canonical_correlations_, CCA(2, ridge=0.1, solver="svd").fit(X, Y).canonical_correlations_, atol=1e-12
        )

    def test_nearly_dependent_columns_take_orthogonal_steps_and_keep_their_digits(self):
        X, Y = two_sides(500, 3, 2)
        rng = np.random.default_rng(8)
        near = np.column_stack([X, X[:, 0] + 1e-7 * rng.standard_normal(500)])
        exact = by_whitening(np.column_stack([X, (near[:, 3] - near[:, 0]) * 1e7]), Y)
        auto, moments = CCA().fit(near, Y), CCA(solver="moments").fit(near, Y)
        assert auto.route_ == "svd" and auto.rank_ == (4, 2)
        X_units = near / near.std(axis=0)
        assert auto.condition_[0] == pytest.approx(np.linalg.cond(X_units - X_units.mean(axis=0)) ** 2, rel=1e-3)
        np.testing.assert_allclose(auto.canonical_correlations_, exact, atol=1e-8)
        assert np.abs(moments.canonical_correlations_ - exact).max() > 1e-8
        assert CCA(ridge=0.01).fit(near, Y).route_ == "moments"  # a ridge mends it

    def test_wide_rows_of_smooth_curves_keep_their_digits_too(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((12, 11)) * 10.0 ** -np.arange(11) @ np.linalg.qr(rng.standard_normal((40, 11)))[0].T
        Y = rng.standard_normal((12, 1))
        cca = CCA(scale=True).fit(X, Y)
        assert cca.route_ == "svd" and cca.rank_ == (11, 1)

    def test_rank_deficient_sides_get_the_answer_of_their_independent_columns(self):
        X, Y = two_sides()
        double = np.column_stack([X, X[:, 0] + X[:, 1], np.full(200, 3.0)])
        for route in ("auto", *ROUTES):
            cca = CCA(solver=route).fit(double, np.column_stack([Y, Y[:, :1]]))
            assert cca.rank_ == (6, 4) and cca.n_components_ == 4
            np.testing.assert_allclose(cca.canonical_correlations_, by_whitening(X, Y), atol=1e-10)
            assert (cca.x_weights_[-1] == 0).all() and (cca.x_loadings_[-1] == 0).all()

    def test_correlations_that_are_one_for_want_of_rows_are_counted(self):
        rng = np.random.default_rng(0)
        cca = CCA().fit(rng.standard_normal((12, 8)), rng.standard_normal((12, 5)))
        assert cca.forced_ == 2
        np.testing.assert_allclose(cca.canonical_correlations_[:2], 1.0, atol=1e-12)
        assert cca.canonical_correlations_[2] < 0.9999
        assert CCA().fit(*two_sides()).forced_ == 0


class TestEdges:
    def test_perfectly_related_sides(self):
        X, _ = two_sides()
        cca = CCA().fit(X, X[:, ::-1] * 2.0 + 1.0)
        np.testing.assert_allclose(cca.canonical_correlations_, 1.0, atol=1e-12)
        assert cca.canonical_correlations_.max() <= 1.0

    def test_unrelated_sides_have_correlation_zero(self):
        X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
        Y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
        assert CCA().fit(X, Y).canonical_correlations_[0] == pytest.approx(0.0, abs=1e-15)

    def test_a_constant_side_is_refused(self):
        X, _ = two_sides(20)
        with pytest.raises(DataError, match="every column of y is constant: there is nothing to correlate"):
            CCA().fit(X, np.full(20, 4.0))
        with pytest.raises(DataError, match="every column of X is constant"):
            CCA(ridge=0.1, solver="dual").fit(np.ones((20, 3)), X)

    def test_two_rows_are_enough_for_a_forced_answer_and_one_is_refused(self):
        cca = CCA().fit([[0.0], [1.0]], [3.0, 1.0])
        assert cca.forced_ == 1 and cca.canonical_correlations_[0] == pytest.approx(1.0)
        with pytest.raises(ValueError, match="1 sample"):
            CCA().fit([[0.0]], [3.0])

    @pytest.mark.parametrize("solver", ROUTES)
    def test_what_is_not_finite_is_named(self, solver):
        X, Y = two_sides(20)
        for value, said in ((np.nan, "missing"), (np.inf, "infinite")):
            bad = Y.copy()
            bad[4, 1] = value
            with pytest.raises(DataError, match=f"row 4, column 'y1' is {said}"):
                CCA(solver=solver).fit(X, bad)
        frame = pd.DataFrame(X, columns=list("abcdef"))
        frame.loc[3, "c"] = np.nan
        with pytest.raises(DataError, match="row 3, column 'c' is missing"):
            CCA(solver=solver, ridge="held-out").fit(frame, Y)

    def test_units_and_places_do_not_matter_as_far_as_digits_go(self):
        X, Y = two_sides()
        expected = by_whitening(X, Y)
        np.testing.assert_allclose(CCA().fit(X * 1e-100, Y * 1e100).canonical_correlations_, expected, atol=1e-11)
        np.testing.assert_allclose(CCA().fit(X + 1e8, Y - 1e8).canonical_correlations_, expected, atol=1e-6)
        mixed = X * 10.0 ** np.arange(-30, 30, 10)
        np.testing.assert_allclose(CCA(solver="moments").fit(mixed, Y).canonical_correlations_, expected, atol=1e-11)
        for scale in (1e-300, 1e300):
            with pytest.raises(DataError, match="rescale the column"):
                CCA().fit(X * scale, Y)

    def test_float32_and_integers_are_read_as_they_are(self):
        X, Y = two_sides()
        small = CCA().fit(X.astype(np.float32), Y)
        np.testing.assert_allclose(small.canonical_correlations_, by_whitening(X.astype(np.float32), Y), atol=1e-10)
        assert small.transform(X.astype(np.float32)).dtype == np.float32
        whole = np.round(X * 10).astype(int)
        np.testing.assert_allclose(CCA().fit(whole, Y).canonical_correlations_, by_whitening(whole, Y), atol=1e-12)

    def test_sparse_rows_are_as_dense_ones(self):
        X, Y = two_sides(100)
        X[np.abs(X) < 1.0] = 0.0
        for solver in ("moments", "dual"):
            dense, thin = (CCA(solver=solver).fit(rows, Y) for rows in (X, sparse.csr_array(X)))
            np.testing.assert_allclose(thin.x_weights_, dense.x_weights_, atol=1e-12)
            np.testing.assert_allclose(thin.transform(sparse.csr_array(X)), dense.transform(X), atol=1e-12)

    def test_different_numbers_of_rows_or_columns_are_refused(self):
        X, Y = two_sides(20)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            CCA().fit(X, Y[:-1])
        with pytest.raises(DataError, match="fitted on 4 columns of y; these data have 3"):
            CCA().fit(X, Y).transform(X, Y[:, :3])

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"ridge": -1.0}, "ridge is a number, a pair of numbers"),
            ({"ridge": (1.0, 2.0, 3.0)}, "ridge is a number, a pair of numbers"),
            ({"ridge": "large"}, "'held-out' or HeldOutRidge"),
            ({"solver": "newton"}, "solver is one of auto, moments, svd, dual; got 'newton'"),
            ({"n_components": 5}, "n_components must be between 1 and 4 .the columns of the smaller side., is 5"),
        ],
    )
    def test_options_that_cannot_be_are_refused(self, options, said):
        with pytest.raises(ParameterError, match=said):
            CCA(**options).fit(*two_sides(20))


class TestSources:
    def table(self):
        X, Y = two_sides(300, 3, 2)
        names = ["a", "u", "b", "v", "c"]
        frame = pd.DataFrame(np.column_stack([X[:, 0], Y[:, 0], X[:, 1], Y[:, 1], X[:, 2]]), columns=names)
        return X, Y, frame

    def test_one_source_is_taken_apart_by_the_names_of_y(self):
        import pyarrow as pa

        X, Y, frame = self.table()
        source = ArrowSource(pa.Table.from_pandas(frame))
        expected = CCA().fit(X, Y)
        cca = CCA().fit(source, ["u", "v"])
        np.testing.assert_allclose(cca.canonical_correlations_, expected.canonical_correlations_, atol=1e-12)
        assert cca.feature_names_in_.tolist() == ["a", "b", "c"] and cca.y_names_.tolist() == ["u", "v"]
        for one, other in zip(cca.transform(source, ["u", "v"]), expected.transform(X, Y), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-10)
        np.testing.assert_allclose(
            cca.predict(ArrowSource(pa.Table.from_pandas(frame[["a", "b", "c"]]))), expected.predict(X), atol=1e-10
        )
        with pytest.raises(ParameterError, match="no column 'w'; there are a, u, b, v, c"):
            CCA().fit(source, ["w"])
        with pytest.raises(ParameterError, match="has no columns in the role 'target'"):
            CCA().fit(source)

    def test_two_sources_go_side_by_side_and_in_the_dual_form_too(self):
        import pyarrow as pa

        X, Y, frame = self.table()
        left, right = (ArrowSource(pa.Table.from_pandas(frame[list(names)])) for names in ("abc", "uv"))
        for solver in ("auto", "dual"):
            cca = CCA(ridge=0.1, solver=solver).fit(left, right)
            np.testing.assert_allclose(
                cca.canonical_correlations_, CCA(ridge=0.1).fit(X, Y).canonical_correlations_, atol=1e-12
            )
        short = ArrowSource(pa.Table.from_pandas(frame[["u"]].iloc[:200]))
        with pytest.raises(DataError, match="X has more rows than Y, which ends after 200"):
            CCA().fit(left, short)

    def test_categories_of_a_source_become_columns(self):
        import pyarrow as pa

        X, labels = load_iris(return_X_y=True)
        kinds = np.array(["setosa", "versicolor", "virginica"])[labels]
        source = ArrowSource(pa.table({"kind": kinds, **{f"c{i}": X[:, i] for i in range(4)}}))
        cca = CCA().fit(source, "kind")
        # discriminant analysis of iris: R's MASS::lda has svd 48.64264, 4.57998; rho^2 = s / (1 + s), s = svd^2 2 / 147
        s = np.array([48.64264, 4.57998]) ** 2 * 2 / 147
        np.testing.assert_allclose(cca.canonical_correlations_, np.sqrt(s / (1 + s)), atol=1e-6)


def test_held_out_correlations_of_digit_halves():
    rows = load_digits().data
    left, right = rows[:, :32], rows[:, 32:]
    cca = CCA(5, ridge=0.01).fit(left[:1200], right[:1200])
    assert cca.rank_[0] < 32  # corner pixels are constant
    reached = cca.correlations(left[1200:], right[1200:])
    assert reached[0] > 0.8 and (reached[:3] > 0.6).all()


def test_it_is_a_scikit_learn_regressor_and_can_be_cloned_saved_and_loaded(tmp_path):
    X, Y = two_sides()
    cca = CCA(2, ridge=HeldOutRidge((0.0, 0.1), cv=3))
    assert cross_val_score(clone(cca), X, Y, cv=3).mean() > 0.2
    cca.fit(X, Y).save(tmp_path / "cca")
    back = assay.load(tmp_path / "cca")
    assert back.ridge == cca.ridge
    for one, other in zip(back.transform(X, Y), cca.transform(X, Y), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(back.predict(X), cca.predict(X))
    frame = CCA(2).set_output(transform="pandas").fit(X, Y).transform(X)
    assert list(frame.columns) == ["cca0", "cca1"]
    shown = CCA(2).set_output(transform="pandas").fit(X, Y)
    np.testing.assert_allclose(shown.correlations(X, Y), CCA(2).fit(X, Y).canonical_correlations_, atol=1e-12)


def test_both_sides_come_from_fit_transform_as_in_scikit_learn():
    X, Y = two_sides()
    u, v = CCA(2).fit_transform(X, Y)
    assert u.shape == v.shape == (200, 2)


class TestClassicalTests:
    def test_fitness_club_numbers_published_with_sas(self):
        club = load_linnerud()
        found = CCA().fit(club.target, club.data).tests()
        np.testing.assert_allclose(found.wilks.statistic, [0.35039053, 0.95472266, 0.99473355], atol=5e-9)
        np.testing.assert_allclose(found.wilks.F, [2.05, 0.18, 0.08], atol=0.005)
        np.testing.assert_allclose(found.wilks.df, [[9, 34.223], [4, 30], [1, 16]], atol=5e-4)
        np.testing.assert_allclose(found.wilks.p, [0.0635, 0.9491, 0.7748], atol=5e-5)
        for name, statistic, F, df, p in (
            ("pillai", 0.67848151, 1.56, (9, 48), 0.1551),
            ("hotelling_lawley", 1.77194146, 2.64, (9, 19.053), 0.0357),
            ("roy", 1.72473874, 9.20, (3, 16), 0.0009),
        ):
            test = getattr(found, name)
            assert test.statistic[0] == pytest.approx(statistic, abs=5e-9), name
            assert test.F[0] == pytest.approx(F, abs=0.005) and test.p[0] == pytest.approx(p, abs=5e-5), name
            np.testing.assert_allclose(test.df[0], df, atol=5e-4)

    def test_unequal_sides_are_statsmodels_multivariate_tests(self):
        # statsmodels 0.15, CanCorr(Y, X).corr_test().stats_mv. Its table of single pairs has 72 degrees of freedom
        # where this one has 68; the last pair has those of a partial correlation, 40 - 1 - 1 - 3
        rng = np.random.default_rng(0)
        X = rng.standard_normal((40, 4))
        Y = rng.standard_normal((40, 2)) + 0.5 * X[:, :2]
        for found in (CCA().fit(X, Y).tests(), CCA().fit(Y, X).tests()):
            for name, value, df, F, p in (
                ("wilks", 0.609885, (8, 68.0), 2.384158, 0.025038),
                ("pillai", 0.40759, (8, 70.0), 2.239629, 0.034368),
                ("hotelling_lawley", 0.611, (8, 46.307692), 2.554319, 0.021441),
                ("roy", 0.559818, (4, 35), 4.898407, 0.003044),
            ):
                test = getattr(found, name)
                np.testing.assert_allclose([test.statistic[0], test.F[0], test.p[0]], [value, F, p], atol=2e-6)
                np.testing.assert_allclose(test.df[0], df, atol=1e-6)
                np.testing.assert_allclose(test.df[1], [3, 35], rtol=1e-9)

    def test_one_column_on_each_side_is_students_t(self):
        X, Y = two_sides(30, 1, 1, 1)
        found = CCA().fit(X, Y).tests()
        expected = pearsonr(X[:, 0], Y[:, 0]).pvalue
        for test in (found.wilks, found.pillai, found.hotelling_lawley, found.roy):
            assert test.p[0] == pytest.approx(expected, rel=1e-9)

    def test_of_normal_rows_without_pairs_p_is_uniform(self):
        rng = np.random.default_rng(0)
        found = [CCA().fit(rng.standard_normal((25, 3)), rng.standard_normal((25, 2))).tests() for _ in range(400)]
        for name in ("wilks", "pillai", "hotelling_lawley"):
            p = [getattr(one, name).p[0] for one in found]
            # of 400 a distance above .097 has a chance of .001
            assert kstest(p, "uniform").statistic < 0.097, name
        assert np.mean([one.roy.p[0] <= 0.05 for one in found]) > 0.05  # a lower bound only

    def test_what_they_do_not_know_is_refused(self):
        X, Y = two_sides()
        with pytest.raises(ParameterError, match="know no ridge; got"):
            CCA(ridge=0.1).fit(X, Y).tests()
        with pytest.raises(ParameterError, match="need all 4 pairs; 2 were fitted: leave out n_components"):
            CCA(2).fit(X, Y).tests()
        with pytest.raises(DataError, match="9 rows are too few for tests of 6 and 4 columns: at least 11"):
            CCA(solver="moments").fit(X[:9], Y[:9]).tests()
        # a correlation of 1 has p 0, not NaN
        assert CCA().fit(X, X[:, :2]).tests().wilks.p[0] == 0.0


class TestGiven:
    """Partial CCA: what a third set of columns leaves of both sides."""

    @staticmethod
    def three(n=120, seed=0):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((n, 2)) * [1.0, 30.0] + 5.0
        X = rng.standard_normal((n, 4)) + Z @ rng.standard_normal((2, 4))
        Y = rng.standard_normal((n, 3)) + Z @ rng.standard_normal((2, 3))
        Y[:, 0] += 0.8 * X[:, 0]
        return X, Y, Z

    @staticmethod
    def left(A, Z):
        return A - LinearRegression().fit(Z, A).predict(Z)

    def test_pairs_are_those_of_the_residuals_of_regressions(self):
        X, Y, Z = self.three()
        partial, plain = CCA().fit(X, Y, given=Z), CCA().fit(self.left(X, Z), self.left(Y, Z))
        np.testing.assert_allclose(partial.canonical_correlations_, plain.canonical_correlations_, atol=1e-9)
        np.testing.assert_allclose(np.abs(partial.x_loadings_), np.abs(plain.x_loadings_), atol=1e-8)
        u, v = partial.transform(X, Y, given=Z)
        np.testing.assert_allclose(
            [np.corrcoef(u[:, j], v[:, j])[0, 1] for j in range(3)], partial.canonical_correlations_, atol=1e-9
        )
        np.testing.assert_allclose(np.corrcoef(np.hstack([u, Z]), rowvar=False)[:3, 3:], 0.0, atol=1e-9)
        np.testing.assert_allclose(partial.transform(X, given=Z), u)
        np.testing.assert_allclose(partial.correlations(X, Y, given=Z), partial.canonical_correlations_, atol=1e-9)

    def test_one_column_each_is_the_partial_correlation_with_its_t(self):
        X, Y, Z = self.three()
        partial = CCA().fit(X[:, :1], Y[:, 0], given=Z)
        r = np.corrcoef(self.left(X[:, 0], Z), self.left(Y[:, 0], Z))[0, 1]
        assert partial.canonical_correlations_[0] == pytest.approx(abs(r), rel=1e-9)
        free = 120 - 2 - 2  # rows, less the columns held fixed and two
        expected = 2 * student.sf(abs(r) * np.sqrt(free / (1 - r**2)), free)
        found = partial.tests()
        assert found.wilks.p[0] == pytest.approx(expected, rel=1e-9)
        assert partial.n_given_ == 2 and partial.n_samples_ == 120

    def test_what_only_the_third_set_explains_is_gone(self):
        rng = np.random.default_rng(1)
        Z = rng.standard_normal((300, 1))
        X, Y = Z + rng.standard_normal((300, 2)), Z + rng.standard_normal((300, 2))
        assert CCA().fit(X, Y).tests().wilks.p[0] < 1e-10
        p = [CCA().fit(*self._drawn(rng), given=self.Z).tests().wilks.p[0] for _ in range(200)]
        # of 200 a distance above .138 has a chance of .001
        assert kstest(p, "uniform").statistic < 0.138

    def _drawn(self, rng):
        self.Z = rng.standard_normal((40, 2))
        return self.Z[:, :1] + rng.standard_normal((40, 2)), self.Z + rng.standard_normal((40, 2))

    def test_a_source_and_moments_give_the_same(self, tmp_path):
        X, Y, Z = self.three()
        names = [*(f"x{j}" for j in range(4)), *(f"y{j}" for j in range(3)), "age", "dose"]
        frame = pd.DataFrame(np.hstack([X, Y, Z]), columns=names)
        here = CCA().fit(X, Y, given=Z)
        read = CCA().fit(assay.read(frame), names[4:7], given=["age", "dose"])
        summed = CCA().fit_moments(Moments.of(frame).given(["age", "dose"]), names[4:7])
        for other in (read, summed):
            np.testing.assert_allclose(other.canonical_correlations_, here.canonical_correlations_, atol=1e-9)
            np.testing.assert_allclose(other.tests().wilks.p, here.tests().wilks.p, rtol=1e-6)
        read.save(tmp_path / "cca")
        back = assay.load(tmp_path / "cca")
        u, v = back.transform(assay.read(frame), assay.read(frame))
        for ours, theirs in zip((u, v), here.transform(X, Y, given=Z), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-8)

    def test_what_cannot_be_held_fixed_is_refused(self):
        X, Y, Z = self.three()
        partial = CCA().fit(X, Y, given=Z)
        with pytest.raises(ParameterError, match="partial pairs are found by 'moments'"):
            CCA(solver="svd").fit(X, Y, given=Z)
        with pytest.raises(ParameterError, match="a ridge that is a number"):
            CCA(ridge="held-out").fit(X, Y, given=Z)
        with pytest.raises(ParameterError, match="no columns were held fixed on fit; leave out given"):
            CCA().fit(X, Y).transform(X, given=Z)
        with pytest.raises(DataError, match="2 columns were held fixed on fit; given has 4"):
            partial.transform(X)
        with pytest.raises(ParameterError, match="partial pairs predict nothing alone"):
            partial.predict(X)
        with pytest.raises(DataError, match="every column of y is constant"):
            CCA().fit(X, Z[:, 0] * 3.0, given=Z)
        assert CCA().fit(X, Y, given=Z).fit(X, Y).n_given_ == 0
