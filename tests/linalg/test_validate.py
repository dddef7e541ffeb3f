import numpy as np
import pytest
import scipy.sparse as sp

from assay.errors import DataError, ParameterError
from assay.linalg.validate import (
    as_count,
    as_generator,
    as_matrix,
    as_right_side,
    as_square,
    as_symmetric,
    as_vector,
    power_of_two,
)


def test_the_first_missing_entry_is_named_by_row_and_column():
    A = np.ones((5, 3))
    A[3, 1] = A[4, 2] = np.nan
    with pytest.raises(DataError, match=r"A must be finite: row 3, column 1 \(counted from 0\) is NaN \(2 such"):
        as_matrix(A)


def test_an_infinite_entry_of_a_vector_is_named():
    with pytest.raises(DataError, match=r"b must be finite: entry 1 \(counted from 0\) is infinite \(1 such"):
        as_vector([1.0, -np.inf], name="b")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: as_matrix([1, 2]), r"A must be a matrix \(2 dimensions\), has shape \(2,\)"),
        (lambda: as_vector([[1, 2]]), r"x must be a vector \(1 dimension\), has shape \(1, 2\)"),
        (lambda: as_matrix([[1j]]), "A must be real, is complex"),
        (lambda: as_matrix([["a"]]), "A must hold numbers"),
        (lambda: as_matrix(np.empty((0, 3))), r"A must not be empty, has shape \(0, 3\)"),
        (lambda: as_matrix(sp.eye_array(2)), r"A must be a dense array here, is sparse .* Call .toarray\(\)"),
        (lambda: as_square([[1, 2]]), r"A must be square, has shape \(1, 2\)"),
        (lambda: as_vector([1, 2], size=3), "x must have 3 entries, has 2"),
        (lambda: as_right_side([1, 2], 3), "b must have 3 rows like the matrix, has 2"),
    ],
)
def test_what_is_not_a_real_array_of_the_right_shape_is_refused_with_the_reason(call, text):
    with pytest.raises(DataError, match=text):
        call()


def test_asymmetry_beyond_rounding_is_refused_and_named():
    with pytest.raises(DataError, match=r"row 0, column 2 \(counted from 0\) is 5 but row 2, column 0 is 4"):
        as_symmetric([[1, 2, 5], [2, 1, 3], [4, 3, 1]])


def test_asymmetry_of_rounding_is_averaged_away():
    A = np.array([[1.0, 2.0], [2.0 + 1e-15, 3.0]])
    S = as_symmetric(A)
    assert S[0, 1] == S[1, 0]
    assert A[1, 0] != A[0, 1]


def test_symmetry_of_the_largest_floats_is_judged_without_overflow():
    big = 1.7e308
    assert as_symmetric([[big, -big], [-big, big]])[0, 0] == big
    with pytest.raises(DataError, match="symmetric"):
        as_symmetric([[big, big], [-big, big]])


@pytest.mark.parametrize("k", [0, 4, -1])
def test_a_count_outside_its_range_is_refused(k):
    with pytest.raises(ParameterError, match=rf"k must be between 1 and 3 \(the size of the matrix\), is {k}"):
        as_count(k, 3)


@pytest.mark.parametrize("k", [2.0, True, "2"])
def test_a_count_that_is_no_whole_number_is_refused(k):
    with pytest.raises(ParameterError, match="k must be a whole number"):
        as_count(k, 3)


def test_integers_and_read_only_arrays_are_taken_and_floats_are_not_copied():
    A = np.eye(3)
    A.flags.writeable = False
    assert as_matrix(A) is A
    assert as_matrix(np.eye(3, dtype=int)).dtype == np.float64


@pytest.mark.parametrize("value", [5e-324, 1e-300, 0.3, 1.0, 3.0, 1e300, 1.7e308])
def test_the_scale_is_a_power_of_two_near_the_largest_entry(value):
    scale = power_of_two(np.array([value / 2, -value]))
    assert np.frexp(scale)[0] == 0.5
    assert np.isfinite(1 / scale)
    assert value / scale < 2 and (value / scale >= 1 or value < 1e-300)


def test_every_kind_of_random_state_gives_a_repeatable_stream():
    assert as_generator(3).random() == as_generator(3).random()
    assert as_generator(np.random.RandomState(3)).random() == as_generator(np.random.RandomState(3)).random()
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng
