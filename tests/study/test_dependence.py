"""Rows that depend on each other are pointed out, and ordinary ones are not."""

import numpy as np
import pytest

from assay.study.dependence import copy_notes, order_notes

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "X",
    [
        RNG.standard_normal((200, 3)),
        RNG.integers(0, 2, (200, 2)).astype(float),
        RNG.integers(0, 5, (500, 3)).astype(float),
        np.repeat(np.arange(5.0), 20)[:, None],
        np.column_stack([np.log1p(RNG.integers(0, 5, 300)), RNG.integers(0, 2, 300)]),
    ],
)
def test_ordinary_rows_are_not_called_copies(X):
    assert copy_notes(X) == []


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_copies_are_counted(share):
    n, copies = 500, int(500 * share)
    X = RNG.standard_normal((n - copies, 3))
    X = np.vstack([X, X[RNG.integers(0, n - copies, copies)]])
    assert copy_notes(X)[0].startswith(f"{copies} of 500 rows are copies of others")


def test_walks_are_called_alike_and_one_sorted_column_is_not():
    names, groups = ("a", "b", "c"), np.arange(3)
    assert "Neighbouring rows are alike" in order_notes(RNG.standard_normal((300, 3)).cumsum(axis=0), names, groups)[0]
    X = RNG.standard_normal((300, 3))
    assert order_notes(X, names, groups) == []
    X[:, 0].sort()
    assert order_notes(X, names, groups) == []


def test_the_levels_of_one_sorted_category_count_as_one():
    level = np.repeat(np.arange(3), 100)
    X = np.column_stack([level[:, None] == np.arange(3), RNG.standard_normal((300, 2))]).astype(float)
    assert order_notes(X, tuple("abcde"), np.array([0, 0, 0, 1, 2])) == []
