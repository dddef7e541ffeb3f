"""Noise for differential privacy: as large as it must be, on sums that one row changes by no more than is said."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binomtest

import assay
from assay.data.columns._codecs import Number
from assay.data.columns.agreed import of_codecs
from assay.data.field import Field
from assay.data.read import read
from assay.errors import DataError, ParameterError
from assay.summary.sharing.private import STEPS, _sums, discrete_noise, noise_scale, private_summary
from assay.summary.sharing.release import Noise, Release, semidefinite

pytest.importorskip("opendp")

EPSILON, DELTA = 1.0, 1e-6


def silent(what, rows, share):
    pass


def rounded_normal(seed):
    """Noise with a seed, for tests only."""
    rng = np.random.default_rng(seed)
    return lambda values, scale: values + np.rint(rng.normal(0.0, scale, len(values))).astype(np.int64)


def released(table, bounds, *, by=None, groups=(), folds=1, noise=None, epsilon=EPSILON, delta=DELTA, like=None):
    return private_summary(
        read(table), by, folds, (), like, groups, bounds, epsilon, delta, fewest_rows=10, tell=silent, noise=noise
    )


def privacy_lost(scale, length, epsilon):
    """The least delta of noise of this scale, by Balle and Wang (2018), theorem 8."""
    a, b = length / (2.0 * scale), epsilon * scale / length
    return ndtr(a - b) - np.exp(epsilon) * ndtr(-a - b)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (1.0, 1e-9), (3.0, 1e-5), (10.0, 1e-5)])
def test_the_scale_of_the_noise_keeps_what_is_promised_and_little_more(epsilon, delta):
    scale = noise_scale(1e6, epsilon, delta)
    assert privacy_lost(scale, 1e6, epsilon) <= delta
    # what the way by concentrated privacy costs beyond the least noise there can be
    assert privacy_lost(0.8 * scale, 1e6, epsilon) > delta


def test_the_noise_has_the_variance_it_is_said_to_have():
    drawn = discrete_noise(np.zeros(20_000, dtype=np.int64), 5e7).astype(float)
    # of 20,000 draws: a standard deviation of 1% for the variance, of .7% of the scale for the mean
    assert drawn.var() == pytest.approx(25e14, rel=0.05)
    assert abs(drawn.mean()) < 5 * 5e7 / np.sqrt(20_000)
    assert len({*drawn.tolist()}) > 19_000
    again = discrete_noise(np.zeros(3, dtype=np.int64), 5e7)
    assert not np.array_equal(again, discrete_noise(np.zeros(3, dtype=np.int64), 5e7))


@given(
    st.lists(st.lists(st.floats(allow_nan=True, width=64), min_size=2, max_size=2), min_size=1, max_size=6),
    st.floats(-1e3, 1e3),
)
@settings(max_examples=100, deadline=None)
def test_one_row_changes_one_part_by_no_more_than_is_said(rows, low):
    """Whatever it holds: values beyond the bounds, gaps and infinities."""
    encoding = of_codecs([(Field(name, "number"), Number()) for name in "ab"])
    centre, half = np.array([low + 1.0, 0.0]), np.array([1.0, 5.0])

    def sums(these):
        table = pa.table({name: pa.array([row[j] for row in these], pa.float64()) for j, name in enumerate("ab")})
        if not these:
            return np.zeros((1, 6), dtype=np.int64)
        return _sums(read(table), encoding, None, (), 1, centre, half, silent)

    changed = sums(rows) - sums(rows[:-1])
    length = STEPS**2 * np.sqrt(3 * 4 / 2)
    assert np.sqrt((changed.astype(float) ** 2).sum()) <= length * (1 + 1e-12)


def test_the_worst_row_changes_the_sums_by_all_that_is_said():
    encoding = of_codecs([(Field(name, "number"), Number()) for name in "abc"])
    table = pa.table({name: [9.0] for name in "abc"})
    found = _sums(read(table), encoding, None, (), 1, np.zeros(3), np.ones(3), silent)[0].astype(float)
    assert np.sqrt((found**2).sum()) == pytest.approx(STEPS**2 * np.sqrt(4 * 5 / 2), rel=1e-12)


@pytest.mark.parametrize(("share", "caught"), [(1.0, False), (0.25, True)])
def test_an_attacker_with_the_best_test_learns_no_more_than_epsilon(share, caught):
    """Audit: releases with and without the worst row, told apart by their likelihood; what is learned has a bound.

    The attacker sees one release, so both errors are shares of draws: Clopper and Pearson's bounds for both, at 1e-4
    each, give the least epsilon that the draws allow. A quarter of the noise is caught.
    """
    epsilon, delta, draws = 1.0, 1e-3, 20_000
    length = STEPS**2 * np.sqrt(3.0)  # one column: count, sum and square change by M^2 each
    scale = share * noise_scale(length, epsilon, delta)
    noise = discrete_noise(np.zeros(6 * draws, dtype=np.int64), scale).reshape(2, draws, 3).astype(float)
    without, with_row = noise.sum(axis=2) / np.sqrt(3.0) + np.array([[0.0], [length]])
    bounds = []
    for threshold in (0.5 * length, length, 1.5 * length, 2.0 * length):
        hit, false = int((with_row > threshold).sum()), int((without > threshold).sum())
        low = binomtest(hit, draws).proportion_ci(0.9998).low
        high = binomtest(false, draws).proportion_ci(0.9998).high
        bounds.append(np.log(max(low - delta, 1e-12) / high))
    assert bool(max(bounds) > epsilon) == caught
    assert max(bounds) > 0.2 * epsilon  # it sees something


def grouped_table(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(3.0, 1.0, n)
    return pa.table({"x": x, "y": 0.6 * x + rng.normal(0.0, 1.0, n), "g": rng.choice(["u", "v"], n)})


BOUNDS = {"x": (-1.0, 7.0), "y": (-4.0, 8.0)}


def test_the_noise_in_the_scatter_is_what_the_file_says():
    """Variances of 400 releases of the same rows against the formula: an error of 7% each, of 9 numbers."""
    table = grouped_table()
    made = [released(table, BOUNDS, by="g", groups=("u", "v"), noise=rounded_normal(s)) for s in range(400)]
    found = np.var([one.total.scatter for one in made], axis=0, ddof=1)
    exact = assay.Moments.of(np.column_stack([np.asarray(table[n]) for n in "xy"]))
    np.testing.assert_allclose(found, made[0].noise.variance(exact.mean), rtol=0.35)
    drawn = np.var([made[0].noise.drawn(exact.mean, np.random.default_rng(s)) for s in range(400)], axis=0, ddof=1)
    np.testing.assert_allclose(drawn, made[0].noise.variance(exact.mean), rtol=0.35)
    # and without bias but for the steps of 1 / 1024 and rows that were clipped
    off = np.mean([one.total.scatter for one in made], axis=0) - exact.scatter
    assert (np.abs(off) < 4 * np.sqrt(found / 400) + 0.01 * np.diag(exact.scatter).max()).all()


def test_a_release_says_what_was_done_and_counts_nothing_else(tmp_path):
    table = grouped_table().append_column("name", pa.array([f"person {i}" for i in range(4000)]))
    made = assay.summarize(table, epsilon=2.0, delta=1e-6, bounds=BOUNDS, cv=2)
    release = made.noise.releases[0]
    assert (release.epsilon, release.delta, release.parts) == (2.0, 1e-6, 2)
    assert release.sigma == pytest.approx(noise_scale(np.sqrt(6.0) * STEPS**2, 2.0, 1e-6) / STEPS**2)
    assert made.contributions[0].gaps is None and made.contributions[0].strange is None
    made.save(tmp_path / "x")
    back = assay.load(tmp_path / "x")
    assert back.noise == made.noise
    assert [field.name for field in made.encoding.fields] == ["x", "y"]
    other = assay.summarize(grouped_table(seed=1), epsilon=2.0, delta=1e-6, bounds=BOUNDS, cv=2)
    both = made + other
    assert len(both.noise.releases) == 2
    mean = both.total.mean
    np.testing.assert_allclose(both.noise.variance(mean), 2.0 * made.noise.variance(mean))


def test_rows_fall_into_folds_without_regard_to_other_rows():
    """Were folds dealt by row number, a row taken out would move all rows behind it to other parts."""
    made = [released(grouped_table(400), BOUNDS, folds=4, noise=lambda v, s: v).parts for _ in range(6)]
    counts = {tuple(m.count for m in parts) for parts in made}
    assert len(counts) > 1 and all(sum(c) == 400 for c in counts)


def test_levels_of_another_site_need_no_bounds_and_numbers_do():
    rng = np.random.default_rng(0)
    table = grouped_table().append_column("w", pa.array(rng.choice(["a", "b"], 4000)))
    like = assay.summarize(table.slice(0, 2000), by="g")
    made = released(table, BOUNDS, by="g", like=like, noise=rounded_normal(0))
    assert made.encoding.names == ("x", "y", "w = a", "w = b") and made.groups == ("u", "v")
    assert made.noise.releases[0].low == (-1.0, -4.0, 0.0, 0.0)
    with pytest.raises(ParameterError, match="bounds of 'y' are needed"):
        released(table, {"x": (-1.0, 7.0)}, by="g", like=like)


def test_what_is_missing_or_makes_no_sense_is_refused():
    table = grouped_table(200)
    for options, why in [
        ({"epsilon": 1.0, "delta": 1e-6}, "give all three"),
        ({"bounds": BOUNDS}, "give all three"),
        ({"epsilon": 1.0, "bounds": BOUNDS}, "give all three"),
        ({"epsilon": -1.0, "delta": 1e-6, "bounds": BOUNDS}, "epsilon is from"),
        ({"epsilon": float("nan"), "delta": 1e-6, "bounds": BOUNDS}, "epsilon is from"),
        ({"epsilon": 1.0, "delta": 0.0, "bounds": BOUNDS}, "delta from"),
        ({"epsilon": 1.0, "delta": 1e-6, "bounds": {"x": (2.0, 1.0)}}, "the lower one first"),
        ({"epsilon": 1.0, "delta": 1e-6, "bounds": {"z": (1.0, 2.0)}}, "there is no column 'z' to bound"),
        (
            {"epsilon": 1.0, "delta": 1e-6, "bounds": BOUNDS, "by": "g"},
            "which groups of 'g' there are is known from rows",
        ),
    ]:
        with pytest.raises(ParameterError, match=why):
            assay.summarize(table, **options)
    with pytest.raises(DataError, match="this epsilon counts as spent"):
        assay.summarize(table, epsilon=0.01, delta=1e-6, bounds=BOUNDS)


def test_the_package_is_named_where_it_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ParameterError, match=r"needs the package opendp: pip install 'assay\[privacy\]'"):
        assay.summarize(grouped_table(200), epsilon=1.0, delta=1e-6, bounds=BOUNDS)


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_the_nearest_scatter_has_no_variance_below_zero_and_is_no_farther_from_any_true_one(d, seed):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, d, d))
    S, truth = A + A.T, B @ B.T
    near = semidefinite(S)
    assert np.linalg.eigvalsh(near).min() >= -1e-12 * np.abs(near).max()
    assert np.linalg.norm(near - truth) <= np.linalg.norm(S - truth) * (1 + 1e-12)


def test_noise_of_some_columns_is_that_of_the_others_left_out():
    noise = Noise((Release(1.0, 1e-6, 3.0, (0.0, -1.0, 2.0), (1.0, 1.0, 9.0), 2),))
    mean = np.array([0.3, 0.1, 5.0])
    kept = np.array([2, 0])
    np.testing.assert_array_equal(noise.among(kept).variance(mean[kept]), noise.variance(mean)[np.ix_(kept, kept)])
