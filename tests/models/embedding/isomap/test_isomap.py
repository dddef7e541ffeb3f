"""Isomap: exact geodesics, scikit-learn's eigenvalues, the swiss roll, pieces named, landmarks, new rows, edges."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform
from scipy.stats import special_ortho_group
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap as Peer

import assay
from assay import Graph, Isomap, Nearest, Within
from assay.errors import DataError, ParameterError
from assay.models.embedding.isomap import unrolling


def swiss(n, seed=0):
    """Rows on a swiss roll, and the flat sheet it was rolled from: arc length along the spiral, and height."""
    X, t = make_swiss_roll(n, random_state=seed)
    return X, np.column_stack([0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t)), X[:, 1]])


def two_groups(apart=100.0):
    rng = np.random.default_rng(0)
    return np.concatenate([rng.random((30, 2)), rng.random((12, 2)) + apart])


def test_the_swiss_roll_unrolls():
    X, sheet = swiss(1300)
    found = Isomap(3, graph=Nearest(10)).fit(X)
    flat, mapped, _ = procrustes(sheet, found.embedding_[:, :2])
    assert min(np.corrcoef(flat[:, j], mapped[:, j])[0, 1] for j in range(2)) > 0.99
    one, two, three = found.residual_variance_
    assert two < 0.1 * one and two < 0.002 and abs(three - two) < 0.1 * (one - two)


def test_eigenvalues_and_coordinates_are_scikit_learns_on_the_same_graph():
    X, _ = swiss(300)
    D = Nearest(8).graph(X).shortest_paths()
    # a graph of all pairs at their path lengths: scikit-learn then has the same geodesics
    peer = Peer(n_neighbors=299, n_components=3, metric="precomputed", eigen_solver="dense").fit(D)
    found = Isomap(3, graph=Nearest(8)).fit(X)
    np.testing.assert_allclose(found.eigenvalues_, peer.kernel_pca_.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(found.embedding_), np.abs(peer.embedding_), atol=1e-7 * np.abs(D).max())
    assert found.route_ == "exact"


def test_eigenvalues_of_more_rows_are_arpacks():
    X, _ = swiss(1100)
    squares = Nearest(8).graph(X).shortest_paths() ** 2
    centred = squares - squares.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    expected = eigsh(-centred / 2, 2, which="LA", v0=np.ones(1100) + X[:, 0], return_eigenvectors=False)[::-1]
    np.testing.assert_allclose(Isomap(2, graph=Nearest(8)).fit(X).eigenvalues_, expected, rtol=1e-9)


def test_residual_variance_is_that_of_the_explicit_pairs():
    X, _ = swiss(200)
    found = Isomap(3, graph=Nearest(6)).fit(X)
    D = Nearest(6).graph(X).shortest_paths()
    upper = np.triu_indices(200, 1)
    for j in range(3):
        r = np.corrcoef(D[upper], pdist(found.embedding_[:, : j + 1]))[0, 1]
        assert found.residual_variance_[j] == pytest.approx(1 - r * r, abs=1e-10)


def test_points_on_a_bent_line_get_their_arc_lengths():
    corners = np.array([[0.0, 0], [3, 0], [3, 4], [3, 8], [-1, 8]])
    found = Isomap(1, graph=Within(4.5)).fit(corners)
    mapped = found.embedding_[:, 0]
    np.testing.assert_allclose(np.abs(mapped - mapped[0]), [0, 3, 7, 11, 15], atol=1e-9)
    assert found.residual_variance_[0] < 1e-12
    line = Graph.of_edges([0, 1, 2, 3], [1, 2, 3, 4], [3.0, 4, 4, 4], meaning="distance")
    np.testing.assert_allclose(Isomap(1).fit_graph(line).embedding_[:, 0], mapped, atol=1e-9)


def test_links_along_a_grid_add_up_to_city_block_lengths():
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    found = Isomap(8, graph=Within(1.0)).fit(grid)
    blocks = pdist(grid, "cityblock")
    squares = squareform(blocks) ** 2
    centred = squares - squares.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.eigenvalues_, eigvalsh(-centred / 2)[::-1][:8], atol=1e-9)


def test_hops_on_a_path_graph_are_equal_steps():
    path = Graph.of_edges(range(6), range(1, 7), [5.0, 1, 9, 2, 7, 3], meaning="distance")
    found = Isomap(1, geodesics="hops").fit_graph(path)
    np.testing.assert_allclose(np.abs(np.diff(found.embedding_[:, 0])), np.ones(6), atol=1e-9)
    assert found.residual_variance_[0] < 1e-12
    alike = Graph.of_edges(range(6), range(1, 7))
    np.testing.assert_allclose(Isomap(1, geodesics="hops").fit_graph(alike).embedding_, found.embedding_, atol=1e-9)


def test_a_graph_of_all_rows_gives_classical_scaling_of_straight_distances():
    X = np.random.default_rng(0).standard_normal((40, 3))
    found = Isomap(3, graph=Nearest(39)).fit(X)
    np.testing.assert_allclose(pdist(found.embedding_), pdist(X), atol=1e-9)
    assert found.residual_variance_[-1] < 1e-12


def test_turned_moved_and_reordered_rows_have_the_same_map():
    X, _ = swiss(250)
    order = np.random.default_rng(1).permutation(250)
    plain = Isomap(graph=Nearest(7)).fit(X)
    turned = Isomap(graph=Nearest(7)).fit((X @ special_ortho_group.rvs(3, random_state=0) + 1000)[order])
    np.testing.assert_allclose(turned.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(pdist(turned.embedding_), pdist(plain.embedding_[order]), atol=1e-5)


@pytest.mark.parametrize("size", [1e-300, 1e-10, 1e150, 1e300])
def test_extreme_sizes_scale_the_map_and_nothing_else(size):
    X, _ = swiss(120)
    plain = Isomap(graph=Nearest(8)).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sized = Isomap(graph=Nearest(8)).fit(X / 32 * size)
    np.testing.assert_allclose(sized.embedding_ / size * 32, plain.embedding_, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(sized.residual_variance_, plain.residual_variance_, atol=1e-10)


@pytest.mark.parametrize("graph", [Nearest(5), Nearest(5, symmetry="mutual"), Within(0.5)])
@pytest.mark.parametrize("geodesics", ["length", "hops"])
@pytest.mark.parametrize("landmarks", [None, 20])
def test_rows_that_were_fitted_come_back_where_they_are(graph, geodesics, landmarks):
    X = two_groups()
    with pytest.warns(UserWarning, match="are left out"):
        found = Isomap(2, graph=graph, geodesics=geodesics, landmarks=landmarks).fit(X)
    with pytest.warns(UserWarning, match="linked to no row on the map"):
        again = found.transform(X)
    np.testing.assert_allclose(again, found.embedding_, atol=1e-8)


def test_a_new_row_takes_the_shortest_of_the_ways_over_its_neighbours():
    X, _ = swiss(300)
    new = X[:5] + 0.1
    found = Isomap(2, graph=Nearest(6)).fit(X)
    D = Nearest(6).graph(X).shortest_paths()
    edge = np.sqrt(np.sum((new[:, None] - X[None]) ** 2, axis=2))
    near = np.argsort(edge, axis=1)[:, :6]
    ways = np.take_along_axis(edge, near, axis=1)[:, :, None] + D[near]
    squares = np.min(ways, axis=1) ** 2
    vectors = found.embedding_ / np.sqrt(found.eigenvalues_)
    expected = 0.5 * ((D**2).mean(axis=0) - squares) @ vectors / np.sqrt(found.eigenvalues_)
    np.testing.assert_allclose(found.transform(new), expected, atol=1e-6)
    one_by_one = np.concatenate([found.transform(row[None]) for row in new])
    np.testing.assert_allclose(one_by_one, found.transform(new), atol=1e-9)


def test_new_rows_land_where_they_belong_on_the_sheet():
    X, sheet = swiss(1300)
    found = Isomap(2, graph=Nearest(10)).fit(X[:1000])
    together = np.concatenate([found.embedding_, found.transform(X[1000:])])
    assert procrustes(sheet, together)[2] < 0.002


@pytest.mark.parametrize("many", [3, 60])
def test_new_rows_of_a_landmark_map_do_not_depend_on_how_many_come(many):
    X, _ = swiss(400)
    found = Isomap(2, graph=Nearest(8), landmarks=30, random_state=0).fit(X)
    new = X[:60] + 0.05
    np.testing.assert_allclose(found.transform(new[:many]), found.transform(new)[:many], atol=1e-9)


def test_rows_without_a_path_are_named_and_get_no_coordinates():
    X = two_groups()
    with pytest.warns(
        UserWarning, match=r"12 of 42 rows \(30, 31, 32, 33, 34, \.\.\.\) have no path to the 30 on the"
    ) as w:
        found = Isomap(2, graph=Nearest(5)).fit(X)
    assert "Nearest(n_neighbors=5" in str(w[0].message) and w[0].filename == __file__
    np.testing.assert_array_equal(found.kept_, np.arange(30))
    np.testing.assert_array_equal(found.left_out_, np.arange(30, 42))
    assert np.isnan(found.embedding_[30:]).all() and np.isfinite(found.embedding_[:30]).all()
    alone = Isomap(2, graph=Nearest(5)).fit(X[:30])
    np.testing.assert_allclose(found.embedding_[:30], alone.embedding_, atol=1e-9)
    with pytest.warns(UserWarning, match=r"1 of 2 new rows \(1\) are linked to no row on the map at Nearest"):
        placed = found.transform([[0.5, 0.5], [100.5, 100.5]])
    assert np.isfinite(placed[0]).all() and np.isnan(placed[1]).all()


def test_auto_links_all_rows_where_up_to_forty_neighbours_do():
    rng = np.random.default_rng(0)
    groups = np.concatenate([rng.random((15, 2)), rng.random((15, 2)) + 50])
    found = Isomap(2).fit(groups)
    assert found.graph_ == Nearest(20) and len(found.left_out_) == 0
    assert Isomap(2).fit(groups[:15]).graph_ == Nearest(10)
    assert Isomap(2).fit(groups[:4]).graph_ == Nearest(3)
    with pytest.warns(UserWarning, match="60 of 120 rows"):
        assert Isomap(2).fit(np.concatenate([rng.random((60, 2)), rng.random((60, 2)) + 50])).graph_ == Nearest(10)


def test_landmarks_that_are_all_rows_give_the_exact_map():
    X, _ = swiss(150)
    exact, all_marks = Isomap(graph=Nearest(8), landmarks=None).fit(X), Isomap(graph=Nearest(8), landmarks=150).fit(X)
    np.testing.assert_allclose(all_marks.embedding_, exact.embedding_, atol=1e-9)
    np.testing.assert_allclose(all_marks.residual_variance_, exact.residual_variance_, atol=1e-12)


def test_a_few_landmarks_unroll_the_roll_too_and_are_recorded():
    X, sheet = swiss(2000)
    found = Isomap(graph=Nearest(10), landmarks=60, random_state=4).fit(X)
    assert found.route_ == "landmarks"
    assert len(np.unique(found.landmarks_)) == 60
    assert procrustes(sheet, found.embedding_)[2] < 0.002
    assert found.residual_variance_[1] < 0.005
    again = Isomap(graph=Nearest(10), landmarks=60, random_state=4).fit(X)
    np.testing.assert_array_equal(again.embedding_, found.embedding_)
    np.testing.assert_array_equal(again.landmarks_, found.landmarks_)


def test_landmarks_are_exact_for_points_of_a_plane():
    X = np.random.default_rng(0).random((80, 2))
    found = Isomap(2, graph=Nearest(79), landmarks=10).fit(X)
    np.testing.assert_allclose(pdist(found.embedding_), pdist(X), atol=1e-9)


@pytest.mark.parametrize("landmarks", [None, 100])
def test_single_precision_keeps_six_digits_of_the_eigenvalues(landmarks, monkeypatch):
    X, _ = swiss(1200)
    double = Isomap(graph=Nearest(10), landmarks=landmarks).fit(X)
    monkeypatch.setattr(unrolling, "DOUBLE_LIMIT", 1)
    single = Isomap(graph=Nearest(10), landmarks=landmarks).fit(X)
    assert single.route_ == double.route_ + ", single precision"
    np.testing.assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(single.embedding_, double.embedding_, atol=1e-4)
    np.testing.assert_allclose(single.residual_variance_, double.residual_variance_, atol=1e-6)


def test_residual_variance_of_many_rows_comes_from_some_of_their_pairs(monkeypatch):
    X, _ = swiss(600)
    whole = Isomap(3, graph=Nearest(8)).fit(X).residual_variance_
    monkeypatch.setattr(unrolling, "FIT_LIMIT", 600 * 300)
    np.testing.assert_allclose(Isomap(3, graph=Nearest(8)).fit(X).residual_variance_, whole, rtol=0.1, atol=1e-4)


def test_precomputed_distances_sparse_rows_and_frames_are_taken():
    X, _ = swiss(120)
    plain = Isomap(graph=Nearest(8)).fit(X)
    D = squareform(pdist(X))
    given = Isomap(graph=Nearest(8, metric="precomputed")).fit(D)
    np.testing.assert_allclose(given.embedding_, plain.embedding_, atol=1e-8)
    np.testing.assert_allclose(given.transform(D[:9]), plain.embedding_[:9], atol=1e-8)
    np.testing.assert_allclose(Isomap(graph=Nearest(8)).fit(csr_array(X)).embedding_, plain.embedding_, atol=1e-12)
    frame = Isomap(graph=Nearest(8)).set_output(transform="polars").fit_transform(pl.DataFrame(X))
    assert frame.columns == ["isomap0", "isomap1"]


def test_cosine_neighbours_see_directions_only():
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) + 0.1
    plain = Isomap(graph=Nearest(8, metric="cosine")).fit(X)
    stretched = Isomap(graph=Nearest(8, metric="cosine")).fit(X * rng.integers(1, 4, (60, 1)) * 2.0)
    np.testing.assert_allclose(stretched.embedding_, plain.embedding_, atol=1e-8)
    np.testing.assert_allclose(stretched.transform(X), plain.embedding_, atol=1e-7)


@pytest.mark.parametrize("landmarks", [None, 40])
def test_a_saved_map_places_new_rows_the_same(landmarks, tmp_path):
    X, _ = swiss(200)
    found = Isomap(landmarks=landmarks).fit(X)
    found.save(tmp_path / "map.assay")
    loaded = assay.load(tmp_path / "map.assay")
    np.testing.assert_array_equal(loaded.transform(X[:20] + 0.1), found.transform(X[:20] + 0.1))


def test_few_equal_and_constant_rows_have_a_map():
    two = Isomap(1).fit([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(np.abs(np.diff(two.embedding_[:, 0])), [5.0])
    np.testing.assert_allclose(Isomap(2).fit([[0.0], [3.0]]).embedding_[:, 1], 0.0)
    heap = Isomap(2).fit(np.ones((25, 3)))
    assert (heap.embedding_ == 0).all() and (heap.residual_variance_ == 0).all()
    assert (heap.transform(np.ones((2, 3))) == 0).all()
    doubled = np.repeat(np.random.default_rng(0).random((30, 2)), 2, axis=0)
    found = Isomap(2, graph=Nearest(8)).fit(doubled)
    np.testing.assert_allclose(found.embedding_[::2], found.embedding_[1::2], atol=1e-9)
    wide = Isomap(2).fit(np.random.default_rng(0).standard_normal((12, 500)))
    assert np.isfinite(wide.embedding_).all()
    alone = Isomap(1).fit_graph(Graph.of_edges([], [], n=1, meaning="distance"))
    assert alone.embedding_.tolist() == [[0.0]] and alone.residual_variance_.tolist() == [0.0]


def test_far_from_zero_the_map_is_the_same():
    X = np.round(swiss(150)[0] * 1024) / 1024
    near, far = Isomap(graph=Nearest(8)).fit(X), Isomap(graph=Nearest(8)).fit(X + 1e8)
    np.testing.assert_allclose(far.embedding_, near.embedding_, atol=1e-9)


def test_progress_is_told_and_can_stop_the_fit():
    X, _ = swiss(60)
    told = []
    Isomap().fit(X, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (60, 60)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Isomap().fit(X, progress=stop)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"n_components": 31}, ParameterError, r"n_components must be between 1 and 30 \(the rows linked with each"),
        ({"n_components": 0}, ParameterError, "n_components must be between 1"),
        ({"n_components": 1.5}, ParameterError, "n_components must be a whole number, is 1.5"),
        ({"graph": "knn"}, ParameterError, r"graph must be Nearest\(k\), Within\(radius\) or \"auto\", is 'knn'"),
        ({"graph": Nearest(5, symmetry=None)}, ParameterError, "hold both ways. Use symmetrised"),
        ({"graph": Within(1e-9)}, ParameterError, "between 1 and 1 .*Within"),
        ({"geodesics": "steps"}, ParameterError, 'geodesics must be "length" or "hops", is \'steps\''),
        ({"landmarks": "all"}, ParameterError, "landmarks must be a whole number, \"auto\" or None, is 'all'"),
        ({"landmarks": 31}, ParameterError, r"landmarks must be between 1 and 30 \(the rows on the map\), is 31"),
        ({"landmarks": 2}, ParameterError, "2 components need at least 3 landmarks, got 2"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_rule(options, error, text):
    with pytest.raises(error, match=text):
        Isomap(**options).fit(np.random.default_rng(0).random((30, 3)))


def test_rows_that_are_not_numbers_and_new_rows_of_a_graph_are_refused():
    X = np.random.default_rng(0).random((30, 3))
    X[4, 1] = np.nan
    with pytest.raises(DataError, match="row 4, column 1"):
        Isomap().fit(X)
    graph = Nearest(5).graph(np.random.default_rng(0).random((30, 3)))
    with pytest.raises(ParameterError, match="fitted on a graph, which says nothing about new rows"):
        Isomap().fit_graph(graph).transform(X)
    with pytest.raises(ParameterError, match="similarities have no length"):
        Isomap().fit_graph(graph.unweighted())


def test_more_paths_than_memory_holds_are_refused(monkeypatch):
    from assay.models.embedding.isomap import isomap

    monkeypatch.setattr(isomap, "EXACT_LIMIT", 100)
    with pytest.raises(DataError, match=r'paths between all 30 rows would take .* Use landmarks="auto"'):
        Isomap(landmarks=None).fit(np.random.default_rng(0).random((30, 3)))
