"""Nearest neighbours: a brute-force oracle in exact order, both ways to the last bit, ties and extremes."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

import assay.summary.distances.neighbours as room
from assay.engine.local import in_threads
from assay.errors import DataError, ParameterError
from assay.summary.distances import _blocked
from assay.summary.distances.distances import unit_scale
from assay.summary.distances.neighbours import nearest_neighbours, neighbours_within

RNG = np.random.default_rng(0)
ANGLES = RNG.uniform(0, 7, 300)
TABLES = {
    "normal": RNG.standard_normal((600, 7)),
    "wide": RNG.standard_normal((300, 60)),
    "shifted by 1e8": RNG.standard_normal((500, 5)) + 1e8,
    "a grid full of ties": RNG.integers(0, 4, (500, 3)) * 1.0,
    "binary": RNG.integers(0, 2, (500, 30)) * 1.0,
    "a circle about a point": np.vstack([np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]), np.zeros((1, 2))]),
    "all rows equal": np.ones((120, 3)),
    "half the rows equal": np.vstack([np.zeros((200, 4)), RNG.standard_normal((200, 4))])[RNG.permutation(400)],
    "clusters 1e6 apart": np.repeat(RNG.standard_normal((5, 20)) * 1e6, 80, 0) + RNG.standard_normal((400, 20)),
    "clusters 1e14 apart": np.repeat(RNG.standard_normal((5, 3)) * 1e14, 80, 0) + RNG.standard_normal((400, 3)),
    "an outlier": np.vstack([RNG.standard_normal((300, 6)), np.full((1, 6), 1e30)]),
    "in order": np.sort(RNG.standard_normal((1200, 1)), axis=0)[::-1].copy(),
    "1e300": RNG.standard_normal((150, 3)) * 1e300,
    "1e-300": RNG.standard_normal((150, 3)) * 1e-300,
    "a huge constant column": np.column_stack([np.full(150, 1e300), RNG.standard_normal((150, 2)) * 1e-20]),
    "float32": RNG.standard_normal((300, 9)).astype(np.float32),
}


def direct(X):
    """All distances from differences, by SciPy, in units of a power of two that keeps squares within floats."""
    X = np.asarray(X, dtype=float)
    scale = unit_scale(X)
    return cdist(X * scale, X * scale) / scale


def of_all_pairs(X, k):
    """The way of few rows, which is taken where a tree would not be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "_route", lambda *_: "blocked")
        patch.setattr(room, "FEW", np.inf)
        return nearest_neighbours(X, k)


def assert_nearest(D, found, k):
    """Indices and distances are those of sorting all distances; only neighbours equally far up to rounding may swap."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    expected = np.sort(D, axis=1)[:, :k]
    np.testing.assert_allclose(found.distances, expected, rtol=1e-13)
    np.testing.assert_allclose(np.take_along_axis(D, found.indices, 1), expected, rtol=1e-13)
    assert all(len(set(row)) == k for row in found.indices.tolist())
    # (distance, number) ascends strictly along each row
    step, number = np.diff(found.distances, axis=1), np.diff(found.indices, axis=1)
    assert ((step > 0) | ((step == 0) & (number > 0))).all()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("k", [1, 20])
def test_all_ways_find_the_nearest_and_agree_to_the_last_bit(name, k):
    X = TABLES[name]
    tree, blocked = (nearest_neighbours(X, k, route=route) for route in ("tree", "blocked"))
    pairs = of_all_pairs(X, k)
    assert (tree.route, blocked.route, pairs.route) == ("tree", "blocked", "pairs")
    assert_nearest(direct(X), tree, k)
    for other in (blocked, pairs):
        np.testing.assert_array_equal(tree.indices, other.indices)
        np.testing.assert_array_equal(tree.distances, other.distances)


def test_few_rows_are_searched_without_anything_compiled(monkeypatch):
    X = TABLES["float32"]
    monkeypatch.setattr(room, "nearest_blocked", None)
    assert nearest_neighbours(X, 3).route == nearest_neighbours(X, 3, among=X[:50]).route == "pairs"


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 5), st.integers(1, 4), st.data())
def test_ties_go_to_the_lower_row_number(seed, n, d, values, data):
    X = np.random.default_rng(seed).integers(0, values, (n, d)) * 1.0  # whole numbers: distances are exact
    k = data.draw(st.integers(1, n - 1))
    D = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(D, np.inf)
    expected = np.argsort(D, axis=1, kind="stable")[:, :k]
    for route in ("tree", "blocked"):
        np.testing.assert_array_equal(nearest_neighbours(X, k, route=route).indices, expected)
    np.testing.assert_array_equal(of_all_pairs(X, k).indices, expected)


def test_copies_are_at_distance_exactly_zero_far_from_zero():
    X = np.repeat(RNG.standard_normal((40, 12)) + 1e8, 3, axis=0)
    for route in ("tree", "blocked"):
        found = nearest_neighbours(X, 3, route=route)
        assert not found.distances[:, :2].any() and found.distances[:, 2].all()
        np.testing.assert_array_equal(found.indices[:, :2] // 3, np.arange(120)[:, None].repeat(2, axis=1) // 3)


def test_digits_have_the_neighbours_that_scikit_learn_finds():
    X = load_digits().data
    distances, _ = NearestNeighbors(n_neighbors=31, algorithm="brute").fit(X).kneighbors(X)
    found = nearest_neighbours(X, 30)
    assert found.route == "blocked"
    np.testing.assert_allclose(found.distances, distances[:, 1:], rtol=1e-6)


def test_new_rows_are_searched_among_the_old_ones():
    X, new = TABLES["normal"], RNG.standard_normal((33, 7))
    distances, indices = cKDTree(X).query(new, k=4)
    for route in ("tree", "blocked"):
        found = nearest_neighbours(new, 4, among=X, route=route)
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_allclose(found.distances, distances, rtol=1e-13)
    assert not nearest_neighbours(X, 1, among=X).distances.any()
    assert nearest_neighbours(new, len(X), among=X).indices.shape == (33, 600)


def test_the_order_of_the_rows_does_not_matter():
    X = TABLES["normal"]
    shuffle = RNG.permutation(len(X))
    found, shuffled = nearest_neighbours(X, 5, route="blocked"), nearest_neighbours(X[shuffle], 5, route="blocked")
    np.testing.assert_array_equal(shuffle[shuffled.indices], found.indices[shuffle])


def test_all_others_can_be_asked_for():
    X = TABLES["all rows equal"]
    for route in ("tree", "blocked"):
        found = nearest_neighbours(X, 119, route=route)
        np.testing.assert_array_equal(found.indices, [[j for j in range(120) if j != i] for i in range(120)])
    np.testing.assert_array_equal(nearest_neighbours([[0.0], [1.0]], 1).indices, [[1], [0]])


def test_bounds_too_loose_for_single_precision_move_the_search_to_double(monkeypatch):
    used = []
    original = _blocked.Bounds.of
    monkeypatch.setattr(
        _blocked.Bounds, "of", staticmethod(lambda rows, dtype: used.append(dtype) or original(rows, dtype))
    )
    nearest_neighbours(TABLES["normal"], 5, route="blocked")
    assert used == [np.float32]
    nearest_neighbours(np.repeat(TABLES["clusters 1e6 apart"], 3, axis=0) + RNG.random((1200, 1)), 3, route="blocked")
    assert used == [np.float32, np.float32, np.float64]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["normal", "wide", "clusters 1e6 apart", "an outlier", "binary"])
def test_what_the_product_gives_is_a_lower_bound_within_its_slack(name, dtype):
    X = TABLES[name] * unit_scale(TABLES[name])
    bounds = _blocked.Bounds.of(X, dtype)
    factors, reach = bounds.queries(X)
    low = np.concatenate([block.astype(float) for _, block in bounds.blocks(factors)], axis=1)
    exact = cdist(X.astype(np.longdouble), X[bounds.ids].astype(np.longdouble), "sqeuclidean")
    a, b, c, underflow, _ = bounds.slack
    room_for_reach = c * reach[:, None] ** 2 + underflow
    low += reach[:, None] ** 2
    width = a * bounds.norms**2 + b * np.multiply.outer(reach, bounds.norms)
    assert (low <= exact + room_for_reach).all()
    assert (exact <= low + width + room_for_reach).all()


def test_searching_all_copies_finds_what_searching_the_first_ones_does(monkeypatch):
    X = TABLES["half the rows equal"]
    found = nearest_neighbours(X, 3, route="blocked")
    monkeypatch.setattr(room, "_copies", lambda Y: (np.arange(len(Y)), np.zeros(len(Y), np.int64)))
    np.testing.assert_array_equal(nearest_neighbours(X, 3, route="blocked").indices, found.indices)


@pytest.mark.parametrize("name", TABLES)
def test_pairs_within_a_radius_are_all_pairs_within_it(name):
    X = TABLES[name]
    D = direct(X)
    radius = float(np.quantile(D[D > 0], 0.02)) * 1.000001 if (D > 0).any() else 0.0
    expected = (radius >= D) & ~np.eye(len(X), dtype=bool)
    tree, blocked = (neighbours_within(X, radius, route=route) for route in ("tree", "blocked"))
    np.testing.assert_array_equal((tree.rows, tree.cols), np.nonzero(expected))
    np.testing.assert_allclose(tree.distances, D[expected], rtol=1e-13)
    for field in ("rows", "cols", "distances"):
        np.testing.assert_array_equal(getattr(tree, field), getattr(blocked, field))


def test_the_radius_itself_is_within():
    X = np.arange(5.0)[:, None] + 1e8
    for route in ("tree", "blocked"):
        assert len(neighbours_within(X, 1.0, route=route).rows) == 8
        assert len(neighbours_within(X, np.nextafter(1.0, 0), route=route).rows) == 0
        assert len(neighbours_within(X, 0.0, among=X, route=route).rows) == 5


def test_new_rows_within_a_radius_are_searched_among_the_old_ones():
    X, new = TABLES["normal"], RNG.standard_normal((33, 7))
    expected = np.nonzero(cdist(new, X) <= 1.5)
    for route in ("tree", "blocked"):
        found = neighbours_within(new, 1.5, among=X, route=route)
        np.testing.assert_array_equal((found.rows, found.cols), expected)


def test_a_radius_that_links_everything_is_refused_before_memory_runs_out(monkeypatch):
    monkeypatch.setattr(room, "PAIRS_LIMIT", 1000)
    for route in ("tree", "blocked"):
        with pytest.raises(DataError, match=r"more than 1000 pairs of rows are within 9 .* use a smaller radius"):
            neighbours_within(TABLES["normal"], 9.0, route=route)


def test_impossible_questions_are_refused_with_a_remedy():
    X = np.zeros((5, 2))
    with pytest.raises(ParameterError, match=r"k=5 neighbours need at least 5 other rows, there are 4; use k <= 4"):
        nearest_neighbours(X, 5)
    with pytest.raises(ParameterError, match=r"k=1 neighbours .* there are 0; give at least 2 rows"):
        nearest_neighbours(X[:1], 1)
    with pytest.raises(ParameterError, match=r"k=6 neighbours need at least 6 rows to search, there are 5"):
        nearest_neighbours(X, 6, among=X)
    for k in (0, 1.5, True):
        with pytest.raises(ParameterError, match=rf"k must be a whole number of at least 1, got {k}"):
            nearest_neighbours(X, k)
    with pytest.raises(ParameterError, match=r"the radius must be a finite number of at least 0, got -1"):
        neighbours_within(X, -1)
    with pytest.raises(ParameterError, match=r'route must be "auto", "tree" or "blocked", got \'ball\''):
        nearest_neighbours(X, 1, route="ball")
    with pytest.raises(DataError, match=r"X must be finite: row 0, column 1"):
        nearest_neighbours([[1.0, np.inf], [0.0, 0.0]], 1)
    with pytest.raises(DataError, match=r"among must have 2 columns"):
        nearest_neighbours(X, 1, among=np.zeros((4, 3)))


def test_an_error_in_one_thread_reaches_the_caller_and_the_rest_is_dropped():
    begun = []

    def work(start):
        begun.append(start)
        time.sleep(0.002)
        if start == 3:
            raise RuntimeError("three")
        return start

    with pytest.raises(RuntimeError, match="three"):
        in_threads(work, range(1000))
    assert len(begun) < 1000
