"""Links, ratings and sums that workers keep, tried in this process: the same as those read whole."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from assay.data.source import ArrowSource
from assay.engine.current import gathered_blocks
from assay.errors import DataError
from assay.models.network.pagerank import spread_links
from assay.models.prediction.recommender import spread_ratings
from assay.summary import numbering
from assay.summary.network.networks import read_network
from assay.summary.numbering import Numbering
from assay.summary.ratings.ratings import Ratings
from assay.summary.ratings.ratings_columns import rating_roles
from assay.summary.triples.spread import StripeSums

NAMES = st.sampled_from(["a", "b", "c", "d", "7", "07"])
NUMBERS = st.integers(0, 9).map(str)
EDGES = st.one_of(
    *(
        st.lists(st.tuples(names, names, st.sampled_from([0.0, 0.5, 1.0, 3.0])), min_size=1, max_size=30)
        for names in (NAMES, NUMBERS)
    )
)


def in_blocks(columns, size=4):
    """A table in memory whose blocks are small."""
    table = pa.table(columns)
    return ArrowSource(pa.concat_tables([table.slice(at, size) for at in range(0, table.num_rows, size)]))


def edge_table(edges):
    first, second, weight = zip(*edges, strict=True)
    return in_blocks({"from": list(first), "to": list(second), "weight": list(weight)})


def kept_matrix(links):
    """(n, n) what the blocks hold, a row for the links that lead to a node."""
    found = sparse.lil_array((links.n, links.n))
    for part in gathered_blocks(links.blocks):
        for row in range(len(part.starts) - 1):
            for at in range(part.starts[row], part.starts[row + 1]):
                found[part.first + row, part.origins[at]] = part.weights[at] if len(part.weights) else 1.0
    return found.toarray()


@given(EDGES, st.booleans())
def test_links_that_workers_keep_are_those_of_the_network(edges, directed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spread_links, "_BLOCK", 5)
        found = spread_links.spread_links(edge_table(edges), directed)
    expected = read_network(edge_table(edges), directed=directed)
    assert found.names == expected.names
    np.testing.assert_allclose(kept_matrix(found), expected.weights.toarray().T, rtol=1e-15)
    assert found.notes[0] == expected.notes[0]


def test_links_without_weights_are_kept_without_them():
    links = spread_links.spread_links(in_blocks({"from": ["a", "b"], "to": ["b", "a"]}), None)
    assert all(len(part.weights) == 0 for part in gathered_blocks(links.blocks))


def test_a_table_without_edges_is_refused():
    empty = ArrowSource(pa.table({"from": pa.array([], pa.string()), "to": pa.array([], pa.string())}))
    with pytest.raises(DataError, match="holds no edges"):
        spread_links.spread_links(empty, None)


@given(
    st.lists(st.tuples(NAMES, NUMBERS, st.sampled_from([0.0, 1.0, 2.5, -1.0])), min_size=1, max_size=30),
    st.sampled_from(["mean", "sum", "last"]),
)
def test_ratings_that_workers_keep_are_those_read_whole(cells, repeated):
    user, item, rating = zip(*cells, strict=True)
    columns = {"user": list(user), "item": list(item), "rating": list(rating)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spread_ratings, "_BLOCK", 5)
        table = in_blocks(columns)
        found = spread_ratings.spread_ratings(table, rating_roles(table, None, None, None), repeated, done=False)
    expected = Ratings.of(in_blocks(columns), repeated=repeated)
    assert (found.named.users, found.named.items, found.named.notes) == (expected.users, expected.items, expected.notes)
    by_user, by_item = gathered_blocks(found.by_user), gathered_blocks(found.by_item)
    for parts, index, value, sizes in (
        (by_user, expected.item, expected.value, expected.per_user),
        (by_item, expected.turned.user, expected.value[expected.turned.place], expected.per_item),
    ):
        np.testing.assert_array_equal(np.concatenate([part.index for part in parts]), index)
        np.testing.assert_array_equal(np.concatenate([part.value for part in parts]), value)
        np.testing.assert_array_equal(np.concatenate([np.diff(part.starts) for part in parts]), sizes)
    assert found.extremes() == (expected.value.min(), expected.value.max())


def test_names_with_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(numbering, "hashes_of_batch", lambda batch, columns: np.zeros(len(batch), np.uint64))
    names = pa.array(["b", "a", "c"])
    np.testing.assert_array_equal(Numbering.of(names).numbers(pa.array(["c", "b", "a", "c"])), [2, 0, 1, 2])


@given(st.lists(st.lists(st.integers(0, 39), max_size=20), min_size=2, max_size=5), st.booleans())
def test_sums_in_places_add_up_as_whole_ones_do(places, dense):
    parts = []
    for found in places:
        where = np.unique(np.array(found, np.int64))
        whole = StripeSums(where, where + 1.0, 40)
        parts.append(StripeSums(None, whole.whole(), 40) if dense and len(parts) % 2 else whole)
    expected = sum(part.whole() for part in parts)
    before = [part.values.copy() for part in parts]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    np.testing.assert_array_equal(total.whole(), expected)
    for part, values in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part.values, values)
