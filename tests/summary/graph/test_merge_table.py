"""Merge tables: cuts are SciPy's, numbered by first appearance, and what is no table is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from assay.errors import DataError, ParameterError
from assay.summary.graph.merge_table import as_merges, cut, first_appearance, merge_table


def same_groups(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 40), seed=st.integers(0, 999))
def test_cuts_by_count_and_by_height_are_scipys(n, seed):
    merges = linkage(np.random.default_rng(seed).standard_normal((n, 2)), "average")
    for k in {1, 2, n // 2 + 1, n}:
        assert same_groups(cut(merges, n_clusters=k), fcluster(merges, k, "maxclust"))
    for height in (0.0, merges[n // 2 - 1, 2], merges[-1, 2], 99.0):
        assert same_groups(cut(merges, height=height), fcluster(merges, height, "distance"))


def test_a_cut_at_the_height_of_a_merge_includes_it():
    merges = np.array([[0, 1, 2.0, 2], [2, 3, 5.0, 3]])
    assert cut(merges, height=2.0).tolist() == [0, 0, 1]
    assert cut(merges, height=np.nextafter(2.0, 0.0)).tolist() == [0, 1, 2]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_groups_are_numbered_by_the_first_item_of_each(labels):
    numbered = first_appearance(labels)
    assert same_groups(numbered.tolist(), labels)
    firsts = [numbered.tolist().index(group) for group in range(max(numbered) + 1)]
    assert firsts == sorted(firsts) and firsts[0] == 0


def test_a_tree_of_links_becomes_scipys_table_whatever_the_order_of_the_links():
    X = np.random.default_rng(0).standard_normal((50, 3))
    tree = minimum_spanning_tree(cdist(X, X)).tocoo()
    shuffled = np.random.default_rng(1).permutation(49)
    pairs = np.column_stack([tree.row, tree.col])[shuffled].astype(np.int64)
    table = merge_table(pairs, tree.data[shuffled])
    assert is_valid_linkage(table)
    np.testing.assert_allclose(table, linkage(X, "single"), rtol=1e-12)


def test_one_item_has_an_empty_table_and_one_group():
    merges = as_merges(np.empty((0, 4)))
    assert cut(merges, n_clusters=1).tolist() == cut(merges, height=3.0).tolist() == [0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((2, 3)), r"must have 4 columns \(group, group, height, items\), has shape \(2, 3\)"),
        ([[0, 3, 1.0, 2], [1, 2, 2.0, 3]], r"row 0 \(counted from 0\) joins group 3, but only 0 to 2 exist there"),
        ([[0, 0.5, 1.0, 2]], r"row 0 .* joins group 0.5"),
        ([[0, 1, 1.0, 2], [1, 2, 2.0, 2]], "join each group once: row 1 joins 1 again"),
        ([[0, 1, -1.0, 2]], "not negative"),
        ([[0, 1, np.nan, 2]], "finite"),
        ([[0, 1, 1.0, 2], [2, 3, 2.0, 4]], r"row 1 \(counted from 0\) of merges joins 3 items, says 4"),
    ],
)
def test_what_is_no_merge_table_is_refused_with_its_row(table, message):
    with pytest.raises(DataError, match=message):
        as_merges(table)


def test_scipys_tables_are_taken_as_they_are():
    merges = linkage(np.random.default_rng(0).standard_normal((30, 2)), "ward")
    assert as_merges(merges) is merges


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({}, "cut by n_clusters or by height, one of them"),
        ({"n_clusters": 2, "height": 1.0}, "one of them; got n_clusters=2, height=1.0"),
        ({"n_clusters": 4}, r"n_clusters must be between 1 and 3 \(the number of items\), is 4"),
        ({"n_clusters": 1.5}, "n_clusters must be a whole number, is 1.5"),
        ({"height": -1.0}, "a number of at least 0; got -1.0"),
        ({"height": np.nan}, "a number of at least 0; got nan"),
    ],
)
def test_a_cut_that_is_none_is_refused(where, message):
    with pytest.raises(ParameterError, match=message):
        cut(np.array([[0, 1, 2.0, 2], [2, 3, 5.0, 3]]), **where)
