"""Spectral clustering: moons, rings and networks with known groups, scikit-learn as oracle, bounds as laws, edges."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import cluster
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import assay
from assay import DiffusionMap, Gaussian, Graph, Nearest, Precomputed, SpectralClustering, Within, conductance
from assay.errors import DataError, ParameterError
from assay.models.cluster.spectral.similarities import similarities


def communities(groups=3, size=40, inside=0.4, between=0.02, seed=0):
    """A network of groups that are linked more within than between, and the truth."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(groups), size)
    p = np.where(truth[:, None] == truth, inside, between)
    W = np.triu(rng.random(p.shape) < p, 1).astype(float)
    return Graph.of_adjacency(W + W.T), truth


def two_cliques(n=5, isolated=0):
    W = np.kron(np.eye(2), 1.0 - np.eye(n))
    W[n - 1, n] = W[n, n - 1] = 1.0
    whole = np.zeros((2 * n + isolated, 2 * n + isolated))
    whole[: 2 * n, : 2 * n] = W
    return Graph(sparse.csr_array(whole))


def islands(counts, seed=0):
    """Rows around centres far apart on a line, so many each."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal((30.0 * i, 0.0), 0.5, (n, 2)) for i, n in enumerate(counts)])


def scikit_learns(k, X, n_neighbors=10):
    with threadpool_limits(1):  # two threads on a busy machine wait for each other
        return cluster.SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=n_neighbors, random_state=0).fit(
            X
        )


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_moons_whose_graph_falls_apart_are_its_components(noise):
    X, y = make_moons(1_000, noise=noise, random_state=0)
    model = SpectralClustering(2).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.n_components_ == 2 and model.route_ == "components" and model.normalized_cut_ == 0.0
    np.testing.assert_array_equal(model.eigenvalues_, [0, 0])
    np.testing.assert_array_equal(model.cheeger_, [0, 0])


@pytest.mark.parametrize("seed", [0, 1])
def test_connected_moons_are_cut_better_than_by_scikit_learn(seed):
    X, _ = make_moons(3_000, noise=0.15, random_state=seed)
    peer = scikit_learns(2, X)
    graph = Graph.of_adjacency(peer.affinity_matrix_)
    model = SpectralClustering(2).fit_graph(graph)
    assert model.n_components_ == 1 and model.solver_ == "multilevel"
    assert model.normalized_cut_ <= conductance(graph, peer.labels_).normalized_cut


@pytest.mark.parametrize("noise", [0.0, 0.04])
@pytest.mark.parametrize(("graph", "kernel"), [(Nearest(8), None), (Within(0.3), None), (None, Gaussian(0.1))])
def test_rings_are_told_apart_along_every_graph(noise, graph, kernel):
    X, y = make_circles(400, noise=noise, factor=0.4, random_state=2)
    model = SpectralClustering(2, graph=graph, kernel=kernel).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.parametrize("laplacian", ["plain", "symmetric", "random-walk"])
def test_communities_are_found_with_every_laplacian(laplacian):
    graph, truth = communities()
    model = SpectralClustering(3, laplacian=laplacian).fit_graph(graph)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.route_ == "k-means"


def test_digits_are_grouped_as_well_as_by_scikit_learn():
    X, y = load_digits(return_X_y=True)
    peer = scikit_learns(10, X)
    graph = Graph.of_adjacency(peer.affinity_matrix_)
    model = SpectralClustering(10, random_state=0).fit_graph(graph)
    assert model.normalized_cut_ <= conductance(graph, peer.labels_).normalized_cut
    assert adjusted_rand_score(y, model.labels_) >= adjusted_rand_score(y, peer.labels_) - 0.02


def test_neighbours_averaged_are_scikit_learns_affinity():
    X, _ = make_moons(200, noise=0.1, random_state=0)
    theirs = scikit_learns(2, X, n_neighbors=7).affinity_matrix_
    theirs = theirs.toarray() - np.eye(200)  # they count a row as its own neighbour
    ours, _ = similarities(X, Nearest(6, symmetry="average"), None)
    np.testing.assert_array_equal(ours.toarray(), theirs)


@pytest.mark.parametrize("symmetry", ["union", "mutual"])
def test_counted_links_are_those_of_the_graph(symmetry):
    X = np.random.default_rng(0).random((100, 3))
    option = Nearest(5, symmetry=symmetry)
    ours, _ = similarities(X, option, None)
    np.testing.assert_array_equal(ours.toarray(), option.graph(X).unweighted().weights.toarray())


@given(st.integers(0, 2**31), st.integers(2, 4), st.booleans())
@settings(max_examples=15, deadline=None)
def test_no_groups_cut_less_than_the_bounds_say(seed, k, refine):
    graph, _ = communities(3, 8, 0.6, 0.2, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = SpectralClustering(k, refine=refine).fit_graph(graph)
    assert model.normalized_cut_ >= model.normalized_cut_bound_ - 1e-9
    assert model.conductance_.max() >= model.cheeger_[0] - 1e-9
    if k == 2 and model.n_components_ == 1:
        assert model.conductance_.max() <= model.cheeger_[1] + 1e-9  # what the sweep guarantees


def test_conductance_of_the_model_is_that_of_the_function():
    graph, _ = communities()
    model = SpectralClustering(3).fit_graph(graph)
    found = conductance(graph, model.labels_)
    np.testing.assert_allclose(model.conductance_, found.conductance)
    np.testing.assert_allclose(model.cut_, found.cut)
    np.testing.assert_allclose(model.volume_, found.volume)
    np.testing.assert_allclose(model.cheeger_, [found.lower, found.upper], rtol=1e-6)
    np.testing.assert_allclose(model.normalized_cut_, found.normalized_cut)


@pytest.mark.parametrize("k", [2, 5])
def test_refining_never_makes_the_cut_worse(k):
    X, _ = make_blobs(400, centers=5, cluster_std=2.5, random_state=1)
    rough, fine = (SpectralClustering(k, refine=refine).fit(X) for refine in (False, True))
    assert fine.normalized_cut_ < rough.normalized_cut_
    assert fine.conductance_.max() <= rough.conductance_.max()


@pytest.mark.parametrize("laplacian", ["plain", "symmetric", "random-walk"])
def test_eigenpairs_solve_their_equation(laplacian):
    graph, _ = communities()
    model = SpectralClustering(3, laplacian=laplacian).fit_graph(graph)
    L = graph.laplacian(laplacian)
    assert model.eigenvalues_[0] == 0.0 and (np.diff(model.eigenvalues_) > 0).all()
    if laplacian != "symmetric":  # rows of unit length are no eigenvectors any more
        Y = model.embedding_
        np.testing.assert_allclose(L @ Y, Y * model.eigenvalues_, atol=1e-9)
    else:
        np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1.0)
    assert model.residuals_.max() < 1e-9


@pytest.mark.parametrize("t", [0.0, 1.0, 2.5])
def test_the_embedding_is_the_diffusion_map_at_that_time(t):
    graph, _ = communities()
    model = SpectralClustering(4, t=t).fit_graph(graph)
    expected = DiffusionMap(3, density_exponent=0.0, t=t).fit_graph(graph)
    np.testing.assert_allclose(1 - model.eigenvalues_[1:], expected.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(np.abs(model.embedding_[:, 1:]), np.abs(expected.embedding_), atol=1e-7)


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_the_widest_gap_counts_communities(groups):
    graph, truth = communities(groups, 40, 0.5, 0.02)
    model = SpectralClustering("eigengap").fit_graph(graph)
    assert model.n_clusters_ == groups
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    values = model.eigenvalues_
    assert len(values) == 16
    np.testing.assert_allclose(model.eigengap_, values[groups] / values[groups - 1])
    assert model.eigengap_ == pytest.approx((values[2:] / values[1:-1]).max())


def test_a_graph_that_falls_apart_has_as_many_groups_as_components():
    model = SpectralClustering().fit(islands([60, 60, 60]))
    assert model.n_clusters_ == 3 and model.eigengap_ == np.inf and model.route_ == "components"
    np.testing.assert_array_equal(model.eigenvalues_[:3], 0.0)
    assert model.eigenvalues_[3] > 0.0


def test_fewer_components_than_groups_are_split_by_their_own_modes():
    X = islands([80, 40])
    X[60:80, 0] += 2.5  # the first island is two
    model = SpectralClustering(3, graph=Nearest(20)).fit(X)
    assert model.n_components_ == 2
    truth = np.repeat([0, 1, 2], [60, 20, 40])
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    first = model.component_labels_ == 0
    assert (model.embedding_[~first][:, [0, 2]] == 0).all()  # the third eigenvalue belongs to the first island


def test_more_components_than_groups_are_joined_by_nearness_with_a_warning():
    X = islands([30, 30, 30])
    X[60:, 0] += 500.0
    with pytest.warns(UserWarning, match="falls into 3 components, 2 groups were asked for: those nearest"):
        model = SpectralClustering(2).fit(X)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], [60, 30]))
    assert "joined" in model.notes_[0]


def test_without_rows_the_lightest_components_are_joined():
    graph = Graph.of_adjacency(np.kron(np.diag([1.0, 2.0, 9.0]), 1 - np.eye(4)))
    with pytest.warns(UserWarning, match="those of least weight were joined"):
        model = SpectralClustering(2).fit_graph(graph)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 0, 1], 4))


def test_specks_do_not_become_groups_and_follow_the_nearest_row():
    X = np.vstack([[[59.0, 60.0]], islands([100, 100, 100]), [[1.0, 90.0], [1.0, 90.1]]])
    X[1:101] += [0, 2]
    with pytest.warns(UserWarning, match=r"3 of 303 rows lie in components too small to be groups \(2 of them\)"):
        model = SpectralClustering(3, graph=Within(2.0)).fit(X)
    np.testing.assert_array_equal(model.specks_, [0, 301, 302])
    np.testing.assert_array_equal(model.labels_[1:301], np.repeat([1, 2, 0], 100))
    np.testing.assert_array_equal(model.labels_[model.specks_], [0, 1, 1])
    assert np.isnan(model.embedding_[model.specks_]).all()
    assert model.n_components_ == 5


def test_specks_of_a_network_belong_nowhere():
    with pytest.warns(UserWarning, match="They are labelled -1; see specks_"):
        model = SpectralClustering(2).fit_graph(two_cliques(isolated=2))
    np.testing.assert_array_equal(model.labels_, [0] * 5 + [1] * 5 + [-1, -1])
    np.testing.assert_allclose(model.conductance_, 1 / 21)


def test_specks_do_not_count_in_the_eigengap():
    with pytest.warns(UserWarning, match="2 of 12 rows"):
        model = SpectralClustering().fit_graph(two_cliques(isolated=2))
    assert model.n_clusters_ == 2 and (model.labels_[-2:] == -1).all()


def test_every_component_is_a_group_if_asked():
    model = SpectralClustering(3, min_share=0).fit_graph(two_cliques(isolated=2))
    np.testing.assert_array_equal(model.labels_, [0] * 10 + [1, 2])


def test_values_beside_groups_stay_with_their_labels_where_a_speck_comes_first():
    """The first row is a speck of what would be the second group; groups are numbered anew."""
    X = np.vstack([[[30.0, 9.0]], islands([60, 120])])
    with pytest.warns(UserWarning, match="1 of 181 rows"):
        model = SpectralClustering(2, graph=Within(1.5)).fit(X)
    assert model.labels_[0] == 0 and model.labels_[-1] == 0 and model.labels_[1] == 1
    assert model.volume_[0] > model.volume_[1]


def test_order_shift_and_scale_of_rows_do_not_matter():
    X, _ = make_moons(300, noise=0.12, random_state=3)
    model = SpectralClustering(2).fit(X)
    order = np.random.default_rng(0).permutation(300)
    for other in (SpectralClustering(2).fit(X[order]).labels_, SpectralClustering(2).fit(1e3 * X + 1e8).labels_[order]):
        assert adjusted_rand_score(model.labels_[order], other) > 0.999


def test_groups_are_numbered_by_their_first_rows_and_repeat():
    X, _ = make_blobs(300, centers=6, random_state=0)
    first, second = (SpectralClustering(6, random_state=4).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, second.labels_)
    _, places = np.unique(first.labels_, return_index=True)
    assert (np.diff(places) > 0).all()


def test_precomputed_similarities_and_distances_give_what_rows_give():
    X, _ = make_moons(150, noise=0.1, random_state=0)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    by_rows = SpectralClustering(2, graph=Nearest(6)).fit_predict(X)
    by_distance = SpectralClustering(2, graph=Nearest(6, metric="precomputed")).fit_predict(D)
    np.testing.assert_array_equal(by_distance, by_rows)
    K = Gaussian(0.2)(X)
    by_kernel = SpectralClustering(2, graph=None, kernel=Gaussian(0.2)).fit_predict(X)
    np.testing.assert_array_equal(SpectralClustering(2, graph=None, kernel=Precomputed()).fit_predict(K), by_kernel)


def test_lengths_of_a_network_count_by_the_kernel_or_not_at_all():
    X, _ = make_moons(200, noise=0.1, random_state=0)
    lengths = Nearest(8).graph(X)
    counted = SpectralClustering(2).fit_graph(lengths)
    assert "Lengths of edges were not used" in counted.notes_[0]
    np.testing.assert_array_equal(counted.labels_, SpectralClustering(2, graph=Nearest(8)).fit_predict(X))
    weighed = SpectralClustering(2, kernel=Gaussian(0.1)).fit_graph(lengths)
    np.testing.assert_allclose(
        weighed.volume_.sum(),
        2 * np.exp(-(np.triu(lengths.weights.toarray()) ** 2) / 0.02)[np.triu(lengths.weights.toarray()) > 0].sum(),
    )


def test_near_rows_count_more_with_a_kernel():
    X, _ = make_moons(300, noise=0.1, random_state=0)
    W, _ = similarities(X, Nearest(8), Gaussian(0.1))
    lengths = Nearest(8).graph(X).weights
    np.testing.assert_allclose(W.data, np.exp(-(lengths.data**2) / 0.02))


def test_a_network_read_from_a_file_is_grouped(tmp_path):
    path = tmp_path / "edges.csv"
    edges = ["ann,bob", "bob,cid", "cid,ann", "dan,eve", "eve,fay", "fay,dan", "cid,dan"]
    path.write_text("\n".join(["from,to", *edges]) + "\n")
    model = SpectralClustering(2).fit(assay.read_network(path))
    assert model.notes_ == ("Edges lead one way and were taken both ways, the stronger of two.",)
    groups = {name: int(label) for name, label in zip(model.names_, model.labels_, strict=True)}
    assert groups == {"ann": 0, "bob": 0, "cid": 0, "dan": 1, "eve": 1, "fay": 1}


def test_self_loops_and_weak_links_are_no_obstacle():
    W = np.kron(np.eye(2), np.ones((4, 4)))  # with loops
    W[3, 4] = W[4, 3] = 1e-20  # beside links of 1 nothing
    model = SpectralClustering(2).fit_graph(Graph.of_adjacency(W))
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 4))
    assert model.n_components_ == 2


def test_few_rows():
    one = SpectralClustering(1).fit([[1.0, 2.0]])
    np.testing.assert_array_equal(one.labels_, [0])
    assert np.isnan(one.cheeger_).all()
    np.testing.assert_array_equal(SpectralClustering(2).fit([[1.0], [3.0]]).labels_, [0, 1])
    assert SpectralClustering().fit([[1.0], [3.0]]).n_clusters_ == 1
    np.testing.assert_array_equal(SpectralClustering(4).fit(np.arange(4.0)[:, None]).labels_, [0, 1, 2, 3])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_very_small_and_very_large_rows(scale):
    model = SpectralClustering(2).fit(islands([30, 30]) * scale)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 30))


def test_wide_and_repeated_rows():
    rng = np.random.default_rng(0)
    wide = np.vstack([rng.normal(0, 1, (12, 2_000)), rng.normal(1, 1, (12, 2_000))])
    np.testing.assert_array_equal(SpectralClustering(2, graph=Nearest(5)).fit(wide).labels_, np.repeat([0, 1], 12))
    twice = np.repeat([[0.0, 0.0], [5.0, 5.0]], 20, axis=0)
    np.testing.assert_array_equal(SpectralClustering(2).fit(twice).labels_, np.repeat([0, 1], 20))
    with pytest.warns(UserWarning, match="Only 2 rows are distinct: 3 groups have to part equal rows. Ask for fewer"):
        assert SpectralClustering(3).fit(twice).n_clusters_ == 3


def test_groups_that_the_graph_does_not_keep_together_are_called_so():
    graph = Graph.of_adjacency(1.0 - np.eye(12))
    model = SpectralClustering(3).fit_graph(graph)
    assert "More than half of the weight of group 0, 1, 2 leaves it" in model.notes_[0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_clusters": 9}, r"n_clusters must be between 1 and 8 \(the rows\), is 9"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number, is 2.5"),
        ({"n_clusters": "many"}, "n_clusters must be a whole number or \"eigengap\", is 'many'"),
        ({"graph": "knn"}, r"graph must be Nearest\(k\) with a symmetry, Within\(radius\), None for all pairs, or"),
        ({"graph": Nearest(3, symmetry=None)}, "with a symmetry"),
        ({"graph": Nearest(9)}, "k=9 neighbours need at least 9 other rows, there are 7"),
        ({"kernel": Precomputed()}, r"kernel must be Gaussian\(\) or None along a graph"),
        ({"laplacian": "normed"}, "laplacian must be one of plain, symmetric, random-walk; is 'normed'"),
        ({"t": -1.0}, "t is a finite number of at least 0; got -1.0"),
        ({"min_share": 1.5}, "min_share is a number from 0 to 1; got 1.5"),
        ({"max_clusters": 1}, "max_clusters is a whole number of at least 2; got 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        SpectralClustering(**options).fit(np.random.default_rng(0).random((8, 2)))


def test_unusable_data_are_refused():
    with pytest.raises(DataError, match="row 1, column 0 .* is NaN"):
        SpectralClustering(2).fit([[0.0], [np.nan], [1.0]])
    with pytest.raises(DataError, match="similarities must not be negative: rows 0 and 1 have -1"):
        SpectralClustering(2, graph=None, kernel=Precomputed()).fit([[1.0, -1.0], [-1.0, 1.0]])
    with pytest.raises(DataError, match="all pairs of 5001 rows are too many"):
        SpectralClustering(2, graph=None).fit(np.zeros((5_001, 1)))
    with pytest.raises(ParameterError, match=r"kernel must be Gaussian\(\) or None along a graph"):
        SpectralClustering(2, kernel="linear").fit_graph(Graph.of_edges([0, 1], [1, 2], meaning="distance"))
    with pytest.raises(ParameterError, match=r"n_clusters must be between 1 and 3 \(the nodes\), is 4"):
        SpectralClustering(4).fit_graph(Graph.of_edges([0, 1], [1, 2]))
