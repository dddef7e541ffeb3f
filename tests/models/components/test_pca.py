"""PCA: its laws, the routes against each other and against scikit-learn, edges."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.decomposition import PCA as Peer

import assay
from assay import PCA, Gaussian, Gram, Moments
from assay.errors import DataError, ParameterError

SHAPES = [(200, 7), (30, 30), (12, 90)]
EXACT = ["moments", "gram", "svd"]


def table(n, d, seed=0, shift=0.0):
    """Rows with a clear gap after each of the first axes."""
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((n, d)) * np.geomspace(8.0, 0.5, d) @ np.linalg.qr(rng.standard_normal((d, d)))[0] + shift
    )


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("solver", ["auto", *EXACT])
def test_every_route_agrees_with_scikit_learn(n, d, solver):
    X = table(n, d, shift=100.0)
    k = min(n, d) // 2
    ours, peer = PCA(k, solver=solver).fit(X), Peer(k, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.explained_variance_, peer.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(ours.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(ours.singular_values_, peer.singular_values_, rtol=1e-10)
    np.testing.assert_allclose(ours.noise_variance_, peer.noise_variance_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(ours.components_ * peer.components_, axis=1)), 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(peer.transform(X)), atol=1e-8)


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize(("solver", "tol"), [("power", 1e-6), ("randomised", 1e-3)])
def test_iterated_routes_find_the_leading_axes(n, d, solver, tol):
    X = table(n, d)
    ours, exact = PCA(3, solver=solver, random_state=1).fit(X), PCA(3, solver="svd").fit(X)
    np.testing.assert_allclose(ours.explained_variance_, exact.explained_variance_, rtol=tol)
    assert ours.route_ == solver


@pytest.mark.parametrize(("n", "d", "route"), [(200, 7, "moments"), (30, 30, "moments"), (12, 90, "gram")])
def test_the_route_is_chosen_by_shape(n, d, route):
    assert PCA().fit(table(n, d)).route_ == route


@given(st.integers(2, 25), st.integers(1, 25), st.integers(0, 2**32 - 1), st.booleans())
def test_axes_are_orthonormal_and_scores_uncorrelated(n, d, seed, standardise):
    X = np.random.default_rng(seed).standard_normal((n, d)) + 10
    pca = PCA(scale=standardise).fit(X)
    k = pca.n_components_
    assert k == min(n, d)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(k), atol=1e-9)
    scores = np.atleast_2d(np.cov(pca.transform(X), rowvar=False))
    np.testing.assert_allclose(scores, np.diag(pca.explained_variance_), atol=1e-9 * max(pca.total_variance_, 1.0))
    assert (np.diff(pca.explained_variance_) <= 1e-12).all()
    # entries tied for the largest may have either sign, but one of them is positive
    assert (pca.components_.max(axis=1) >= (1 - 1e-5) * np.abs(pca.components_).max(axis=1)).all()
    assert pca.explained_variance_.sum() == pytest.approx(pca.total_variance_, rel=1e-9)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_all_axes_rebuild_the_rows_and_fewer_lose_what_they_dropped(n, d):
    X = table(n, d, shift=5.0)
    full, part = PCA().fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X, atol=1e-9)
    lost = np.sum((part.inverse_transform(part.transform(X)) - X) ** 2)
    assert lost == pytest.approx(part.reconstruction_error_, rel=1e-9)
    assert lost == pytest.approx(np.sum(full.singular_values_[2:] ** 2), rel=1e-9)


def test_ten_points_have_the_published_eigenvalues():
    X = [
        [2.5, 2.4],
        [0.5, 0.7],
        [2.2, 2.9],
        [1.9, 2.2],
        [3.1, 3.0],
        [2.3, 2.7],
        [2, 1.6],
        [1, 1.1],
        [1.5, 1.6],
        [1.1, 0.9],
    ]
    for solver in (*EXACT, "power"):
        pca = PCA(solver=solver).fit(np.array(X))
        np.testing.assert_allclose(pca.explained_variance_, [1.2840277, 0.0490834], atol=5e-8)
        np.testing.assert_allclose(pca.components_[0], [0.6778734, 0.7351787], atol=5e-8)


@pytest.mark.parametrize("solver", EXACT)
def test_a_shift_of_1e8_moves_only_the_mean(solver):
    X = np.round(table(100, 5) * 256) / 256  # exact after the shift
    near, far = PCA(solver=solver).fit(X), PCA(solver=solver).fit(X + 1e8)
    np.testing.assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(far.components_, near.components_, atol=1e-8)
    np.testing.assert_allclose(far.mean_, near.mean_ + 1e8, rtol=1e-15)


@pytest.mark.parametrize("shift", [0.0, 3.0, 1e7])
@pytest.mark.parametrize("standardise", [False, True])
def test_large_wide_tables_are_as_exact_as_small_ones(shift, standardise):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((1000, 2000))
    X += (rng.standard_normal((1000, 5)) * [40, 30, 20, 15, 12]) @ np.linalg.qr(rng.standard_normal((2000, 5)))[0].T
    X = np.round(X * 1024) / 1024 + shift  # exact after the shift
    found, oracle = PCA(5, scale=standardise).fit(X), PCA(5, scale=standardise, solver="svd").fit(X)
    np.testing.assert_allclose(found.explained_variance_, oracle.explained_variance_, rtol=1e-11)
    np.testing.assert_allclose(found.components_, oracle.components_, atol=1e-9)


def test_rows_in_another_order_and_columns_rotated_give_the_same_variances():
    X = table(60, 6)
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    values = PCA().fit(X).explained_variance_
    np.testing.assert_allclose(PCA().fit(X[::-1]).explained_variance_, values, rtol=1e-12)
    np.testing.assert_allclose(PCA().fit(X @ rotation).explained_variance_, values, rtol=1e-10)


def test_a_summary_gives_the_same_axes_however_it_was_gathered():
    X = table(300, 5)
    direct = PCA(3).fit(X)
    merged = PCA(3).fit_moments(Moments.of(X[:100]) + Moments.of(X[100:]))
    np.testing.assert_allclose(merged.components_, direct.components_, atol=1e-12)
    np.testing.assert_allclose(PCA(3).fit(assay.read(X)).components_, direct.components_, atol=1e-12)
    np.testing.assert_allclose(PCA(3).fit(csr_array(X)).components_, direct.components_, atol=1e-12)
    np.testing.assert_allclose(PCA(3).fit(X.astype(np.float32)).components_, direct.components_, atol=1e-6)


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("standardise", [False, True])
def test_the_gram_matrix_gives_the_same_axes_as_the_rows(n, d, standardise):
    X = table(n, d, shift=1e6)
    dual, direct = PCA(3, scale=standardise).fit_gram(Gram.of(X)), PCA(3, scale=standardise).fit(X)
    np.testing.assert_allclose(dual.explained_variance_, direct.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(dual.components_, direct.components_, atol=1e-7)
    with pytest.raises(ParameterError, match=r"PCA needs Gram.of\(X, Linear\(\)\)"):
        PCA().fit_gram(Gram.of(X, Gaussian(1.0)))


def test_standardised_axes_do_not_depend_on_units():
    X = table(80, 4)
    plain = PCA(scale=True).fit(X)
    other = PCA(scale=True).fit(X * [1.0, 1000.0, 1e-6, 30.0])
    np.testing.assert_allclose(other.explained_variance_, plain.explained_variance_, rtol=1e-10)
    assert plain.total_variance_ == pytest.approx(4.0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(plain.transform(X), PCA().fit(Z).transform(Z), atol=1e-10)


def test_loadings_are_correlations_of_columns_with_scores():
    X = table(100, 5)
    for standardise in (False, True):
        pca = PCA(3, scale=standardise).fit(X)
        oracle = np.corrcoef(X, pca.transform(X), rowvar=False)[:5, 5:]
        np.testing.assert_allclose(pca.loadings_, oracle, atol=1e-10)


def test_whitened_scores_have_unit_variance():
    X = table(100, 5)
    pca = PCA(4, whiten=True).fit(X)
    np.testing.assert_allclose(np.cov(pca.transform(X), rowvar=False), np.eye(4), atol=1e-10)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), PCA(4).fit(X).denoise(X), atol=1e-9)


def test_artefacts_are_removed_and_noise_is_dropped():
    X = table(100, 5, shift=3.0)
    pca = PCA().fit(X)
    clean = pca.remove_leading(X, 2)
    np.testing.assert_allclose((clean - pca.mean_) @ pca.components_[:2].T, 0.0, atol=1e-10)
    np.testing.assert_allclose(clean + pca.denoise(X, 2) - pca.mean_, X, atol=1e-10)
    np.testing.assert_allclose(pca.remove_leading(X, 0), X, atol=1e-12)
    with pytest.raises(ParameterError, match="5 axes were fitted; got 6"):
        pca.remove_leading(X, 6)


@pytest.mark.parametrize("share", [0.3, 0.8, 0.999])
def test_a_share_keeps_as_few_axes_as_explain_it(share):
    pca = PCA(share).fit(table(100, 8))
    kept = pca.explained_variance_ratio_.sum()
    assert kept >= share > kept - pca.explained_variance_ratio_[-1]


@pytest.mark.parametrize(("n", "d"), [(300, 20), (60, 150)])
def test_real_components_are_the_planted_ones(n, d):
    rng = np.random.default_rng(4)
    axes = np.linalg.qr(rng.standard_normal((d, 3)))[0]
    noise = rng.standard_normal((n, d))
    strength = np.sqrt(d / n) * np.array([12.0, 8.0, 6.0])
    X = noise + (rng.standard_normal((n, 3)) * np.sqrt(strength)) @ axes.T
    assert PCA("real", random_state=0).fit(X).n_components_ == 3
    assert PCA("real").fit_moments(Moments.of(X)).n_components_ == 3


def test_no_component_of_noise_is_real_and_an_empty_model_works(tmp_path):
    X = np.random.default_rng(5).standard_normal((100, 10))
    pca = PCA("real", random_state=0).fit(X)
    assert pca.n_components_ == 0
    assert pca.transform(X).shape == (100, 0)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), np.tile(X.mean(axis=0), (100, 1)))
    pca.save(tmp_path / "empty.assay")
    assert assay.load(tmp_path / "empty.assay").components_.shape == (0, 10)


def test_the_knee_is_where_the_scree_bends():
    X = np.random.default_rng(6).standard_normal((500, 10)) * [9, 8, *[1] * 8]
    assert PCA().fit(X).knee_ == 2


def test_a_saved_model_answers_to_the_bit(tmp_path):
    frame = pl.DataFrame(table(50, 3), schema=["a", "b", "<c>"])
    pca = PCA(2, scale=True).fit(frame)
    pca.save(tmp_path / "pca.assay")
    back = assay.load(tmp_path / "pca.assay")
    np.testing.assert_array_equal(back.transform(frame), pca.transform(frame))
    assert back.get_params() == pca.get_params()
    assert list(back.feature_names_in_) == ["a", "b", "<c>"]


def test_columns_are_recorded_and_compared():
    source = assay.read(pl.DataFrame(table(50, 3), schema=["a", "b", "c"]))
    pca = PCA(2).fit(source)
    assert list(pca.feature_names_in_) == ["a", "b", "c"]
    assert pca.transform(source).shape == (50, 2)
    assert list(pca.get_feature_names_out()) == ["pca0", "pca1"]
    X = table(5, 3)
    ordered = pca.transform(assay.read(pl.DataFrame(X, schema=["a", "b", "c"])))
    moved = pca.transform(assay.read(pl.DataFrame(X[:, [0, 2, 1]], schema=["a", "c", "b"])))
    np.testing.assert_array_equal(moved, ordered)
    with pytest.raises(DataError, match="c"):
        pca.transform(assay.read(pl.DataFrame(table(5, 2), schema=["a", "b"])))


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize(
    "X",
    [
        np.ones((5, 3)),
        np.repeat(np.arange(4.0)[:, None], 3, axis=1),
        np.vstack([np.eye(3)] * 4),
        np.column_stack([np.full(6, 0.1), np.arange(6.0), np.full(6, 1e8 + 0.3)]),
        np.arange(40.0).reshape(2, 20),
    ],
    ids=["constant", "rank one", "duplicates", "constant columns", "two rows"],
)
def test_degenerate_tables_have_a_defined_answer(X, solver):
    pca = PCA(solver=solver).fit(X)
    k = pca.n_components_
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), X, atol=1e-7)
    rank = np.linalg.matrix_rank(X - X.mean(axis=0), tol=1e-6)
    assert (pca.explained_variance_[rank:] <= 1e-12 * max(pca.total_variance_, 1.0)).all()
    assert np.isfinite(pca.explained_variance_ratio_).all()


@pytest.mark.parametrize("shape", [(20, 3), (3, 20)])
@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "row 1, column 2 is missing"), (np.inf, "row 1, column 2 is infinite"), (1e300, "column 2 runs from")],
)
def test_what_cannot_be_used_is_refused_with_its_place(shape, value, message):
    X = np.random.default_rng(7).standard_normal(shape)
    X[1, 2] = value
    with pytest.raises(DataError, match=message):
        PCA().fit(X)


@pytest.mark.parametrize("asked", [0, -1, 4, 1.5, 0.0, "all", True])
def test_impossible_counts_are_refused(asked):
    with pytest.raises(ParameterError, match="n_components is None, 'real', a share"):
        PCA(asked).fit(table(20, 3))


def test_other_wrong_options_are_refused():
    with pytest.raises(ParameterError, match="solver is one of auto, moments"):
        PCA(solver="magic").fit(table(20, 3))
    with pytest.raises(ParameterError, match="needs the rows"):
        PCA(solver="svd").fit_moments(Moments.of(table(20, 3)))
    with pytest.raises(ParameterError, match=r"scores have shape \(n, 2\)"):
        PCA(2).fit(table(20, 3)).inverse_transform(np.ones((4, 3)))


@pytest.mark.parametrize("shape", [(100, 3), (4, 30)])
def test_all_axes_leave_no_noise_not_even_rounding(shape):
    X = np.random.default_rng(0).standard_normal(shape) * 0.1 + 3.0
    most = min(shape[0] - 1, shape[1])
    assert PCA(most).fit(X).noise_variance_ == 0.0
