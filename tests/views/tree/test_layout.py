"""Where the parts of a tree go: no branch crosses another, every row is behind one mark, chains do not break it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import pdist

from assay.errors import DataError, ParameterError
from assay.views.tree.canvas import HeightScale
from assay.views.tree.layout import MergeTree, choose, lay_out

RNG = np.random.default_rng(0)


def chain(n):
    """Leaf after leaf joins one trunk."""
    first = np.r_[0, np.arange(n, 2 * n - 2)]
    return np.column_stack([first, np.arange(1, n), np.arange(1.0, n), np.arange(2, n + 1)])


def leaves_under(tree, node):
    """The leaves of a node, found by walking down."""
    found, left = [], [node]
    while left:
        at = left.pop()
        left += [] if at < tree.n else tree.joined[at - tree.n].tolist()
        found += [at] if at < tree.n else []
    return sorted(found)


@st.composite
def trees(draw):
    n = draw(st.integers(2, 40))
    open_nodes, rows = list(range(n)), []
    size = dict.fromkeys(range(n), 1)
    for i in range(n - 1):
        a = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        b = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        size[n + i] = size[a] + size[b]
        rows.append([a, b, float(i // 2), size[n + i]])
        open_nodes.append(n + i)
    sizes = draw(st.lists(st.integers(1, 50), min_size=n, max_size=n)) if draw(st.booleans()) else None
    return MergeTree.of(rows, sizes), draw(st.integers(2, 45)), draw(st.sampled_from([None, 1, 3, 20]))


@settings(max_examples=60, deadline=None)
@given(trees(), st.sampled_from(["size", "table"]))
def test_every_row_is_behind_one_mark_and_no_branch_crosses_another(case, order):
    tree, most, least = case
    shown = choose(tree, most, least)
    found = lay_out(tree, shown, order=order)
    twigs = [node for nodes in found.twigs.values() for node in nodes]
    below = sorted(leaf for node in [*found.ends.tolist(), *twigs] for leaf in leaves_under(tree, node))
    assert below == list(range(tree.n))
    assert len(found.ends) == len(found.forks) + 1 <= max(most, 1)
    assert all(tree.rows[node] < shown.least for node in twigs)
    # the leaves of any node lie side by side
    for node in range(2 * tree.n - 1):
        first = found.first[node]
        assert sorted(found.order[first : first + tree.leaves[node]].tolist()) == leaves_under(tree, node)
    # ends keep that order and their marks do not overlap; a fork stands between its branches, over what is below
    place = found.place[found.ends]
    assert np.all(np.diff(found.first[found.ends]) > 0)
    assert np.all(np.diff(place) >= (found.breadth[1:] + found.breadth[:-1]) / 2)
    assert place[0] - found.breadth[0] / 2 >= 0 and place[-1] + found.breadth[-1] / 2 <= found.length
    np.testing.assert_allclose(found.breadth / found.breadth.sum(), tree.rows[found.ends] / tree.rows[found.ends].sum())
    spans = {}
    for node, at in zip(found.ends.tolist(), place, strict=True):
        spans[node] = (at, at)
    for fork, (a, b) in zip(found.forks[::-1].tolist(), found.branches[::-1].tolist(), strict=True):
        assert spans[a][1] < spans[b][0]
        assert spans[a][0] <= found.place[a] < found.place[fork] < found.place[b] <= spans[b][1]
        assert tree.height[fork] >= max(tree.height[a], tree.height[b])
        spans[fork] = (spans[a][0], spans[b][1])


def test_all_leaves_in_scipys_order_when_the_table_is_kept():
    X = RNG.standard_normal((40, 3))
    merges = optimal_leaf_ordering(linkage(X, "average"), pdist(X))
    tree = MergeTree.of(merges)
    found = lay_out(tree, choose(tree, 60), order="table")
    np.testing.assert_array_equal(found.order, leaves_list(merges))
    np.testing.assert_array_equal(found.ends, leaves_list(merges))


def test_of_two_parts_the_larger_comes_first_then_the_one_merged_lower_then_the_one_with_the_lower_number():
    tree = MergeTree.of([[3, 4, 1.0, 2], [0, 1, 2.0, 2], [2, 6, 3.0, 3], [7, 5, 4.0, 5]])
    assert lay_out(tree, choose(tree, 9)).order.tolist() == [0, 1, 2, 3, 4]
    tree = MergeTree.of([[2, 3, 1.0, 2], [0, 1, 2.0, 2], [4, 5, 4.0, 4]])
    assert lay_out(tree, choose(tree, 9)).order.tolist() == [2, 3, 0, 1]


def test_a_large_tree_shows_its_last_merges():
    X = np.vstack([RNG.standard_normal((150, 2)) + 20 * RNG.standard_normal(2) for _ in range(6)])
    tree = MergeTree.of(linkage(X, "ward"))
    shown = choose(tree, 12)
    assert shown.least == 1
    np.testing.assert_array_equal(np.flatnonzero(shown.forks), np.arange(len(X) - 12, len(X) - 1))


def test_where_these_only_shed_crumbs_merges_of_larger_parts_are_shown_instead():
    # two crowds, and three hundred lone rows around them that single linkage adds last, one by one
    crowds = [RNG.standard_normal((2000, 2)), RNG.standard_normal((1500, 2)) + np.array([12, 0])]
    angle = RNG.uniform(0, 2 * np.pi, 300)
    lone = np.stack([np.cos(angle), np.sin(angle)], axis=1) * RNG.uniform(40, 400, 300)[:, None]
    tree = MergeTree.of(linkage(np.vstack([*crowds, lone]), "single"))
    shown = choose(tree, 20)
    assert shown.least >= 38
    found = lay_out(tree, shown)
    apart = tree.lesser[found.forks - tree.n]
    assert apart.max() > 1400  # the fork of the two crowds is there
    assert tree.rows[found.ends].min() >= shown.least
    last = choose(tree, 20, 1)
    assert last.least > 1  # asked for no less than single rows, still no more than twenty ends
    assert np.count_nonzero(last.forks) < 20


def test_a_chain_of_a_hundred_thousand_is_laid_out():
    tree = MergeTree.of(chain(100_000))
    found = lay_out(tree, choose(tree, 30))
    assert sorted(tree.rows[found.ends].tolist()) == [1] * 29 + [100_000 - 29]


def test_a_chain_without_any_larger_part_is_one_end():
    tree = MergeTree.of(chain(100))
    found = lay_out(tree, choose(tree, 30, 5))
    assert found.ends.tolist() == [2 * tree.n - 2] and found.twigs == {}


def test_a_single_leaf_is_a_tree():
    tree = MergeTree.of(np.empty((0, 4)))
    found = lay_out(tree, choose(tree, 9))
    assert (found.ends.tolist(), found.order.tolist(), found.top, found.length) == ([0], [0], 0, 1.0)


def test_nodes_know_where_they_are_joined():
    tree = MergeTree.of([[1, 2, 1.0, 2], [0, 3, 4.0, 3]])
    assert tree.joins.tolist() == [4.0, 1.0, 1.0, 4.0, 4.0]


@pytest.mark.parametrize(
    ("heights", "kind"),
    [([1, 2, 3, 4], "linear"), ([1, 2, 3, 90], "sqrt"), ([0.001, 2, 900], "log"), ([0, 0], "linear"), ([], "linear")],
)  # fmt: skip
def test_the_scale_suits_the_heights(heights, kind):
    scale = HeightScale.of(heights)
    assert scale.kind == kind
    at = scale.place(sorted(heights))
    assert np.all(np.diff(at) >= 0) and np.all((at >= 0) & (at <= 1))
    for place, _ in scale.ticks():
        assert 0 <= place <= 1


@pytest.mark.parametrize("size", [1e-300, 1e300])
@pytest.mark.parametrize("kind", ["linear", "sqrt", "log"])
def test_heights_of_any_size_have_places_and_ticks(size, kind):
    scale = HeightScale.of(size * np.array([0.0, 0.01, 0.5, 1.0]), kind)
    np.testing.assert_allclose(scale.place(size * np.array([0.0, 1.0])), [0.0, 1.0], atol=1e-12)
    assert len(scale.ticks()) >= 2
    assert all(
        later - earlier > 0.05 for (earlier, _), (later, _) in zip(scale.ticks()[:-1], scale.ticks()[1:], strict=True)
    )


def test_ticks_lie_where_their_words_say():
    for kind in ("linear", "sqrt", "log"):
        scale = HeightScale.of([0.5, 3.0, 80.0], kind)
        for place, words in scale.ticks():
            assert float(scale.place(float(words))) == pytest.approx(place)


def test_what_is_no_tree_is_refused():
    with pytest.raises(DataError, match="must join groups that exist"):
        MergeTree.of([[0, 7, 1.0, 2]])
    with pytest.raises(
        ParameterError,
        match=r"sizes are whole numbers from 1 on, one for each of 2 leaves; got \(1,\) of int64 from 1 on",
    ):
        MergeTree.of([[0, 1, 1.0, 2]], sizes=[1])
    with pytest.raises(ParameterError, match="min_size is a whole number of at least 1; got 0"):
        choose(MergeTree.of([[0, 1, 1.0, 2]]), 9, 0)
    with pytest.raises(ParameterError, match="order is 'size' or 'table'; got 'name'"):
        lay_out(MergeTree.of([[0, 1, 1.0, 2]]), choose(MergeTree.of([[0, 1, 1.0, 2]]), 9), order="name")
    with pytest.raises(ParameterError, match="scale is 'auto', 'linear', 'sqrt' or 'log'; got 'cube'"):
        HeightScale.of([1.0], "cube")
