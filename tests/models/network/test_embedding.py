"""Network embedding: the law of each form, SciPy and scikit-learn as oracles, components, direction, real networks."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh, subspace_angles
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA as PeerPCA
from sklearn.manifold import spectral_embedding

import assay
from assay import Gaussian, Graph, Nearest, Within
from assay.errors import DataError, ParameterError
from assay.models.network.embedding import NetworkEmbedding

DATA = next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data"


def social(n=60, seed=0):
    """A connected network of random weights, with names."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.1), 1)
    W[np.arange(n - 1), np.arange(1, n)] += 0.2
    return Graph.of_adjacency(W + W.T, names=[f"node {i}" for i in range(n)])


def network(name):
    file = DATA / name
    if not file.exists():
        pytest.skip(f"needs {name}")
    return assay.read_network(file)


class TestLaplacian:
    @pytest.mark.parametrize("kind", ["plain", "symmetric", "random-walk"])
    def test_it_solves_its_equation_for_the_smallest_values_above_zero(self, kind):
        graph = social()
        model = NetworkEmbedding(3, laplacian=kind).fit_graph(graph)
        W = graph.weights.toarray()
        d = W.sum(axis=1)
        root = np.diag(1 / np.sqrt(d))
        L = {
            "plain": np.diag(d) - W,
            "symmetric": root @ (np.diag(d) - W) @ root,
            "random-walk": np.eye(len(d)) - W / d[:, None],
        }[kind]
        expected = np.sort(np.linalg.eigvals(L).real)[1:4]
        np.testing.assert_allclose(model.eigenvalues_, expected, atol=1e-10)
        np.testing.assert_allclose(L @ model.embedding_, model.embedding_ * model.eigenvalues_, atol=1e-10)
        assert model.residuals_.max() < 1e-10

    def test_the_random_walk_form_is_scikit_learns_spectral_embedding(self):
        graph = social(400)
        ours = NetworkEmbedding(3).fit_graph(graph).embedding_
        theirs = spectral_embedding(graph.weights.toarray(), n_components=3, random_state=0, eigen_solver="arpack")
        for a, b in zip(ours.T, theirs.T, strict=True):
            assert abs(np.corrcoef(a, b)[0, 1]) > 1 - 1e-9

    def test_a_ring_becomes_a_circle_and_a_grid_a_sheet(self):
        ring = NetworkEmbedding(2).fit_graph(Graph.of_edges(range(300), [*range(1, 300), 0])).embedding_
        assert np.ptp(np.hypot(*ring.T)) < 1e-9
        steps = np.linalg.norm(np.diff(ring, axis=0), axis=1)
        np.testing.assert_allclose(steps, steps[0], rtol=1e-7)
        i, j = np.divmod(np.arange(40 * 15), 15)
        right = [(a, a + 15) for a in range(39 * 15)]
        down = [(a, a + 1) for a in range(40 * 15) if j[a] < 14]
        grid = NetworkEmbedding(1, laplacian="plain").fit_graph(Graph.of_edges(*zip(*right, *down, strict=True)))
        assert abs(np.corrcoef(grid.embedding_[:, 0], np.cos(np.pi * (i + 0.5) / 40))[0, 1]) > 1 - 1e-9

    def test_nodes_in_another_order_get_the_same_coordinates(self):
        graph, order = social(), np.random.default_rng(1).permutation(60)
        moved = Graph.of_adjacency(graph.weights.toarray()[np.ix_(order, order)])
        for method in ("laplacian", "adjacency", "factor"):
            model = NetworkEmbedding(2, method=method)
            np.testing.assert_allclose(
                model.fit_graph(moved).embedding_, model.fit_graph(graph).embedding_[order], atol=1e-8
            )

    def test_moons_that_nearly_touch_are_parted_by_the_first_coordinate(self):
        X, side = make_moons(600, noise=0.09, random_state=0)
        model = NetworkEmbedding(1, graph=Nearest(12), kernel=Gaussian(0.08)).fit(X)
        assert model.eigenvalues_[0] < 1e-2
        agree = np.mean((model.embedding_[:, 0] > np.median(model.embedding_)) == side)
        assert max(agree, 1 - agree) > 0.98

    def test_what_is_not_linked_with_the_largest_component_gets_no_place_and_is_named(self):
        W = sp.block_diag([np.ones((2, 2)) - np.eye(2), social(20).weights, sp.csr_array((1, 1))])
        graph = Graph.of_adjacency(sp.csr_array(W), names=["left", "right", *(f"n{i}" for i in range(20)), "alone"])
        with pytest.warns(UserWarning, match=r"3 of 23 nodes \(left, right, alone\) have no path to the 20 embedded"):
            model = NetworkEmbedding(2).fit(graph)
        np.testing.assert_array_equal(model.left_out_, [0, 1, 22])
        assert np.isnan(model.embedding_[model.left_out_]).all()
        inside = NetworkEmbedding(2).fit_graph(social(20)).embedding_
        np.testing.assert_allclose(model.embedding_[2:22], inside, atol=1e-10)
        assert "have no path" in model.notes_[-1]
        for method in ("adjacency", "factor"):
            assert np.isfinite(NetworkEmbedding(2, method=method).fit(graph).embedding_).all()


class TestAdjacency:
    @pytest.mark.parametrize("n", [40, 600])
    def test_it_is_pca_of_the_rows_of_the_matrix(self, n):
        graph = social(n)
        model = NetworkEmbedding(3, method="adjacency").fit_graph(graph)
        peer = PeerPCA(3, svd_solver="full").fit(graph.weights.toarray())
        np.testing.assert_allclose(model.eigenvalues_, peer.explained_variance_, rtol=1e-9)
        scores = peer.transform(graph.weights.toarray())
        np.testing.assert_allclose(np.abs(model.embedding_), np.abs(scores), atol=1e-7)

    def test_nodes_with_the_same_links_fall_on_the_same_point_and_direction_counts(self):
        graph = Graph.of_edges([0, 1, 2, 3], [4, 4, 5, 5], directed=True)
        model = NetworkEmbedding(2, method="adjacency").fit_graph(graph)
        Z = model.embedding_
        np.testing.assert_allclose(Z[[0, 2, 4]], Z[[1, 3, 5]], atol=1e-12)
        assert np.linalg.norm(Z[0] - Z[2]) > 1
        assert model.notes_ == ("Edges lead one way: a node's row holds the edges that leave it.",)


class TestFactor:
    @pytest.mark.parametrize(("n", "k"), [(30, 4), (30, 30), (30, 20), (700, 5)])
    def test_it_gives_the_best_approximation_of_its_rank_signs_included(self, n, k):
        graph = social(n)
        W = graph.weights.toarray()
        model = NetworkEmbedding(k, method="factor").fit_graph(graph)
        F = model.embedding_
        error = np.linalg.norm(W - (F * np.sign(model.eigenvalues_)) @ F.T)
        values = np.sort(np.abs(eigh(W, eigvals_only=True)))
        np.testing.assert_allclose(error, np.linalg.norm(values[: n - k]), atol=1e-8)
        np.testing.assert_allclose((F**2).sum(axis=0), np.abs(model.eigenvalues_), atol=1e-9)
        assert np.all(np.diff(np.abs(model.eigenvalues_)) <= 1e-12)

    def test_two_sides_that_link_only_with_each_other_show_as_a_negative_eigenvalue(self):
        W = np.zeros((9, 9))
        W[:4, 4:] = W[4:, :4] = 1.0
        model = NetworkEmbedding(2, method="factor").fit(Graph.of_adjacency(W))
        np.testing.assert_allclose(np.sort(model.eigenvalues_), [-np.sqrt(20), np.sqrt(20)])
        side = model.embedding_[:, int(np.argmin(model.eigenvalues_))]
        assert np.all(side[:4] * side[4] < 0)
        assert model.notes_[-1].startswith("1 of 2 eigenvalues are negative")


def test_edges_one_way_are_taken_both_ways_with_a_note():
    graph = Graph.of_edges([0, 1, 2, 3], [1, 2, 3, 1], directed=True)
    model = NetworkEmbedding(2).fit(graph)
    np.testing.assert_array_equal(model.embedding_, NetworkEmbedding(2).fit(graph.symmetrised()).embedding_)
    assert model.notes_ == ("Edges lead one way and were taken both ways, the stronger of two.",)


def test_rows_are_linked_first_and_lengths_count_only_when_asked():
    X = np.random.default_rng(0).standard_normal((80, 3))
    model = NetworkEmbedding(2, graph=Nearest(7)).fit(X)
    assert model.graph_ == Nearest(7) and model.notes_[0].startswith("Lengths of edges were not used")
    plain = NetworkEmbedding(2).fit_graph(Nearest(7).graph(X).unweighted())
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    weighted = NetworkEmbedding(2, graph=Nearest(7), kernel=Gaussian()).fit(X)
    assert not weighted.notes_ and not np.allclose(weighted.embedding_, model.embedding_)
    assert np.isfinite(NetworkEmbedding(2, graph=Within(10.0)).fit(X).embedding_).all()


@pytest.mark.parametrize("change", [lambda X: X + 1e8, lambda X: X * 1e300, lambda X: X * 1e-300])
def test_shift_and_scale_of_rows_do_not_matter(change):
    X = np.round(np.random.default_rng(0).standard_normal((50, 3)) * 2**10) / 2**10
    base = NetworkEmbedding(2).fit(X).embedding_
    np.testing.assert_allclose(NetworkEmbedding(2).fit(change(X)).embedding_, base, atol=1e-8)


def test_few_rows_equal_rows_and_wide_rows_have_an_answer():
    assert NetworkEmbedding(1).fit([[0.0], [1.0]]).embedding_.shape == (2, 1)
    equal = NetworkEmbedding(2).fit(np.zeros((5, 2)))
    np.testing.assert_allclose(equal.eigenvalues_, 5 / 4)
    wide = np.random.default_rng(0).standard_normal((12, 3000))
    assert np.isfinite(NetworkEmbedding(2).fit(wide).embedding_).all()


def test_a_saved_model_comes_back_with_its_names(tmp_path):
    model = NetworkEmbedding(2, method="factor").fit(social())
    model.save(tmp_path / "net.assay")
    again = assay.load(tmp_path / "net.assay")
    np.testing.assert_array_equal(again.embedding_, model.embedding_)
    assert again.names_ == model.names_ and again.notes_ == model.notes_


def test_what_cannot_be_embedded_is_refused_in_words():
    graph = social(10)
    with pytest.raises(ParameterError, match=r"n_components must be between 1 and 9 \(one less than the nodes linked"):
        NetworkEmbedding(10).fit(graph)
    with pytest.raises(ParameterError, match=r"between 1 and 10 \(the nodes\), is 11"):
        NetworkEmbedding(11, method="factor").fit(graph)
    with pytest.raises(ParameterError, match="method must be one of laplacian, adjacency, factor; is 'tsne'"):
        NetworkEmbedding(method="tsne").fit(graph)
    with pytest.raises(ParameterError, match="laplacian must be one of plain, symmetric, random-walk; is 'round'"):
        NetworkEmbedding(laplacian="round").fit(graph)
    with pytest.raises(ParameterError, match="no two nodes are linked in this network"):
        NetworkEmbedding(1).fit(Graph.of_adjacency(np.zeros((3, 3))))
    with pytest.raises(ParameterError, match="graph must be Nearest"):
        NetworkEmbedding(graph=5).fit(np.zeros((4, 2)))
    with pytest.raises(DataError, match="row 1, column 0"):
        NetworkEmbedding().fit([[0.0], [np.nan], [1.0]])


def test_the_characters_of_a_book_lie_by_their_story():
    graph = network("game_of_thrones/asoiaf-book1-edges.csv")
    model = NetworkEmbedding(2).fit(graph)
    place = {name: model.embedding_[i] for i, name in enumerate(model.names_)}
    abroad = ["Daenerys-Targaryen", "Jorah-Mormont", "Drogo", "Viserys-Targaryen"]
    home = ["Eddard-Stark", "Robert-Baratheon", "Cersei-Lannister", "Sansa-Stark", "Tyrion-Lannister"]
    gap = np.mean([place[a] for a in abroad], axis=0) - np.mean([place[h] for h in home], axis=0)
    within = max(np.linalg.norm(place[a] - place[b]) for a in abroad for b in abroad)
    assert np.linalg.norm(gap) > 3 * within


def test_seven_thousand_voters_agree_with_a_full_decomposition_of_their_core():
    graph = network("web_graphs/wiki_vote.csv")
    with pytest.warns(UserWarning, match="have no path to the 7066 embedded"):
        model = NetworkEmbedding(2).fit(graph)
    # those with 40 links or more among themselves: few enough for LAPACK
    core = graph.symmetrised()
    for _ in range(60):
        core = core.subgraph(np.flatnonzero(core.links >= 40)).graph
    core = core.largest_component().graph
    ours = NetworkEmbedding(2, laplacian="symmetric").fit(core)
    values, vectors = eigh(core.laplacian("symmetric").toarray(), subset_by_index=[0, 2])
    np.testing.assert_allclose(ours.eigenvalues_, values[1:], atol=1e-10)
    assert subspace_angles(ours.embedding_, vectors[:, 1:]).max() < 1e-6
    np.testing.assert_allclose(model.eigenvalues_, [0.1005546, 0.1685881], atol=1e-7)


class TestRegularised:
    def test_it_solves_its_equation_for_the_largest_values_but_one(self):
        graph = social()
        model = NetworkEmbedding(3, regularise=1.5).fit_graph(graph)
        W = graph.weights.toarray()
        d = W.sum(axis=1)
        values = eigh(W, np.diag(d + 1.5 * d.mean()), eigvals_only=True)[::-1]
        np.testing.assert_allclose(model.eigenvalues_, 1 - values[1:4], atol=1e-9)
        Y = model.embedding_
        # residuals of a symmetric problem of norm 1, scaled by roots of degrees of about 3
        np.testing.assert_allclose(W @ Y, (d + 1.5 * d.mean())[:, None] * Y * (1 - model.eigenvalues_), atol=1e-7)

    def test_a_tail_that_hangs_by_a_link_no_longer_takes_a_coordinate(self):
        rng = np.random.default_rng(0)
        block = np.kron(np.eye(2), np.ones((30, 30)))
        W = np.triu(rng.random((60, 60)) < 0.1 + 0.4 * block, 1).astype(float)
        tail = np.zeros((66, 66))
        tail[:60, :60] = W
        tail[59, 60] = 1.0
        tail[np.arange(60, 65), np.arange(61, 66)] = 1.0
        graph = Graph.of_adjacency(tail + tail.T)
        groups = np.repeat([0, 1], 30)

        def told(model):
            first = model.fit_graph(graph).embedding_[:60, 0]
            return abs(np.corrcoef(first > np.median(first), groups)[0, 1]), np.abs(model.embedding_[:, 0]).argmax()

        plain, regularised = told(NetworkEmbedding(1)), told(NetworkEmbedding(1, regularise=1.0))
        assert plain[1] >= 60 > regularised[1]
        assert regularised[0] > 0.85

    def test_what_it_cannot_be_is_refused(self):
        for wrong in (-1.0, np.inf, "1", True):
            with pytest.raises(ParameterError, match="regularise must be a number from 0 on"):
                NetworkEmbedding(1, regularise=wrong).fit_graph(social())
        with pytest.raises(ParameterError, match="the plain Laplacian has no degrees to add to"):
            NetworkEmbedding(1, regularise=1.0, laplacian="plain").fit_graph(social())
