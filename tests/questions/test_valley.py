"""Between groups lies a valley; between the pieces of a lump or of a bent band lies none."""

import numpy as np
import pytest

from assay.questions.groups.group_search import Room, SearchSpace
from assay.questions.groups.number import chosen, described
from assay.questions.groups.rules import ColumnCut, DenseShapes, NearestCentres, Way
from assay.questions.groups.valley import valley


def seen(X, way, k=2):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return valley(Z, way, k, 0, np.random.default_rng(0))


def lumps(apart, n=300, d=4, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 0] += apart * (rng.random(n) < share)
    return X


def ring(n=300, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * (2 + 0.15 * rng.standard_normal((n, 1)))


@pytest.mark.parametrize("share", [0.5, 0.15])
def test_between_lumps_it_is_deep_thin_and_not_bent(share):
    found = seen(lumps(6.0, share=share), ColumnCut(0))
    assert found.chance < 0.01 and found.height < 0.3 and found.bridge < -0.8 and found.bent < 0.1


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_pieces_of_one_lump_have_none(k):
    rng = np.random.default_rng(k)
    found = seen(rng.standard_normal((600, 3)), NearestCentres(SearchSpace(3, True), (k,)), k)
    assert found.chance > 0.05 and found.height > 0.55


def test_a_ring_cut_in_two_has_two_peaks_from_the_side_and_is_bent():
    found = seen(ring(), ColumnCut(0))
    assert found.chance < 0.05 and found.bent > 0.3


def test_neither_the_ring_nor_one_lump_is_described_while_lumps_are():
    ways: list[Way] = [
        ColumnCut(0),
        ColumnCut(1),
        NearestCentres(SearchSpace(2, True), (2, 3)),
        DenseShapes(Room(False)),
    ]
    for X in (ring(), lumps(0.0, d=2)):
        named = chosen((X - X.mean(axis=0)) / X.std(axis=0), ways, 0).named
        assert named is None or not named.stands
    X = lumps(6.0, d=2)
    named = chosen((X - X.mean(axis=0)) / X.std(axis=0), ways, 0).named
    assert named.stands and named.k == 2 and named.way == ColumnCut(0)


def test_a_handful_of_far_rows_is_no_group():
    X = lumps(0.0, d=2)
    X[:4] += 12.0
    assert described(X, ColumnCut(0), 2, 0) is None
