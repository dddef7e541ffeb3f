"""t-SNE: no higher divergence than scikit-learn's, laws of the picture, new rows, graphs, edges."""

import numpy as np
import pytest
from scipy.spatial.distance import cityblock, pdist, squareform
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE as Peer
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

import assay
from assay import TSNE, Graph
from assay.errors import DataError, NotConverged, ParameterError
from assay.summary.graph.perplexity import affinities


def groups(n=150, d=6, g=3, seed=0, apart=8.0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % g
    return rng.standard_normal((g, d))[labels] * apart + rng.standard_normal((n, d)), labels


def divergence(P, Y):
    w = 1 / (1 + squareform(pdist(Y, "sqeuclidean")))
    np.fill_diagonal(w, 0.0)
    p, q = P.toarray(), w / w.sum()
    return float(np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])))


def purity(Y, labels, k=5):
    found = NearestNeighbors(n_neighbors=k).fit(Y).kneighbors(return_distance=False)
    return float((labels[found] == labels[:, None]).mean())


def test_the_divergence_is_no_higher_than_scikit_learns_on_the_same_affinities():
    X, perplexity = load_digits().data[:250], 20.0
    P = affinities(X, perplexity).P
    ours = TSNE(perplexity=perplexity).fit(X)
    with threadpool_limits(1):  # its threads wait for each other on a busy machine
        peer = Peer(perplexity=perplexity, random_state=0).fit_transform(X)
    assert ours.kl_divergence_ == pytest.approx(divergence(P, ours.embedding_), rel=1e-6)
    assert ours.kl_divergence_ <= divergence(P, peer.astype(float)) + 0.01


@pytest.mark.parametrize(("q", "method"), [(1, "exact"), (2, "exact"), (3, "exact"), (1, "grid"), (2, "grid")])
def test_groups_that_are_apart_stay_apart(q, method):
    X, labels = groups(120)
    tsne = TSNE(q, method=method).fit(X)
    assert tsne.embedding_.shape == (120, q)
    assert tsne.route_ == method
    assert purity(tsne.embedding_, labels) == 1.0


def test_the_method_follows_the_number_of_rows():
    X = np.random.default_rng(0).standard_normal((1001, 3))
    with pytest.warns(NotConverged, match=r"after max_iter=20 iterations the divergence .* raise max_iter"):
        assert TSNE(max_iter=20).fit(X).route_ == "grid"
    with pytest.warns(NotConverged):
        assert TSNE(max_iter=20).fit(X[:1000]).route_ == "exact"


def test_the_same_seed_gives_the_same_bits_and_another_seed_another_picture():
    X, _ = groups()
    first = TSNE(random_state=3, init="random").fit_transform(X)
    np.testing.assert_array_equal(TSNE(random_state=3, init="random").fit_transform(X), first)
    assert np.abs(TSNE(random_state=4, init="random").fit_transform(X) - first).max() > 1e-3


def test_shifting_and_scaling_rows_by_powers_of_two_changes_nothing():
    X = np.round(groups()[0], 6)
    first = TSNE().fit(X)
    for changed in (X * 2.0**40, X * 2.0**-40):
        np.testing.assert_array_equal(TSNE().fit_transform(changed), first.embedding_)
    assert TSNE().fit(X + 2.0**20).kl_divergence_ == pytest.approx(first.kl_divergence_, rel=0.2)


@pytest.mark.parametrize("scale", [1e-300, 1e150])
def test_very_small_and_very_large_numbers_are_laid_out(scale):
    X, labels = groups()
    assert purity(TSNE().fit_transform(X * scale), labels) == 1.0


def test_turning_the_picture_does_not_change_its_divergence():
    X, _ = groups(80)
    tsne = TSNE().fit(X)
    P = affinities(X, tsne.perplexity_).P
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    assert divergence(P, tsne.embedding_ @ turn) == pytest.approx(tsne.kl_divergence_, rel=1e-6)


def test_a_fitted_row_given_again_takes_its_place_and_one_beside_it_lands_near():
    X, _ = groups(300)
    tsne = TSNE().fit(X)
    np.testing.assert_array_equal(tsne.transform(X), tsne.embedding_)
    beside = tsne.transform(X + 1e-6)
    size = np.linalg.norm(tsne.embedding_.std(axis=0))
    moved = np.linalg.norm(beside - tsne.embedding_, axis=1)
    assert np.median(moved) < 0.1 * size


def test_new_rows_join_their_group_and_do_not_depend_on_each_other():
    X, labels = groups(300)
    tsne = TSNE().fit(X[:200])
    places = tsne.transform(X[200:])
    found = NearestNeighbors(n_neighbors=5).fit(tsne.embedding_).kneighbors(places, return_distance=False)
    assert (labels[:200][found] == labels[200:, None]).all()
    np.testing.assert_array_equal(tsne.transform(X[[250, 203]]), places[[50, 3]])


def test_new_rows_are_placed_among_many_and_in_each_dimension():
    X, labels = groups(1300)
    for q in (1, 2):
        tsne = TSNE(q, tol=0.05).fit(X[:1200])
        assert tsne.route_ == "grid"
        found = NearestNeighbors(n_neighbors=5).fit(tsne.embedding_)
        near = found.kneighbors(tsne.transform(X[1200:]), return_distance=False)
        assert (labels[:1200][near] == labels[1200:, None]).mean() > 0.99


@pytest.mark.parametrize("metric", ["cosine", "precomputed", "manhattan", "correlation", "gower", cityblock])
def test_other_metrics_are_fitted_and_place_new_rows(metric):
    X, labels = groups(120)
    D = squareform(pdist(X))
    data, new = (D[:90, :90], D[90:, :90]) if metric == "precomputed" else (X[:90], X[90:])
    tsne = TSNE(metric=metric).fit(data)
    assert purity(tsne.embedding_, labels[:90]) > 0.95
    near = NearestNeighbors(n_neighbors=3).fit(tsne.embedding_).kneighbors(tsne.transform(new), return_distance=False)
    assert (labels[:90][near] == labels[90:, None]).mean() > 0.95


@pytest.mark.parametrize("method", ["exact", "grid"])
@pytest.mark.parametrize(("dof", "exaggeration"), [(0.5, 1.0), (3.0, 1.0), (1.0, 4.0)])
def test_groups_stay_apart_with_other_tails_and_exaggeration_and_new_rows_join_them(dof, exaggeration, method):
    X, labels = groups(120)
    tsne = TSNE(dof=dof, exaggeration=exaggeration, method=method).fit(X[:90])
    assert purity(tsne.embedding_, labels[:90]) > 0.95
    near = NearestNeighbors(n_neighbors=3).fit(tsne.embedding_).kneighbors(tsne.transform(X[90:]))[1]
    assert (labels[:90][near] == labels[90:, None]).mean() > 0.95


def test_heavier_tails_and_exaggeration_draw_groups_together():
    X, labels = groups(120)

    def share_within(**options):  # of the squares about the mean
        Y = TSNE(random_state=0, **options).fit_transform(X)
        within = sum(((Y[labels == g] - Y[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels))
        return within / ((Y - Y.mean(axis=0)) ** 2).sum()

    usual = share_within()
    assert share_within(exaggeration=4.0) < usual and share_within(dof=0.5) < usual < share_within(dof=4.0)


def test_a_graph_of_distances_or_similarities_is_laid_out_and_takes_no_new_rows():
    X, labels = groups(120, apart=3.0)
    graph = Graph.nearest(X, 25)
    for given in (graph, graph.symmetrised().weighted(assay.Gaussian())):
        tsne = TSNE().fit_graph(given)
        assert purity(tsne.embedding_, labels) > 0.95
        with pytest.raises(ParameterError, match="was fitted on a graph, which has no columns"):
            tsne.transform(X)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_few_rows_are_laid_out(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    tsne = TSNE().fit(X)
    assert tsne.embedding_.shape == (n, 2)
    assert np.isfinite(tsne.embedding_).all()
    assert tsne.converged_
    np.testing.assert_array_equal(tsne.transform(X), tsne.embedding_)


def test_constant_rows_copies_and_wide_rows_are_laid_out():
    constant = TSNE().fit(np.full((30, 4), 3.0))
    assert constant.kl_divergence_ == pytest.approx(0.0, abs=1e-6)
    X, labels = groups(20, d=500)
    copies = np.repeat(X, 4, axis=0)
    tsne = TSNE(perplexity=10).fit(copies)
    assert purity(tsne.embedding_, np.repeat(labels, 4)) == 1.0
    one_column = TSNE().fit(np.arange(40.0)[:, None])
    assert one_column.embedding_[:, 1].std() > 0.01  # the axis the rows do not have is used


def test_a_callback_sees_the_way_and_stops_it_without_a_warning():
    X, _ = groups()
    seen = []
    tsne = TSNE(callback=lambda i, kl, Y: seen.append((i, kl, Y.shape)) or i >= 100).fit(X)
    assert [s[0] for s in seen] == [50, 100]
    assert (tsne.n_iter_, tsne.converged_) == (100, False)
    assert tsne.kl_history_[-1].tolist() == [100, tsne.kl_divergence_]


def test_a_model_saved_and_loaded_places_rows_alike(tmp_path):
    X, _ = groups(90)
    tsne = TSNE().fit(X[:80])
    tsne.save(tmp_path / "map.assay")
    again = assay.load(tmp_path / "map.assay")
    np.testing.assert_array_equal(again.transform(X[80:]), tsne.transform(X[80:]))
    assert again.get_params() == tsne.get_params()


def test_rows_are_kept_as_they_were_fitted():
    X, _ = groups(60)
    given = X.copy()
    tsne = TSNE().fit(given)
    places = tsne.transform(X[:5] + 0.1)
    given[:] = 0.0
    np.testing.assert_array_equal(tsne.transform(X[:5] + 0.1), places)


def test_names_of_the_columns_out_and_frames():
    X, _ = groups(40)
    tsne = TSNE().set_output(transform="pandas")
    assert list(tsne.fit(X).transform(X).columns) == ["tsne0", "tsne1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 4}, "n_components is 1, 2 or 3; got 4"),
        ({"perplexity": 30}, "perplexity must be less than n_samples=20; got 30"),
        ({"perplexity": "some"}, "perplexity is 'auto' or a number; got 'some'"),
        ({"init": "middle"}, "init is 'auto', 'pca', 'spectral', 'random' or an array; got 'middle'"),
        ({"init": np.zeros((3, 2))}, r"init needs one row of 2 for each of 20 points; it has shape \(3, 2\)"),
        ({"learning_rate": 0}, "learning_rate is 'auto' or a positive number; got 0"),
        ({"max_iter": 0}, "max_iter is a whole number of at least 1; got 0"),
        ({"early_exaggeration": 0.5}, "early_exaggeration is at least 1; got 0.5"),
        ({"exaggeration": 0.5}, "exaggeration is a number of at least 1; got 0.5"),
        ({"dof": 0.0}, "dof is a number of at least 0.1; got 0.0"),
        ({"dof": np.nan}, "dof is a number of at least 0.1; got nan"),
        ({"tol": -1.0}, "tol is at least 0; got -1.0"),
        ({"method": "tree"}, 'method is "auto", "exact" or "grid"; got \'tree\''),
        ({"metric": "cityblock"}, "metric must be"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises((ParameterError, DataError), match=message):
        TSNE(**options).fit(np.random.default_rng(0).standard_normal((20, 3)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_with_its_place(bad):
    X, _ = groups(20)
    X[7, 2] = bad
    with pytest.raises(DataError, match="row 7, column 2"):
        TSNE().fit(X)
    with pytest.raises(DataError, match="row 7, column 2"):
        TSNE().fit(groups(20)[0]).transform(X)


def test_a_start_from_principal_axes_needs_rows():
    with pytest.raises(ParameterError, match=r"init='pca' needs rows.*use 'spectral'"):
        TSNE(metric="precomputed", init="pca").fit(squareform(pdist(groups(30)[0])))


def test_a_given_start_is_used():
    X, _ = groups(60)
    start = np.random.default_rng(0).standard_normal((60, 2)) * 1e-4
    a, b = TSNE(init=start).fit_transform(X), TSNE(init=start * [-1.0, 1.0]).fit_transform(X)
    np.testing.assert_allclose(a, b * [-1.0, 1.0])  # the mirror image of a start leads to the mirror image
