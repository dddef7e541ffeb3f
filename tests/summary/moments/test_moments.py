"""Moments are an algebra: laws by hypothesis, numpy and NIST as oracles, edges."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import DataError, FileFormatError, ParameterError
from assay.summary.moments.moments import Moments


@st.composite
def partitioned(draw, max_rows=60, max_columns=5):
    """A table with columns of very different offset and scale, cut into blocks, some of them of one row."""
    n, d = draw(st.integers(2, max_rows)), draw(st.integers(1, max_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4, d) + rng.standard_normal(d) * 10.0 ** rng.integers(
        0, 5, d
    )
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), max_size=6)))
    return X, np.split(X, cuts)


def assert_same_moments(a, b, rtol=1e-10):
    assert a.count == b.count
    assert a.weight == pytest.approx(b.weight, rel=1e-12)
    spread = np.sqrt(np.diag(b.scatter))
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-13, atol=1e-13 * spread.max(initial=0.0))
    # a scatter entry is only defined up to the product of the two spreads
    np.testing.assert_array_less(np.abs(a.scatter - b.scatter), rtol * np.multiply.outer(spread, spread) + 1e-300)


def assert_same_bits(a, b):
    assert a.count == b.count and a.weight == b.weight
    np.testing.assert_array_equal(a.mean, b.mean)
    np.testing.assert_array_equal(a.scatter, b.scatter)


@given(partitioned())
def test_any_partition_merges_to_the_whole(data):
    X, blocks = data
    assert_same_moments(Moments.of(blocks), Moments.of(X))
    assert_same_moments(sum(Moments.of(block) for block in blocks), Moments.of(X))


@given(partitioned())
def test_numpy_agrees(data):
    X, blocks = data
    m = Moments.of(blocks)
    np.testing.assert_allclose(m.mean, X.mean(axis=0), rtol=1e-12)
    oracle = np.atleast_2d(np.cov(X, rowvar=False))
    spread = np.sqrt(np.diag(oracle))
    assert (np.abs(m.covariance - oracle) <= 1e-9 * np.multiply.outer(spread, spread)).all()


@given(partitioned(), st.randoms(use_true_random=False))
def test_order_of_blocks_changes_no_bit(data, random):
    _, blocks = data
    shuffled = random.sample(blocks, len(blocks))
    assert_same_bits(Moments.of(blocks), Moments.of(shuffled))


@given(partitioned())
def test_grouping_of_merges_changes_no_bit(data):
    _, blocks = data
    parts = [Moments.of(block) for block in blocks]
    left = parts[0]
    for part in parts[1:]:
        left = left + part
    right = parts[-1]
    for part in parts[-2::-1]:
        right = part + right
    assert_same_bits(left, right)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_number_of_threads_changes_no_bit(threads):
    X = np.random.default_rng(1).standard_normal((50_000, 7)) + 1e6
    assert_same_bits(Moments.of(X, threads=1), Moments.of(X, threads=threads))


@given(partitioned())
def test_removal_undoes_merging_far_below_rounding(data):
    _, blocks = data
    kept = Moments.of(blocks[0])
    others = [Moments.of(block) for block in blocks[1:]]
    whole = left = sum(others, start=kept)
    for other in others:
        left = left - other
    assert (left.count, left.weight) == (kept.count, kept.weight)
    np.testing.assert_allclose(left.mean, kept.mean, rtol=1e-15)
    spread = np.sqrt(np.diag(whole.scatter))
    assert (
        np.abs(left.scatter - kept.scatter) <= 1e-26 * np.multiply.outer(spread, spread) + 2e-16 * np.abs(kept.scatter)
    ).all()


def test_a_small_part_survives_the_removal_of_a_huge_one():
    rng = np.random.default_rng(2)
    small, huge = (
        Moments.of(rng.standard_normal((10, 3))),
        Moments.of(1e9 * rng.standard_normal((10_000, 3)) + 1e10),
    )
    # plain float64 sums would keep no digit of the small scatter here
    np.testing.assert_allclose((small + huge - huge).scatter, small.scatter, rtol=1e-9)


@given(st.integers(0, 2**32 - 1), st.floats(-1e6, 1e6), st.integers(2, 10))
def test_what_is_constant_once_a_part_is_taken_out_has_no_variance_and_no_covariance(seed, level, parts):
    rng = np.random.default_rng(seed)
    rare = np.where(rng.random((30, 1)) < 0.1, level + 1.0, level)
    blocks = [np.hstack([rng.standard_normal((30, 2)), np.full((30, 1), level)]) for _ in range(parts)]
    varied = Moments.of(np.hstack([rng.standard_normal((30, 2)), rare]))
    left = sum(map(Moments.of, blocks), start=varied) - varied
    assert (left.scatter[2] == 0.0).all() and (left.scatter[:, 2] == 0.0).all()
    assert (left.variance[:2] > 0.0).all()


@given(st.integers(0, 2**32 - 1))
def test_a_direction_in_which_rows_do_not_vary_has_no_variance_and_no_covariance(seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 4)) + rng.standard_normal(4)
    _, _, right = np.linalg.svd(rows - rows.mean(axis=0))
    turned = Moments.of(rows) @ right.T
    assert (turned.scatter[2:] == 0.0).all() and (turned.variance[:2] > 0.0).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 200), st.integers(1, 4))
def test_a_shift_changes_nothing_but_the_mean(seed, n, d):
    # values on a grid of 1/1024, so that adding 1e8 is exact and the data are truly the same but for the shift
    X = np.round(np.random.default_rng(seed).standard_normal((n, d)) * 1024) / 1024
    near, far = Moments.of(X), Moments.of(X + 1e8)
    np.testing.assert_allclose(far.mean, near.mean + 1e8, rtol=1e-15)
    spread = np.sqrt(np.diag(near.scatter))
    assert (np.abs(far.scatter - near.scatter) <= 1e-12 * np.multiply.outer(spread, spread)).all()


@given(partitioned(), st.integers(0, 2**32 - 1))
def test_a_weight_counts_as_repetition(data, seed):
    X, _ = data
    w = np.random.default_rng(seed).integers(0, 4, len(X))
    if w.sum() == 0:
        w[0] = 1
    weighted, repeated = Moments.of(X, weights=w), Moments.of(np.repeat(X, w, axis=0))
    assert weighted.weight == repeated.count
    assert weighted.count == len(X)
    np.testing.assert_allclose(weighted.mean, repeated.mean, rtol=1e-11)
    spread = np.sqrt(np.diag(repeated.scatter))
    gap = np.abs(weighted.scatter - repeated.scatter)
    assert (gap <= 1e-9 * np.multiply.outer(spread, spread) + 1e-12 * (X**2).max()).all()


@given(partitioned())
def test_a_transform_is_the_summary_of_transformed_rows(data):
    X, _ = data
    A = np.random.default_rng(0).standard_normal((X.shape[1], 3))
    direct = Moments.of(X @ A)
    through = Moments.of(X) @ A
    np.testing.assert_allclose(through.mean, direct.mean, rtol=1e-9, atol=1e-9 * np.abs(X).max())
    np.testing.assert_allclose(through.scatter, direct.scatter, atol=1e-9 * np.abs(direct.scatter).max() + 1e-9)


@given(partitioned())
def test_selected_columns_are_the_summary_of_those_columns(data):
    X, _ = data
    m = Moments.of(X, columns=[f"c{j}" for j in range(X.shape[1])])
    picked = m[["c0"]] if X.shape[1] == 1 else m[["c1", "c0"]]
    assert picked.columns == (("c0",) if X.shape[1] == 1 else ("c1", "c0"))
    assert_same_moments(picked, Moments.of(X[:, [0]] if X.shape[1] == 1 else X[:, [1, 0]]))
    assert m[:1].d == m[0].d == 1


def test_forgetting_weighs_old_rows_less():
    rng = np.random.default_rng(3)
    old, new = rng.standard_normal((40, 2)), rng.standard_normal((10, 2)) + 5
    faded = Moments.of(old).forget(0.25) + Moments.of(new)
    direct = Moments.of(np.vstack([old, new]), weights=np.r_[np.full(40, 0.25), np.ones(10)])
    np.testing.assert_allclose(faded.mean, direct.mean, rtol=1e-14)
    np.testing.assert_allclose(faded.scatter, direct.scatter, rtol=1e-12)
    correlation = Moments.of(old).correlation
    np.testing.assert_array_equal(Moments.of(old).forget(0.25).correlation, correlation)  # roots of 1/4 are exact
    five_roundings = 5 * np.finfo(float).eps  # two roots, two divisions, a mean: half an eps each, on both sides
    np.testing.assert_allclose(Moments.of(old).forget(0.5).correlation, correlation, rtol=0, atol=five_roundings)


def test_correlation_is_numpys_and_undefined_for_constant_columns():
    X = np.random.default_rng(4).standard_normal((30, 3)) @ np.diag([1e-100, 1.0, 1e100])
    np.testing.assert_allclose(
        Moments.of(X).correlation,
        np.corrcoef(X / np.diag([1e-100, 1, 1e100]).diagonal(), rowvar=False),
        rtol=1e-12,
    )
    X[:, 1] = 0.1
    R = Moments.of(X).correlation
    assert np.isnan(R[1]).all() and np.isnan(R[:, 1]).all() and np.isfinite(R[np.ix_([0, 2], [0, 2])]).all()


@pytest.mark.parametrize("value", [0.1, 1e8 + 0.1, -3e120])
def test_a_constant_column_has_variance_of_exactly_zero(value):
    X = np.full((10_000, 2), value)
    X[:, 1] = np.arange(10_000)
    m = Moments.of(X) + Moments.of(X[:77])
    assert m.variance[0] == 0.0
    assert (m.scatter[0] == 0.0).all()


def test_standardised_moments_are_those_of_standardised_rows():
    X = np.random.default_rng(5).gamma(2.0, size=(100, 3)) * [1.0, 50.0, 1e-6]
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    m = Moments.of(X).standardised()
    np.testing.assert_allclose(m.covariance, np.cov(Z, rowvar=False), rtol=1e-12)
    np.testing.assert_array_equal(m.mean, 0.0)


def test_float32_is_accumulated_in_float64():
    X = (np.random.default_rng(6).standard_normal((100_000, 3)) + 1000).astype(np.float32)
    m, oracle = Moments.of(X), Moments.of(X.astype(np.float64))
    np.testing.assert_allclose(m.covariance, oracle.covariance, rtol=1e-14)
    assert m.scatter.dtype == np.float64


def test_layout_of_the_array_does_not_matter():
    X = np.random.default_rng(7).standard_normal((5000, 6)) + 100
    m = Moments.of(X)
    for other in (np.asfortranarray(X), X[::-1][::-1], np.hstack([X, X])[:, :6]):
        np.testing.assert_allclose(Moments.of(other).scatter, m.scatter, rtol=1e-12, atol=1e-9)


def test_input_is_not_changed():
    X = np.random.default_rng(8).standard_normal((100, 3))
    before = X.copy()
    Moments.of(X, weights=np.arange(100.0))
    Moments.of([X, X])
    np.testing.assert_array_equal(X, before)


def test_a_data_frame_brings_its_names():
    frame = pl.DataFrame({"height": [1.0, 2.0, 4.0], "age": [1, 2, 3]})
    m = Moments.of(frame)
    assert m.columns == ("height", "age")
    np.testing.assert_allclose(m["age"].mean, [2.0])


def test_saved_moments_come_back_bit_for_bit(tmp_path):
    m = Moments.of(np.random.default_rng(9).standard_normal((20, 3)), columns="xyz") + Moments.of(np.ones((4, 3)))
    m.save(tmp_path / "m.assay")
    back = Moments.load(tmp_path / "m.assay")
    assert_same_bits(m, back)
    np.testing.assert_array_equal(m.scatter_pair[1], back.scatter_pair[1])
    assert back.columns == ("x", "y", "z")


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "m.assay"
    Moments.of(np.eye(12)).save(path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(FileFormatError, match="not a whole file saved by assay"):
        Moments.load(path)


def test_the_empty_summary_is_neutral():
    m = Moments.of(np.random.default_rng(10).standard_normal((5, 2)))
    assert_same_bits(m + Moments.empty(2), m)
    assert_same_bits(Moments.empty(2) + m, m)
    assert (m - m).count == 0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, 2.0], [3.0, np.nan]], r"row 1, column 1 is missing \(NaN\)"),
        ([[np.inf, 2.0], [3.0, 4.0]], "row 0, column 0 is infinite"),
        ([[1e300, 1.0], [-1e300, 2.0]], "column 0 runs from -1e.300 to 1e.300: the squares"),
        ([[1e-300, 1.0], [3e-300, 2.0]], "column 0 runs from 1e-300 to 3e-300: the squares"),
    ],
)
def test_what_cannot_be_squared_is_refused_with_its_place(X, message):
    with pytest.raises(DataError, match=message):
        Moments.of(np.array(X))


def test_the_row_is_named_in_later_blocks_too():
    X = np.zeros((20_000, 2))
    X[17_123, 1] = np.nan
    with pytest.raises(DataError, match="row 17123, column 1"):
        Moments.of(X)


def test_one_row_has_a_mean_but_no_covariance():
    m = Moments.of([[3.0, 4.0]])
    np.testing.assert_array_equal(m.mean, [3.0, 4.0])
    with pytest.raises(DataError, match="more than one row"):
        _ = m.covariance


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda m: m + Moments.empty(3), DataError, "2 and of 3 columns"),
        (lambda m: Moments.empty(2) - m, DataError, "cannot take 4 rows out of 0"),
        (lambda m: m["z"], ParameterError, "no column names"),
        (lambda m: m @ np.ones((3, 1)), ParameterError, "has shape"),
        (lambda m: m.forget(0.0), ParameterError, "keep is a share"),
        (lambda m: Moments.of(np.ones(3)), DataError, "two dimensions"),
        (lambda m: Moments.of([]), DataError, "two dimensions|nothing to summarise"),
        (lambda m: Moments.of(np.ones((2, 1)), weights=[1, -1]), ParameterError, "weight of row 1 is -1"),
        (lambda m: Moments.of(np.ones((2, 1)), weights=[1]), ParameterError, "one weight for each"),
        (lambda m: Moments.of(np.array([["a"]])), DataError, "table of numbers"),
        (lambda m: Moments.of(m[[0]].mean, columns="a"), DataError, "two dimensions"),
    ],
)
def test_wrong_use_is_refused_in_words(action, error, message):
    m = Moments.of(np.arange(8.0).reshape(4, 2))
    with pytest.raises(error, match=message):
        action(m)


def test_summaries_of_different_columns_do_not_mix():
    a = Moments.of(np.eye(2), columns=["x", "y"])
    with pytest.raises(DataError, match="column 1 is 'y' in one and 'z' in the other"):
        _ = a + Moments.of(np.eye(2), columns=["x", "z"])


class TestGiven:
    """What is left of columns once others have explained them."""

    def test_it_is_the_scatter_of_residuals_with_as_many_rows_fewer(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((50, 5)) @ rng.standard_normal((5, 5)) + 1e3
        left = Moments.of(X, columns=list("abcde")).given(["b", "d"])
        A, Z = X[:, [0, 2, 4]], np.column_stack([np.ones(50), X[:, [1, 3]]])
        residual = A - Z @ np.linalg.lstsq(Z, A, rcond=None)[0]
        np.testing.assert_allclose(left.scatter, residual.T @ residual, rtol=1e-8)
        assert left.columns == ("a", "c", "e") and left.count == 48 and left.weight == 48.0
        np.testing.assert_allclose(left.mean, A.mean(axis=0), rtol=1e-12)

    def test_columns_may_be_taken_out_together_or_one_after_the_other(self):
        X = np.random.default_rng(1).standard_normal((40, 4))
        m = Moments.of(X, columns=list("abcd"))
        np.testing.assert_allclose(m.given(["c", "d"]).scatter, m.given("c").given("d").scatter, rtol=1e-9, atol=1e-9)

    def test_columns_that_depend_on_each_other_count_once_and_explained_ones_vanish(self):
        X = np.random.default_rng(2).standard_normal((40, 3))
        both = Moments.of(np.column_stack([X, X[:, 2], 2.0 * X[:, 2] + 1.0]))
        left = both.given([2, 3])
        np.testing.assert_allclose(left.scatter[:2, :2], Moments.of(X).given([2]).scatter, rtol=1e-9, atol=1e-9)
        assert left.count == 39 and (left.scatter[2] == 0.0).all()

    def test_all_none_or_too_many_are_refused(self):
        m = Moments.of(np.random.default_rng(3).standard_normal((4, 4)))
        for columns in ([], [0, 1, 2, 3]):
            with pytest.raises(ParameterError, match="some but not all of the 4 columns are held fixed"):
                m.given(np.array(columns, dtype=int))
        with pytest.raises(DataError, match="3 directions held fixed leave nothing of a weight of 4"):
            m.given([0, 1, 2])
