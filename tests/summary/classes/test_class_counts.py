"""Counts and moments by class: merging, missing cells, places named."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import assay
from assay import ClassCounts
from assay.errors import DataError, FileFormatError, ParameterError

KINDS = ("gaussian", "multinomial", "bernoulli", "categorical", "gaussian")


def table(n, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.standard_normal(n) + offset,
            rng.poisson(3.0, n),
            rng.random(n) < 0.4,
            rng.integers(0, 4, n),
            rng.exponential(size=n),
        ]
    )
    X[rng.random(n) < 0.2, 0] = np.nan
    X[rng.random(n) < 0.1, 3] = np.nan
    return X, rng.choice(["a", "b", "c"], n)


def assert_same(one, other, rtol=1e-12):
    assert one.labels == other.labels and one.kinds == other.kinds
    for name in ("count", "weight", "observed", "totals"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_allclose(one.mean, other.mean, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(one.squares, other.squares, rtol=rtol, atol=1e-9)
    for a, b in zip((*one.levels, *one.tallies), (*other.levels, *other.tallies), strict=True):
        np.testing.assert_array_equal(a, b)


class TestMerging:
    @settings(max_examples=25, deadline=None)
    @given(cuts=st.lists(st.integers(1, 59), max_size=4), seed=st.integers(0, 1000))
    def test_parts_however_cut_give_the_counts_of_the_whole(self, cuts, seed):
        X, y = table(60, seed)
        edges = [0, *sorted(set(cuts)), 60]
        parts = [ClassCounts.of(X[a:b], y[a:b], kinds=KINDS) for a, b in itertools.pairwise(edges)]
        assert_same(sum(parts), ClassCounts.of(X, y, kinds=KINDS))

    def test_the_order_of_merging_does_not_matter(self):
        X, y = table(90)
        a, b, c = (ClassCounts.of(X[i : i + 30], y[i : i + 30], kinds=KINDS) for i in (0, 30, 60))
        assert_same(a + b + c, c + (b + a))

    def test_far_from_zero_the_squares_keep_the_digits_that_the_data_have(self):
        X, y = table(9000, offset=1e8)
        near = X.copy()
        near[:, 0] -= 1e8  # exact: what is left is what the rounding at 1e8 has left
        far, close = (ClassCounts.of(Z, y, kinds=KINDS) for Z in (X, near))
        # means of parts are known to 1.5e-8 there, and so are the gaps between them, which are some hundredths
        np.testing.assert_allclose(far.squares[:, 0], close.squares[:, 0], rtol=1e-9)
        # the means of three chunks are rounded, and the two merges: half a spacing each
        np.testing.assert_allclose(far.mean[:, 0] - 1e8, close.mean[:, 0], atol=2 * np.spacing(1e8))

    def test_classes_far_from_each_other_keep_their_small_spread(self):
        rng = np.random.default_rng(0)
        y = np.arange(8000) % 2
        noise = rng.standard_normal((8000, 1))
        found = ClassCounts.of(noise + 1e8 * y[:, None], y)
        spread = [np.sum((noise[y == c] - noise[y == c].mean()) ** 2) for c in (0, 1)]
        np.testing.assert_allclose(found.squares[:, 0], spread, rtol=1e-6)

    def test_other_columns_or_kinds_are_not_combined(self):
        one = ClassCounts.of(np.ones((2, 2)), [0, 1], columns=("x", "y"))
        with pytest.raises(DataError, match="or of other kinds, cannot be combined: gaussian, gaussian in one"):
            one + ClassCounts.of(np.ones((2, 2)), [0, 1], kinds="bernoulli")
        with pytest.raises(DataError, match="different columns cannot be combined: x, y in one and x, z in the other"):
            one + ClassCounts.of(np.ones((2, 2)), [0, 1], columns=("x", "z"))


class TestCounting:
    def test_moments_are_numpys_without_the_missing_cells(self):
        X, y = table(500)
        found = ClassCounts.of(X, y, kinds="gaussian")
        for c, label in enumerate(found.labels):
            own = X[y == label]
            np.testing.assert_allclose(found.mean[c], np.nanmean(own, axis=0), rtol=1e-12)
            np.testing.assert_allclose(found.squares[c], np.nanvar(own, axis=0) * (~np.isnan(own)).sum(0), rtol=1e-11)

    def test_a_weight_of_two_is_the_row_twice(self):
        X, y = table(50)
        w = np.random.default_rng(1).integers(0, 4, 50)
        twice = ClassCounts.of(np.repeat(X, w, axis=0), np.repeat(y, w), kinds=KINDS)
        weighted = ClassCounts.of(X, y, kinds=KINDS, weights=w)
        for name in ("weight", "observed", "mean", "squares", "totals"):
            np.testing.assert_allclose(getattr(weighted, name), getattr(twice, name), atol=1e-11, err_msg=name)

    @pytest.mark.parametrize("kind", ["gaussian", "multinomial", "bernoulli", "categorical"])
    def test_a_sparse_matrix_counts_as_its_dense_form(self, kind):
        X = np.random.default_rng(0).poisson(0.5, (200, 6)).astype(float)
        y = np.arange(200) % 3
        assert_same(ClassCounts.of(csr_array(X), y, kinds=kind), ClassCounts.of(X, y, kinds=kind))

    def test_the_number_of_threads_and_the_layout_do_not_change_a_bit(self):
        X, y = table(20_000)
        one = ClassCounts.of(X, y, kinds=KINDS, threads=1)
        for other in (
            ClassCounts.of(X, y, kinds=KINDS, threads=3),
            ClassCounts.of(np.asfortranarray(X), y, kinds=KINDS),
        ):
            np.testing.assert_array_equal(one.squares, other.squares)

    def test_float32_rows_are_summed_in_float64(self):
        X = np.random.default_rng(0).random((5000, 3)).astype(np.float32)
        y = np.arange(5000) % 2
        assert_same(ClassCounts.of(X, y), ClassCounts.of(X.astype(float), y))

    def test_a_constant_column_has_no_squares_even_if_its_first_cells_are_missing(self):
        X = np.full((700, 1), 0.1)
        X[:2] = np.nan
        assert not ClassCounts.of(X, np.arange(700) % 3).squares.any()


class TestRefusals:
    def test_an_infinite_cell_is_named(self):
        X, y = table(30)
        for column in (0, 2, 3):
            Z = X.copy()
            Z[7, column] = np.inf
            with pytest.raises(
                DataError, match=rf"row 7, column {column} is infinite \(inf\): naive Bayes needs finite"
            ):
                ClassCounts.of(Z, y, kinds=KINDS)

    def test_a_negative_count_is_named_in_dense_and_sparse_rows(self):
        X = np.ones((9, 2))
        X[4, 1] = -3.0
        for rows in (X, csr_array(X)):
            with pytest.raises(DataError, match="row 4, column 1 is -3, but multinomial columns are counts"):
                ClassCounts.of(rows, np.zeros(9), kinds="multinomial")

    @pytest.mark.parametrize("scale", [1e-300, 1e300])
    def test_a_column_whose_squares_leave_the_range_of_numbers_is_named(self, scale):
        X = np.random.default_rng(0).standard_normal((30, 3))
        X[:, 2] *= scale
        X[5, 2] = np.nan
        with pytest.raises(DataError, match="column 2 runs from .* rescale the column"):
            ClassCounts.of(X, np.arange(30) % 2)

    def test_options_that_do_not_fit_are_named(self):
        with pytest.raises(
            ParameterError, match="kinds are gaussian, multinomial, bernoulli, categorical; got 'normal'"
        ):
            ClassCounts.of(np.ones((2, 1)), [0, 1], kinds="normal")
        with pytest.raises(ParameterError, match="one for each of the 1; got 2"):
            ClassCounts.of(np.ones((2, 1)), [0, 1], kinds=["gaussian", "bernoulli"])
        with pytest.raises(ParameterError, match="there are 2 rows and 3 classes"):
            ClassCounts.of(np.ones((2, 1)), [0, 1, 1])
        with pytest.raises(ParameterError, match="more rows than classes given: row 1 has none"):
            ClassCounts.of(np.ones((2, 1)), [0])
        with pytest.raises(DataError, match="class 1 is none of those named: 0, 2"):
            ClassCounts.of(np.ones((2, 1)), [0, 1]).with_labels([0, 2])


class TestFiles:
    def test_counts_come_back_from_a_file_bit_for_bit(self, tmp_path):
        X, y = table(200)
        counts = ClassCounts.of(X, y, kinds=KINDS, columns=tuple("vwxyz"))
        counts.save(tmp_path / "counts")
        back = assay.load(tmp_path / "counts")
        assert_same(back, counts, rtol=0.0)
        assert back.columns == counts.columns and repr(back) == repr(counts)

    def test_a_class_of_few_rows_is_not_written(self, tmp_path):
        with pytest.raises(DataError, match=r"1 of its groups have fewer than 10 rows \(3\)"):
            ClassCounts.of(np.ones((23, 1)), [0] * 20 + [1] * 3).save(tmp_path / "counts")

    def test_a_damaged_file_is_refused(self):
        header, arrays = ClassCounts.of(np.ones((4, 1)), [0, 0, 1, 1]).to_parts()
        with pytest.raises(FileFormatError, match="does not hold whole ClassCounts: 'mean'"):
            ClassCounts.from_parts(header, {k: v for k, v in arrays.items() if k != "mean"})
        with pytest.raises(FileFormatError, match="its arrays have shapes"):
            ClassCounts.from_parts(header, {**arrays, "mean": np.ones((3, 1))})
