"""DiffusionMap: the diffusion distance, analytic shapes, a dense oracle, new rows, broken walks, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.manifold import spectral_embedding

import assay
from assay import DiffusionMap, Gaussian, Graph, Nearest, Within
from assay.errors import DataError, ParameterError


def circle(angle):
    return np.column_stack([np.cos(angle), np.sin(angle)])


def cloud(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def walk(W, alpha):
    """The transition matrix and its stationary distribution, written out."""
    q = W.sum(axis=1)
    W = W / np.outer(q, q) ** alpha
    d = W.sum(axis=1)
    return W / d[:, None], d / d.sum()


def power(P, t):
    values, vectors = np.linalg.eig(P)
    return np.real(vectors @ np.diag(values.astype(complex) ** t) @ np.linalg.inv(vectors))


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("t", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_squared_map_distance_is_the_weighted_distance_of_the_walks(alpha, t):
    X = cloud(25, 2)
    found = DiffusionMap(24, sigma=0.4, density_exponent=alpha, t=t).fit(X)
    P, pi = walk(np.exp(-(cdist(X, X) ** 2) / (2 * 0.4**2)), alpha)
    steps = np.linalg.matrix_power(P, int(t)) if t == int(t) else power(P, t)
    np.testing.assert_allclose(
        cdist(found.embedding_, found.embedding_) ** 2, cdist(steps / np.sqrt(pi), steps / np.sqrt(pi)) ** 2, atol=1e-9
    )
    np.testing.assert_allclose(found.stationary_, pi, rtol=1e-12)


def test_the_distance_holds_on_a_graph_with_negative_eigenvalues_too():
    graph = Graph.of_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 4], [1.0, 2.0, 0.5, 1.0, 3.0])
    for t in (1, 2, 3):
        found = DiffusionMap(4, density_exponent=0.5, t=t).fit_graph(graph)
        assert found.eigenvalues_.min() < -0.5
        P, pi = walk(graph.weights.toarray(), 0.5)
        steps = np.linalg.matrix_power(P, t) / np.sqrt(pi)
        np.testing.assert_allclose(cdist(found.embedding_, found.embedding_), cdist(steps, steps), atol=1e-12)


@pytest.mark.parametrize("graph", [None, Nearest(12), Within(1.4)])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_eigenpairs_are_those_of_the_transition_matrix(graph, alpha):
    X = cloud()
    found = DiffusionMap(5, sigma=0.6, graph=graph, density_exponent=alpha, t=0.0).fit(X)
    D = cdist(X, X)
    W = np.exp(-(D**2) / (2 * 0.6**2))
    if isinstance(graph, Nearest):
        near = np.sort(D, axis=1)[:, [12]] >= D
        W *= near | near.T
    elif graph is not None:
        W *= D <= 1.4
    P, pi = walk(W, alpha)
    oracle = np.sort(np.linalg.eigvals(P).real)[::-1]
    np.testing.assert_allclose(found.eigenvalues_, oracle[1:6], atol=1e-12)
    np.testing.assert_allclose(P @ found.embedding_, found.embedding_ * found.eigenvalues_, atol=1e-10)
    np.testing.assert_allclose(found.embedding_.T @ np.diag(pi) @ found.embedding_, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(pi @ found.embedding_, 0.0, atol=1e-10)
    assert found.residual_ < 1e-10


def test_without_density_correction_or_time_it_is_the_spectral_embedding():
    X = cloud(80, 2)
    W = np.exp(-(cdist(X, X) ** 2) / 2)
    np.fill_diagonal(W, 0.0)  # the peer's Laplacian leaves self-similarities out
    ours = DiffusionMap(3, density_exponent=0.0, t=0.0).fit_graph(Graph.of_adjacency(W)).embedding_
    peer = spectral_embedding(W, n_components=3, eigen_solver="arpack", norm_laplacian=True)
    cosine = np.abs(np.sum(ours * peer, axis=0)) / np.linalg.norm(ours, axis=0) / np.linalg.norm(peer, axis=0)
    np.testing.assert_allclose(cosine, 1.0, atol=1e-9)


def test_a_circle_gives_pairs_of_cosines_with_the_eigenvalues_of_heat():
    angle = 2 * np.pi * np.arange(400) / 400
    found = DiffusionMap(6, sigma=0.1, t=0.0).fit(circle(angle))
    for pair, frequency in enumerate((1, 2, 3)):
        waves = circle(frequency * angle) * np.sqrt(2.0)
        coordinates = found.embedding_[:, 2 * pair : 2 * pair + 2]
        rotation = waves.T @ coordinates / 400
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(2), atol=1e-9)
        np.testing.assert_allclose(found.eigenvalues_[2 * pair], found.eigenvalues_[2 * pair + 1], rtol=1e-12)
    # lambda = exp(-sigma^2 mu / 2) with mu = 1, 4, 9, to the order of sigma^2
    np.testing.assert_allclose(np.log(found.eigenvalues_[::2]) * -2 / 0.1**2, [1.0, 4.0, 9.0], rtol=0.01)


def test_a_segment_gives_the_cosines_of_a_rod_with_closed_ends():
    x = np.linspace(0.0, 1.0, 800)
    found = DiffusionMap(3, sigma=0.01, t=0.0).fit(x[:, None])
    for j in (1, 2, 3):
        wave = np.sqrt(2.0) * np.cos(np.pi * j * x)
        assert abs(np.corrcoef(wave, found.embedding_[:, j - 1])[0, 1]) > 0.999
    ratios = np.log(found.eigenvalues_) / np.log(found.eigenvalues_[0])
    np.testing.assert_allclose(ratios, [1.0, 4.0, 9.0], rtol=0.01)
    np.testing.assert_allclose(-2 * np.log(found.eigenvalues_[0]) / 0.01**2, np.pi**2, rtol=0.05)


def test_a_density_exponent_of_one_takes_uneven_sampling_out():
    u = (np.arange(400) + 0.5) / 400
    angle = 2 * np.pi * u + 0.8 * np.sin(2 * np.pi * u)  # nine times denser on one side than on the other

    def unevenness(alpha):
        found = DiffusionMap(2, sigma=0.1, density_exponent=alpha, t=0.0).fit(circle(angle)).embedding_
        seen = np.unwrap(np.arctan2(found[:, 1], found[:, 0]))
        slope = np.polyfit(angle, seen, 1)[0]
        return np.std(seen - slope * angle)

    assert abs(unevenness(1.0)) < 0.02
    assert unevenness(1.0) < unevenness(0.5) / 3 < unevenness(0.0) / 3


@pytest.mark.parametrize(
    "graph", [None, Nearest(10), Nearest(14, symmetry="mutual"), Nearest(10, symmetry="average"), Within(1.6)]
)
@pytest.mark.parametrize("sigma", ["auto", "local", 0.7])
@pytest.mark.parametrize(("alpha", "t"), [(1.0, 1.5), (0.0, 0.0)])
def test_training_rows_given_again_get_their_coordinates(graph, sigma, alpha, t):
    X = cloud(90)
    found = DiffusionMap(4, graph=graph, sigma=sigma, density_exponent=alpha, t=t).fit(X)
    np.testing.assert_allclose(found.transform(X), found.embedding_, atol=1e-9 * np.abs(found.embedding_).max())


@pytest.mark.parametrize("graph", [None, Nearest(20), Within(0.3)])
def test_new_points_of_the_circle_fall_between_their_neighbours(graph):
    angle = 2 * np.pi * np.arange(200) / 200 + 1e-3 * np.random.default_rng(0).standard_normal(200)
    found = DiffusionMap(2, graph=graph, sigma=0.1).fit(circle(angle))
    new = found.transform(circle(angle[:50] + np.pi / 200))
    between = (found.embedding_[:50] + found.embedding_[1:51]) / 2
    np.testing.assert_allclose(new, between, atol=5e-3)


def test_a_row_far_from_all_others_goes_where_its_nearest_row_leads():
    X = cloud()
    found = DiffusionMap(2, sigma=0.5).fit(X)
    nearest = np.argmax(X[:, 0])
    P, _ = walk(np.eye(60), 0.0)
    far = found.transform([[1e8, 0.0, 0.0]])
    np.testing.assert_allclose(far[0], (P @ found.embedding_)[nearest] / found.eigenvalues_, rtol=1e-9)
    with pytest.raises(DataError, match="row 1 is linked with no training row"):
        DiffusionMap(2, graph=Within(2.0)).fit(X).transform([[0.0, 0.0, 0.0], [1e8, 0.0, 0.0]])


def test_new_nodes_are_placed_by_their_similarities():
    X = cloud()
    W = Gaussian(0.8)(X)
    graph = DiffusionMap(3, sigma=0.8).fit_graph(Graph.of_adjacency(W))
    rows = DiffusionMap(3, sigma=0.8).fit(X)
    np.testing.assert_allclose(graph.embedding_, rows.embedding_, atol=1e-9)
    new = cloud(5, seed=1)
    np.testing.assert_allclose(graph.transform(Gaussian(0.8)(new, X)), rows.transform(new), atol=1e-9)
    with pytest.raises(DataError, match="similarities of new nodes must not be negative"):
        graph.transform(-W)


@pytest.mark.parametrize("graph", [None, Nearest(8)])
def test_a_walk_in_parts_is_said_and_told_apart_by_the_first_coordinates(graph):
    X = np.vstack([cloud(30), cloud(25, seed=1) + 1e3, cloud(20, seed=2) - 1e3])
    found = DiffusionMap(4, graph=graph, sigma=1.0).fit(X)
    assert found.n_connected_ == 3
    np.testing.assert_array_equal(found.parts_, np.repeat([0, 1, 2], [30, 25, 20]))
    np.testing.assert_allclose(found.eigenvalues_[:2], 1.0, atol=1e-12)
    assert found.eigenvalues_[2] < 1.0 - 1e-6
    assert "the walk falls into 3 parts" in found.note_ and "coordinates up to number 2" in found.note_
    for part in range(3):
        np.testing.assert_allclose(np.ptp(found.embedding_[found.parts_ == part, :2], axis=0), 0.0, atol=1e-9)
    whole = DiffusionMap(2).fit(cloud())
    assert (whole.n_connected_, whole.note_) == (1, None)


def test_a_node_without_edges_stays_and_is_a_part():
    found = DiffusionMap(2).fit_graph(Graph.of_edges([0, 1], [1, 2], n=4))
    assert found.n_connected_ == 2
    np.testing.assert_array_equal(found.parts_, [0, 0, 0, 1])


def test_many_rows_take_the_way_of_neighbours_and_agree_with_all_pairs():
    angle = np.sort(np.random.default_rng(0).uniform(0, 2 * np.pi, 2100))
    many = DiffusionMap(2).fit(circle(angle))
    assert many.route_ == "neighbours" and many.n_neighbors_ == 23
    few = DiffusionMap(2).fit(circle(angle[::4]))
    assert few.route_ == "dense"
    for found in (many, few):
        assert np.std(np.linalg.norm(found.embedding_, axis=1)) < 0.05


def test_the_width_follows_the_stated_rule():
    X = cloud(150)
    D = np.sort(cdist(X, X), axis=1)
    found = DiffusionMap(2).fit(X)
    assert found.n_neighbors_ == 15  # 2 log2(150), rounded up
    assert found.sigma_ == pytest.approx(np.median(D[:, 15]) / 2)
    np.testing.assert_allclose(DiffusionMap(2, sigma="local").fit(X).sigma_, D[:, 15] / 2)
    assert DiffusionMap(2, graph=Nearest(6)).fit(X).sigma_ == pytest.approx(np.median(D[:, 6]) / 2)
    assert DiffusionMap(2, graph=Within(3.0)).fit(X).sigma_ == 1.5


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_dimension_seen_is_that_of_the_shape(d):
    flat = np.random.default_rng(d).uniform(size=(800, d)) @ np.linalg.qr(cloud(10, d))[0].T
    assert DiffusionMap(2).fit(flat).dimension_ == pytest.approx(d, rel=0.15)


@settings(max_examples=20)
@given(st.integers(5, 30), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from(["auto", "local"]))
def test_moved_rotated_or_scaled_rows_have_the_same_map(n, d, seed, sigma):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)) * 64) / 64
    values = DiffusionMap(3, sigma=sigma).fit(X).eigenvalues_
    rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
    np.testing.assert_allclose(DiffusionMap(3, sigma=sigma).fit(X + 2.0**26).eigenvalues_, values, atol=1e-7)
    np.testing.assert_allclose(DiffusionMap(3, sigma=sigma).fit(X @ rotation).eigenvalues_, values, atol=1e-7)
    for far in (2.0**-900, 2.0**900):
        np.testing.assert_allclose(DiffusionMap(3, sigma=sigma).fit(X * far).eigenvalues_, values, atol=1e-9)


def test_equal_rows_have_equal_coordinates_and_a_constant_table_has_none():
    X = np.repeat(cloud(4), 6, axis=0)
    for t in (0.0, 1.0):
        found = DiffusionMap(8, sigma=1.0, t=t).fit(X)
        np.testing.assert_allclose(found.embedding_, np.repeat(found.embedding_[::6], 6, axis=0), atol=1e-9)
        assert (found.eigenvalues_[3:] == 0.0).all() and (found.embedding_[:, 3:] == 0.0).all()
        assert (DiffusionMap(2, t=t).fit(np.ones((9, 2))).embedding_ == 0.0).all()
    assert DiffusionMap(1).fit(cloud(2)).embedding_.shape == (2, 1)
    assert DiffusionMap(2).fit(cloud(15, 600)).embedding_.shape == (15, 2)


def test_sparse_rows_sources_and_saved_models_answer_alike(tmp_path):
    X = cloud()
    for i, option in enumerate((None, Nearest(9), Within(2.0))):
        found = DiffusionMap(2, graph=option).fit(X)
        np.testing.assert_allclose(DiffusionMap(2, graph=option).fit(csr_array(X)).embedding_, found.embedding_)
        np.testing.assert_allclose(DiffusionMap(2, graph=option).fit(assay.read(X)).embedding_, found.embedding_)
        found.save(tmp_path / f"{i}.assay")
        np.testing.assert_array_equal(assay.load(tmp_path / f"{i}.assay").transform(X), found.transform(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 10}, r"n_components must be between 1 and 9 \(one less than the rows\), is 10"),
        ({"density_exponent": 1.5}, "density_exponent is a number from 0 to 1; got 1.5"),
        ({"density_exponent": "half"}, "density_exponent is a number from 0 to 1; got 'half'"),
        ({"t": -1}, "t is a finite number of at least 0; got -1"),
        ({"t": np.inf}, "t is a finite number of at least 0; got inf"),
        ({"sigma": 0.0}, "sigma is 'auto', 'local' or a positive number; got 0.0"),
        ({"sigma": "wide"}, "sigma is 'auto', 'local' or a positive number; got 'wide'"),
        ({"graph": 5}, r"graph is 'auto', Nearest\(k\), Within\(radius\), or None for all pairs; got 5"),
        ({"graph": Nearest(3, symmetry=None)}, "graph is of rows and undirected here"),
        ({"graph": Within(3.0, metric="precomputed")}, "make a Graph of similarities and use fit_graph"),
        ({"graph": Nearest(10)}, "k=10 neighbours need at least 10 other rows, there are 9"),
    ],
)
def test_wrong_options_are_refused_with_the_rule(options, message):
    with pytest.raises(ParameterError, match=message):
        DiffusionMap(**options).fit(cloud(10))


def test_graphs_that_cannot_be_walked_are_refused():
    with pytest.raises(ParameterError, match=r"undirected graph of similarities. Use weighted\(Gaussian\(\)\)"):
        DiffusionMap().fit_graph(Graph.nearest(cloud(10), 3))
    with pytest.raises(ParameterError, match="needs at least 2 nodes; got 1"):
        DiffusionMap().fit_graph(Graph.of_adjacency([[1.0]]))
    X = cloud()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        DiffusionMap().fit(X)
