"""Ratings: who rated what, from any table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from assay import Ratings, read
from assay.errors import DataError, ParameterError

ROWS = [("Bob", "Alien", 4.0), ("Ann", "Brazil", 0.0), ("Ann", "Alien", 5.0), ("Cleo", "Casino", 1.5)]
NAMES = {"user": [row[0] for row in ROWS], "item": [row[1] for row in ROWS], "rating": [row[2] for row in ROWS]}


def same(a, b):
    assert (a.users, a.items) == (b.users, b.items)
    for x, y in ((a.starts, b.starts), (a.item, b.item), (a.value, b.value)):
        np.testing.assert_array_equal(x, y)


def in_file(tmp_path, text):
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    return path


def test_every_way_to_hold_triples_gives_the_same_ratings(tmp_path):
    wanted = Ratings.of(ROWS)
    path = in_file(tmp_path, "user,item,rating\n" + "\n".join(f"{u},{i},{r}" for u, i, r in ROWS) + "\n")
    held = (pd.DataFrame(NAMES), pl.DataFrame(NAMES), pa.table(NAMES), read(pa.table(NAMES)), path, str(path), wanted)
    for data in held:
        same(Ratings.of(data), wanted)
    assert wanted.users == ("Ann", "Bob", "Cleo") and wanted.items == ("Alien", "Brazil", "Casino")


def test_both_orders_hold_the_same_cells():
    rng = np.random.default_rng(0)
    M = sparse.random_array((30, 20), density=0.2, rng=rng, format="csr")
    seen = Ratings.of(M)
    starts, user, place = seen.turned
    back = sparse.csc_array((seen.value[place], user, starts), shape=(30, 20))
    np.testing.assert_array_equal(back.toarray(), M.toarray())
    np.testing.assert_array_equal(seen.matrix.toarray(), M.toarray())
    assert seen.per_user.sum() == seen.per_item.sum() == len(seen)


def test_missing_is_not_zero_and_a_stored_zero_is_a_rating():
    stored = sparse.csr_array((np.array([0.0, 5.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    dense = np.array([[0.0, np.nan], [np.nan, 5.0]])
    for seen in (Ratings.of(stored), Ratings.of_matrix(dense)):
        assert len(seen) == 2 and seen.mean == 2.5 and seen.density == 0.5
        np.testing.assert_array_equal(seen.value, [0.0, 5.0])
    assert "the others are missing, not zero" in seen.notes[0]


def test_the_order_of_the_rows_changes_nothing():
    rng = np.random.default_rng(1)
    rows = [(f"u{rng.integers(20)}", f"i{rng.integers(9)}", float(rng.normal())) for _ in range(300)]
    wanted = Ratings.of(rows)
    same(Ratings.of([rows[k] for k in rng.permutation(len(rows))]), wanted)


def test_numbers_are_in_their_order_and_names_that_look_like_numbers_stay_names(tmp_path):
    assert Ratings.of([(10, 2, 1), (9, 100, 1)]).users == ("9", "10")
    assert Ratings.of([(10.0, 2, 1), (9, 100, 1)]).users == ("9", "10")
    path = in_file(tmp_path, "user,item,rating\n007,1,3\n7,1,4\n")
    assert Ratings.of(path).users == ("007", "7")
    missing = pd.DataFrame({"userId": [2.0, 10.0], "movieId": [1, 1], "rating": [1, 2]})
    assert Ratings.of(missing).users == ("2", "10")


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (("userId", "movieId", "rating", "timestamp"), ("userId", "movieId", "rating")),
        (("joke", "stars", "User ID", "x"), ("User ID", "joke", "stars")),
        (("product", "customer_id", "quantity"), ("customer_id", "product", "quantity")),
        (("a", "b", "c"), ("a", "b", "c")),
        (("user", "item"), ("user", "item", None)),
    ],
)
def test_columns_are_found_by_their_usual_names_or_places(names, columns):
    table = pa.table({name: [1, 2, 3] for name in names})
    assert Ratings.of(table).columns == columns


def test_a_file_without_names_is_read_by_places(tmp_path):
    seen = Ratings.of(in_file(tmp_path, "196\t242\t3\t881250949\n186\t302\t4\t891717742\n"))
    assert seen.users == ("186", "196") and seen.items == ("242", "302")
    np.testing.assert_array_equal(seen.value, [4.0, 3.0])


def test_times_are_kept_beside_the_ratings():
    seen = Ratings.of(pa.table({"user": [2, 1], "item": [1, 1], "rating": [3, 4], "timestamp": [20, 10]}))
    np.testing.assert_array_equal(seen.when, [10.0, 20.0])
    assert Ratings.of(ROWS).when is None


def test_ratings_given_twice_are_averaged_and_counts_added_and_both_are_said():
    twice = [("a", "x", 1.0), ("a", "x", 4.0), ("b", "x", 3.0)]
    rated = Ratings.of(twice)
    np.testing.assert_array_equal(rated.value, [2.5, 3.0])
    assert rated.notes[-1] == "Ratings of an item that its user had rated before: 1; their mean counts."
    plays = Ratings.of(pl.DataFrame({"user": ["a", "a"], "song": ["x", "x"], "plays": [1, 4]}))
    np.testing.assert_array_equal(plays.value, [5.0])
    events = Ratings.of([("a", "x"), ("a", "x"), ("b", "x")])
    np.testing.assert_array_equal(events.value, [2.0, 1.0])
    np.testing.assert_array_equal(Ratings.of(twice, repeated="last").value, [4.0, 3.0])
    np.testing.assert_array_equal(Ratings.of(twice, repeated="sum").value, [5.0, 3.0])
    huge = Ratings.of([("a", "x", 1e308), ("a", "x", 1.5e308)])
    np.testing.assert_allclose(huge.value, [1.25e308], rtol=1e-15)


def test_a_subset_keeps_all_names():
    seen = Ratings.of(ROWS)
    some = seen.subset(seen.value > 2.0)
    assert some.users == seen.users and some.items == seen.items
    np.testing.assert_array_equal(some.matrix.toarray(), np.where(seen.matrix.toarray() > 2, seen.matrix.toarray(), 0))
    other = seen.with_values(-seen.value)
    np.testing.assert_array_equal(other.matrix.toarray(), -seen.matrix.toarray())


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("a", "b", float("nan"))], "the list, row 1: the rating 'rating' is missing, but ratings are finite numbers"),
        ([("a", "b", 1), ("a", "c", float("inf"))], "the list, row 2: the rating 'rating' is inf, but"),
        ([("a", "b", "good")], "the list, row 1: the rating 'rating' is 'good', but"),
        ([("a", "", 1)], "the list, row 1: 'item' is empty; a rating needs a user and an item"),
        ([("a", "b", None)], "the list, row 1: the rating 'rating' is missing"),
        ([], r"a list of ratings must hold \(user, item, rating\)"),
        ([("a", "b", 1), ("a", "b")], r"a list of ratings must hold \(user, item, rating\)"),
        ([("a", "b", 1.5e308), ("c", "b", 1), ("a", "b", 1.5e308)], None),
    ],
)
def test_what_is_no_rating_is_refused_with_its_place(rows, told):
    if told is None:
        with pytest.raises(DataError, match="add up to more than a number can hold"):
            Ratings.of(rows, repeated="sum")
        return
    with pytest.raises(DataError, match=told):
        Ratings.of(rows)


def test_a_file_tells_the_line(tmp_path):
    path = in_file(tmp_path, "user,item,rating\na,b,3\na,c,?\n")
    with pytest.raises(DataError, match=r"ratings\.csv, line 3: the rating 'rating' is '\?', but"):
        Ratings.of(path)


def test_matrices_are_refused_with_the_place_of_what_is_wrong():
    with pytest.raises(DataError, match="the rating in row 1, column 0 is inf"):
        Ratings.of_matrix([[1.0, 2.0], [np.inf, np.nan]])
    with pytest.raises(DataError, match="stored in row 0, column 1 is NaN; leave what is missing out"):
        Ratings.of(sparse.csr_array([[1.0, np.nan]]))
    with pytest.raises(DataError, match="has two dimensions, users and items; got 1"):
        Ratings.of_matrix([1.0, 2.0])
    with pytest.raises(ParameterError, match="users holds 1 names, but there are 2"):
        Ratings.of_matrix(np.eye(2), users=["a"])
    with pytest.raises(DataError, match="items holds 'x' twice"):
        Ratings.of_matrix(np.eye(2), items=["x", "x"])


def test_wrong_columns_are_refused_with_those_that_there_are():
    with pytest.raises(ParameterError, match="there is no column 'who' in the list; there are user, item, rating"):
        Ratings.of(ROWS, user="who")
    wide = pa.table({name: [1.0] for name in "abcde"})
    with pytest.raises(DataError, match="no columns called as users and items are; name them with user="):
        Ratings.of(wide)
    with pytest.raises(DataError, match="holds no ratings"):
        Ratings.of(pa.table({"user": pa.array([], pa.string()), "item": pa.array([], pa.string())}))
    with pytest.raises(ParameterError, match='repeated is "mean", "sum" or "last"'):
        Ratings.of(ROWS, repeated="median")


def test_an_unknown_name_is_told_with_those_that_are_like_it():
    seen = Ratings.of(ROWS)
    assert seen.user_number("Bob") == 1
    with pytest.raises(ParameterError, match="there is no item 'Brasil' among 3 items; there are 'Brazil'"):
        seen.item_number("Brasil")
    with pytest.raises(ParameterError, match="there is no user '17' among 3 users$"):
        seen.user_number(17)
