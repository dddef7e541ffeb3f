"""Agglomeration: SciPy's merges without its matrix, laws of each linkage, ties, and hostile data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist, squareform

from assay.errors import DataError, ParameterError
from assay.models.cluster.agglomerative import linkage as module
from assay.models.cluster.agglomerative import mutual_nearest
from assay.models.cluster.agglomerative.linkage import agglomerate, agglomerate_dissimilarities, from_condensed
from assay.optimize.team import Team
from assay.summary.graph import spanning_tree
from assay.summary.graph.merge_table import as_merges, cut

LINKAGES = ["single", "complete", "average", "ward"]


@pytest.fixture(params=[4096, 20], ids=["matrix", "search"])
def held(request, monkeypatch):
    """How many groups are few enough for a matrix: with 20, most merges are found by centres."""
    monkeypatch.setattr(module, "HELD_GROUPS", request.param)
    monkeypatch.setattr(module, "HELD_MOST", request.param)


def normal(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def apart(X, a, b, how):
    """The linkage of two groups by its definition."""
    D = cdist(X[a], X[b])
    if how == "ward":
        return np.sqrt(2 * len(a) * len(b) / (len(a) + len(b))) * np.linalg.norm(X[a].mean(axis=0) - X[b].mean(axis=0))
    return {"single": np.min, "complete": np.max, "average": np.mean}[how](D)


def groups(labels):
    return [np.flatnonzero(labels == g) for g in range(labels.max() + 1)]


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("how", LINKAGES)
@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (129, 1), (400, 4), (150, 70)])
def test_merges_are_scipys(how, shape):
    X = normal(*shape)
    ours, peer = agglomerate(X, how), linkage(X, how)
    np.testing.assert_array_equal(ours[:, [0, 1, 3]], peer[:, [0, 1, 3]])
    np.testing.assert_allclose(ours[:, 2], peer[:, 2], rtol=1e-12)


@pytest.mark.parametrize("how", LINKAGES)
def test_merges_of_dissimilarities_are_scipys(how):
    d = pdist(normal(120, 3), "cityblock")
    ours, peer = agglomerate_dissimilarities(squareform(d), how), linkage(d, how)
    np.testing.assert_array_equal(ours[:, [0, 1, 3]], peer[:, [0, 1, 3]])
    np.testing.assert_allclose(ours[:, 2], peer[:, 2], rtol=1e-12)


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 60), d=st.integers(1, 5), seed=st.integers(0, 999))
def test_the_sum_of_wards_squared_heights_is_twice_the_sum_of_squares(n, d, seed):
    X = normal(n, d, seed)
    heights = agglomerate(X, "ward")[:, 2]
    assert (heights**2).sum() / 2 == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


def test_single_linkage_heights_are_the_edges_of_the_spanning_tree():
    X = normal(500, 3)
    edges = np.sort(minimum_spanning_tree(cdist(X, X)).data)
    np.testing.assert_allclose(agglomerate(X, "single")[:, 2], edges, rtol=1e-12)


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("how", LINKAGES)
@pytest.mark.parametrize("levels", [3, 7])
def test_with_ties_every_merge_is_of_two_groups_that_are_nearest_then(how, levels):
    X = np.random.default_rng(0).integers(0, levels, (80, 3)).astype(float)
    merges = as_merges(agglomerate(X, how))
    for k in (80, 50, 21, 5, 2):
        parts = groups(cut(merges, n_clusters=k))
        nearest = min(apart(X, a, b, how) for i, a in enumerate(parts) for b in parts[:i])
        assert merges[80 - k, 2] == pytest.approx(nearest, abs=1e-12)


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("how", LINKAGES)
def test_each_height_is_the_linkage_of_the_two_groups(how):
    X = normal(90, 2)
    merges = agglomerate(X, how)
    members = [[i] for i in range(90)]
    for a, b, height, _ in merges:
        assert height == pytest.approx(apart(X, members[int(a)], members[int(b)], how))
        members.append(members[int(a)] + members[int(b)])


@pytest.mark.parametrize("how", LINKAGES)
def test_cophenetic_distances_are_ultrametric(how):
    D = squareform(cophenet(agglomerate(normal(40, 3), how)))
    assert (D[:, None, :] <= np.maximum(D[:, :, None], D[None, :, :])).all()


@pytest.mark.parametrize("how", LINKAGES)
def test_the_order_of_rows_does_not_matter_without_ties(how, held):
    X = normal(300, 3)
    order = np.random.default_rng(1).permutation(300)
    merges, shuffled = agglomerate(X, how), agglomerate(X[order], how)
    np.testing.assert_allclose(merges[:, 2], shuffled[:, 2], rtol=1e-12)
    inverse = np.argsort(order)
    for k in (3, 50, 200):
        a, b = cut(merges, n_clusters=k), cut(shuffled, n_clusters=k)[inverse]
        assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == k


@pytest.mark.parametrize("how", ["complete", "average", "ward"])
def test_the_number_of_threads_does_not_change_a_bit(how, held, monkeypatch):
    X = normal(2000, 3)
    tables = []
    for threads in (1, 3):
        monkeypatch.setattr(mutual_nearest, "Team", lambda threads=threads: Team(threads))
        monkeypatch.setattr(module, "Team", lambda threads=threads: Team(threads))
        tables.append(agglomerate(X, how))
    np.testing.assert_array_equal(*tables)


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("how", LINKAGES)
@pytest.mark.parametrize(
    "X",
    [
        pytest.param(normal(200, 3) + 1e8, id="shifted"),
        pytest.param(np.vstack([normal(200, 2), [[1e9, 0]]]), id="one far row"),
        pytest.param(np.vstack([normal(100, 2), normal(100, 2, 1) + 1e8]), id="two far groups"),
        pytest.param(np.column_stack([normal(100, 2), np.full(100, 1e12)]), id="a huge constant column"),
        pytest.param((1.05 ** np.arange(150.0))[:, None], id="a chain"),
    ],
)
def test_heights_keep_their_digits(how, X):
    np.testing.assert_allclose(agglomerate(X, how)[:, 2], linkage(X, how)[:, 2], rtol=1e-11)


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("how", LINKAGES)
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_very_large_and_very_small_rows_merge_as_others(how, size):
    X = normal(60, 3)
    scaled = agglomerate(X * size, how)
    np.testing.assert_array_equal(scaled[:, [0, 1, 3]], agglomerate(X, how)[:, [0, 1, 3]])
    np.testing.assert_allclose(scaled[:, 2] / size, agglomerate(X, how)[:, 2], rtol=1e-12)


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("how", LINKAGES)
def test_equal_rows_merge_at_height_zero_in_few_rounds(how):
    X = np.repeat(normal(3, 2), 200, axis=0)
    merges = as_merges(agglomerate(X, how))
    assert (merges[:597, 2] == 0).all() and (merges[597:, 2] > 0).all()
    assert (as_merges(agglomerate(np.ones((300, 2)), how))[:, 2] == 0).all()


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("how", ["complete", "average", "ward"])
def test_rows_that_are_all_equally_far_apart_merge_in_pairs(how, monkeypatch):
    rounds = []
    original = mutual_nearest.MutualNearest._search
    monkeypatch.setattr(
        mutual_nearest.MutualNearest, "_search", lambda self, *args: rounds.append(1) or original(self, *args)
    )
    assert agglomerate(np.eye(256), how)[0, 2] == pytest.approx(np.sqrt(2))
    assert len(rounds) < 30


def test_where_centres_tell_little_the_matrix_is_made_early(monkeypatch):
    monkeypatch.setattr(module, "HELD_GROUPS", 20)
    monkeypatch.setattr(module, "HELD_MOST", 300)
    held = []
    original = module.group_distances
    monkeypatch.setattr(module, "group_distances", lambda *args: held.append(len(args[1]) - 1) or original(*args))
    for X in (normal(400, 2), normal(400, 100)):
        np.testing.assert_allclose(agglomerate(X, "average")[:, 2], linkage(X, "average")[:, 2], rtol=1e-12)
    assert 20 <= held[0] < held[1] / 2 and held[1] <= 300


def test_where_single_precision_rules_nothing_out_the_tree_is_grown_in_double(monkeypatch):
    X = np.vstack([normal(3000, 2), [[1e12, 0.0]]])
    asked = []
    original = spanning_tree._gathered
    monkeypatch.setattr(spanning_tree, "_gathered", lambda *args: asked.append(args[-1]) or original(*args))
    lengths = np.sort(spanning_tree.spanning_tree(X).lengths)
    assert asked[0] is np.float32 and asked[-1] is np.float64
    np.testing.assert_allclose(lengths, linkage(X, "single")[:, 2], rtol=1e-12)


def test_one_row_has_no_merges():
    for how in LINKAGES:
        assert agglomerate(np.ones((1, 3)), how).shape == agglomerate_dissimilarities(np.zeros((1, 1)), how).shape
        assert agglomerate(np.ones((1, 3)), how).shape == (0, 4)


@pytest.mark.parametrize("how", LINKAGES)
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_very_large_and_very_small_dissimilarities_merge_as_others(how, size):
    D = squareform(pdist(normal(40, 2)))
    scaled = agglomerate_dissimilarities(D * size, how)
    np.testing.assert_allclose(scaled[:, 2] / size, agglomerate_dissimilarities(D, how)[:, 2], rtol=1e-12)


def test_dissimilarities_are_not_changed():
    D = squareform(pdist(normal(40, 2)))
    kept = D.copy()
    for how in LINKAGES:
        agglomerate_dissimilarities(D, how)
    np.testing.assert_array_equal(D, kept)


def test_condensed_dissimilarities_are_scipys():
    d = pdist(normal(9, 2))
    np.testing.assert_array_equal(from_condensed(d), squareform(d))
    with pytest.raises(DataError, match=r"n \(n - 1\) / 2 numbers; 7 is no such number. Those of 4 items would be 6"):
        from_condensed(np.ones(7))


def test_an_unknown_linkage_is_refused():
    with pytest.raises(ParameterError, match="linkage is one of 'ward', .*, 'centroid', 'median'; got 'mean'"):
        agglomerate(np.ones((3, 2)), "mean")
