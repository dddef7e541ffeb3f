"""Rows that are copies are counted, and ordinary ones are not."""

from functools import reduce

import numpy as np
import pytest

from assay.study.row_dependence import copies

RNG = np.random.default_rng(0)


def copy_notes(X, pieces=3, most=20_000, total=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "MOST", most)
        parts = [copies.Copies.of(part, total) for part in np.array_split(X, pieces)]
        return reduce(copies.Copies.__add__, parts).notes()


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
    n, twice = 500, int(500 * share)
    X = RNG.standard_normal((n - twice, 3))
    X = np.vstack([X, X[RNG.integers(0, n - twice, twice)]])
    assert copy_notes(X)[0].startswith(f"{twice} of 500 rows are copies of others")


@pytest.mark.parametrize("pieces", [1, 4, 100])
def test_copies_far_apart_are_found_in_bounded_memory(pieces):
    X = np.tile(RNG.standard_normal((30_000, 3)), (3, 1))
    X[::7, 1] = np.nan
    X = np.vstack([X[:30_000]] * 3)
    (note,) = copy_notes(X, pieces, most=1000)
    # two of three rows are copies; a sample of some hundred tells it to a few percent
    assert note.startswith("About 6") and "of 90,000 rows are copies" in note
    assert copy_notes(X, pieces, most=1000, total=90_000) == [note]  # what cannot be kept in the end is left out early
    assert copy_notes(RNG.standard_normal((90_000, 3)), pieces, most=1000) == []


def test_one_row_over_and_over_ends():
    assert copy_notes(np.ones((5000, 2)), most=100)[0].startswith("4,999 of 5,000")
