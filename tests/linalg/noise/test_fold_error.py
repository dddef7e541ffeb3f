"""The corrected interval of a mean over folds, beside SciPy's Student law and a simulation of what it assumes."""

import numpy as np
import pytest
from scipy.stats import t as student

from assay.linalg.noise.fold_error import fold_error, fold_interval


def test_folds_of_equal_size_test_one_row_for_each_of_the_others():
    values = np.random.default_rng(0).standard_normal((10, 3))
    np.testing.assert_allclose(fold_error(values), fold_error(values, 0.1 / 0.9), rtol=1e-14)


def test_the_interval_is_students_about_the_centre():
    values = np.random.default_rng(1).standard_normal(10)
    error = fold_error(values, 0.25)
    assert error == pytest.approx(values.std(ddof=1) * np.sqrt(0.1 + 0.25), rel=1e-14)
    expected = student.interval(0.95, 9, loc=0.3, scale=error)
    np.testing.assert_allclose(fold_interval(0.3, error, 10), expected, rtol=1e-12)


def test_an_interval_ends_where_the_measure_ends():
    found = fold_interval([0.02, 0.5, 0.99], [0.1, 0.01, 0.1], 5, within=(0.0, 1.0))
    assert found[0, 0] == 0.0 and found[2, 1] == 1.0
    np.testing.assert_array_equal(found[1], fold_interval(0.5, 0.01, 5))


def test_means_whose_folds_are_correlated_as_assumed_are_covered_as_promised():
    # ten values of variance 1 and correlation 1 / 10: what the correction assumes. Their mean has the variance .19, of
    # which an interval without it knows .09: Student's 2.26 becomes 1.56, which covers 85%
    # 4000 tables: a share of 95% has a standard error of .35%
    rng = np.random.default_rng(2)
    tables, m, r = 4000, 10, 0.1
    values = np.sqrt(r) * rng.standard_normal((1, tables)) + np.sqrt(1 - r) * rng.standard_normal((m, tables))
    covered = []
    for overlap in (None, 0.0):
        low, high = fold_interval(values.mean(axis=0), fold_error(values, overlap), m).T
        covered.append(np.mean((low < 0) & (high > 0)))
    assert covered[0] == pytest.approx(0.95, abs=0.012)
    assert covered[1] < 0.87
