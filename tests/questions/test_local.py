"""Rows without neighbours, and groups far enough apart to have a centre each."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from assay.questions.anomalies.local import LocalNeighbours, _neighbours
from assay.questions.anomalies.together import together


def test_neighbours_are_those_of_scikit_learn():
    X = np.random.default_rng(0).standard_normal((120, 3))
    near, far = _neighbours(X, X, np.arange(120), 5)
    distances, found = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()
    np.testing.assert_array_equal(near, found)
    np.testing.assert_allclose(far, distances[:, -1], rtol=1e-7)


def test_a_row_in_the_middle_of_a_ring_is_the_loneliest():
    rng = np.random.default_rng(1)
    angle, radius = rng.uniform(0, 2 * np.pi, 300), 3 + 0.15 * rng.standard_normal(300)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    X[7] = 0.0
    assert int(np.argmax(LocalNeighbours.of(X).lonely)) == 7


@pytest.mark.parametrize(
    ("shares", "many"), [((1.0,), 1), ((0.5, 0.5), 2), ((0.4, 0.3, 0.3), 3), ((0.9, 0.1), 1), ((0.1,) * 10, 10)]
)
def test_groups_have_a_centre_each_unless_they_are_one_or_two_small_ones(shares, many):
    rng = np.random.default_rng(2)
    labels = np.repeat(np.arange(len(shares)), np.round(400 * np.array(shares)).astype(int))
    places = 14.0 * np.stack([labels % 4, labels // 4, 0 * labels], axis=1)
    X = places + rng.standard_normal((len(labels), 3))
    assert len(LocalNeighbours.of(X).centres()) == many


@pytest.mark.parametrize("draw", ["uniform", "exponential", "standard_cauchy"])
def test_one_lump_has_one_centre(draw):
    rng = np.random.default_rng(3)
    assert len(LocalNeighbours.of(getattr(rng, draw)(size=(300, 3))).centres()) == 1


def test_copies_have_no_neighbours_to_measure():
    assert LocalNeighbours.of(np.zeros((100, 2))) is None


def test_rows_far_out_and_near_each_other_lie_together():
    far = np.array([[20.0, 0.0], [0.0, 20.0], [-20.0, 0.0]])
    rows = np.concatenate([far[[0]] + 0.1 * np.arange(5)[:, None], far[[1]] + 0.1 * np.arange(3)[:, None], far[[2]]])
    assert together(rows).tolist() == [0] * 5 + [1] * 3 + [-1]
    assert len(together(rows[:0])) == 0
