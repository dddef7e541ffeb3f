"""Two maps laid over each other: the transform is found again, and no other brings the points nearer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes as scipy_procrustes

from assay.errors import DataError
from assay.linalg.dense.procrustes import procrustes

CITIES = next(p for p in Path(__file__).parents if p.name == "tests").parent.parent / "shared/data/city_distances"
laws = settings(max_examples=40, deadline=None)


@st.composite
def transforms(draw):
    """Points, and the same ones turned, stretched and shifted by known amounts."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    size = draw(st.sampled_from([1e-300, 1e-8, 1.0, 1e8, 1e300]))
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A = size * rng.standard_normal((n, d))
    stretch = rng.uniform(0.2, 5)
    return A, stretch * A @ Q + size * rng.standard_normal(d), Q, stretch


@laws
@given(transforms())
def test_a_known_transform_is_found_again(case):
    A, B, Q, stretch = case
    fit = procrustes(A, B)
    size = np.abs(B).max()
    np.testing.assert_allclose(fit.apply(A) / size, B / size, atol=1e-12)
    assert fit.scale == pytest.approx(stretch)
    assert fit.r2 == pytest.approx(1.0)
    assert fit.residual <= 1e-12 * size
    np.testing.assert_allclose(fit.rotation.T @ fit.rotation, np.eye(A.shape[1]), atol=1e-12)
    if len(A) > A.shape[1]:  # fewer points leave directions free
        np.testing.assert_allclose(fit.rotation, Q, atol=1e-9)


@laws
@given(st.integers(2, 20), st.integers(1, 4), st.integers(0, 10_000))
def test_scipy_leaves_the_same_disparity(n, d, seed):
    A, B = np.random.default_rng(seed).standard_normal((2, n, d)) + 3
    fit = procrustes(A, B)
    assert 1 - fit.r2 == pytest.approx(scipy_procrustes(B, A)[2], abs=1e-12)
    rotation, total = sla.orthogonal_procrustes(A - A.mean(0), B - B.mean(0))
    a = A - A.mean(0)
    assert fit.scale == pytest.approx(total / (a**2).sum())
    np.testing.assert_allclose(a @ fit.rotation, a @ rotation, atol=1e-9)


@laws
@given(st.integers(3, 12), st.integers(1, 3), st.booleans(), st.booleans(), st.integers(0, 10_000))
def test_no_other_transform_comes_nearer(n, d, scale, reflect, seed):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, n, d))
    fit = procrustes(A, B, scale=scale, reflect=reflect)
    assert reflect or np.linalg.det(fit.rotation) > 0
    assert scale or fit.scale == 1.0

    def distance(rotation, stretch, shift):
        return np.sqrt(((stretch * (A - fit.shift_from) @ rotation + fit.shift_to + shift - B) ** 2).sum() / n)

    assert fit.residual == pytest.approx(distance(fit.rotation, fit.scale, 0), abs=1e-12)
    for _ in range(20):
        skew = np.tril(rng.standard_normal((d, d)), -1) * 10 ** rng.uniform(-4, 1)
        turned = fit.rotation @ sla.expm(skew - skew.T)
        stretch = fit.scale * (1 + 0.1 * rng.standard_normal() if scale else 1)
        shift = 0.1 * rng.standard_normal(d)
        assert distance(turned, stretch, shift) >= fit.residual - 1e-12


def test_a_mirror_image_is_met_only_where_it_may_be_mirrored():
    A = np.random.default_rng(0).standard_normal((10, 2))
    B = A * [1, -1]
    assert procrustes(A, B).r2 == pytest.approx(1)
    turned = procrustes(A, B, reflect=False)
    assert np.linalg.det(turned.rotation) == pytest.approx(1)
    assert turned.r2 < 0.9


def test_points_on_a_line_are_not_mirrored_without_need():
    line = np.arange(5.0)[:, None] * [3.0, 4.0]
    for turn in (np.eye(2), np.array([[0.0, 1.0], [-1.0, 0.0]])):
        fit = procrustes(line, line @ turn)
        assert np.linalg.det(fit.rotation) == pytest.approx(1)
        np.testing.assert_allclose(fit.apply(line), line @ turn, atol=1e-12)


def test_a_rigid_fit_keeps_distances():
    A, B = np.random.default_rng(1).standard_normal((2, 8, 3))
    fit = procrustes(A, 7 * B, scale=False)
    np.testing.assert_allclose(sla.norm(fit.apply(A)[0] - fit.apply(A)[1]), sla.norm(A[0] - A[1]))


def test_far_from_zero_the_shift_is_all_that_is_lost():
    A = np.random.default_rng(2).standard_normal((30, 2))
    fit = procrustes(A + 1e8, A - 1e8)
    np.testing.assert_allclose(fit.apply(A + 1e8), A - 1e8, atol=1e-7)
    np.testing.assert_allclose(fit.rotation, np.eye(2), atol=1e-7)


def test_one_point_is_shifted_and_nothing_is_said_about_its_spread():
    fit = procrustes([[0.1, 2.0]], [[3.0, 4.0]])
    np.testing.assert_array_equal(fit.apply([[0.1, 2.0]]), [[3.0, 4.0]])
    assert (fit.scale, fit.residual) == (1.0, 0.0)
    assert np.isnan(fit.r2)


def test_equal_points_carry_nothing_and_meet_one_target():
    equal, spread = np.full((7, 2), 0.1), np.random.default_rng(3).standard_normal((7, 2))
    to_spread = procrustes(equal, spread)
    assert to_spread.r2 == pytest.approx(0)
    np.testing.assert_allclose(to_spread.apply(equal), np.tile(spread.mean(0), (7, 1)))
    to_point = procrustes(spread, equal)
    np.testing.assert_array_equal(to_point.apply(spread), equal)
    assert to_point.residual == 0


def test_rigid_fits_of_unlike_sizes_say_how_bad_they_are():
    A, B = np.random.default_rng(4).standard_normal((2, 6, 2))
    assert procrustes(1e300 * A, 1e-300 * B, scale=False).r2 == -np.inf
    assert procrustes(1e-300 * A, 1e300 * B, scale=False).r2 == pytest.approx(0)


def test_what_cannot_be_laid_over_each_other_is_refused():
    with pytest.raises(DataError, match=r"have shapes \(3, 2\) and \(3, 3\). Pad the narrower one"):
        procrustes(np.zeros((3, 2)), np.zeros((3, 3)))
    with pytest.raises(DataError, match=r"have shapes \(3, 2\) and \(4, 2\)"):
        procrustes(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(DataError, match=r"B must be finite: row 1, column 0 \(counted from 0\) is NaN"):
        procrustes(np.zeros((2, 2)), [[0, 0], [np.nan, 0]])
    with pytest.raises(DataError, match="must be of comparable size, are about"):
        procrustes(1e300 * np.eye(3), 1e-300 * np.eye(3))
    with pytest.raises(DataError, match="X must have 2 columns, has 3"):
        procrustes(np.eye(2), np.eye(2)).apply(np.eye(3))


@pytest.mark.skipif(not CITIES.exists(), reason="the shared city distances are not here")
def test_road_distances_of_bavarian_cities_give_back_their_map():
    table = np.loadtxt(CITIES / "bays29_road.csv", delimiter=",", skiprows=1, usecols=range(1, 30))
    places = np.loadtxt(CITIES / "bays29_map_xy.csv", delimiter=",", skiprows=1, usecols=(1, 2))
    centred = table**2 - (table**2).mean(0)
    values, vectors = sla.eigh(-0.5 * (centred - centred.mean(1)[:, None]))
    fit = procrustes(vectors[:, -2:] * np.sqrt(values[-2:]), places)
    assert fit.r2 > 0.97
    assert fit.residual < 0.17 * np.sqrt(places.var(axis=0).sum())
