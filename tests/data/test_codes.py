"""Labels as numbers: always what sorting them gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, integer_dtypes, unsigned_integer_dtypes

from assay.data.codes import numbered


@given(
    st.one_of(
        arrays(st.one_of(integer_dtypes(endianness="="), unsigned_integer_dtypes(endianness="=")), st.integers(0, 30)),
        arrays(np.int64, st.integers(1, 50), elements=st.integers(-5, 5)),
    )
)
def test_counting_gives_what_sorting_gives(labels):
    values, codes = numbered(labels)
    expected, inverse = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(codes, inverse)
    assert values.dtype == labels.dtype and codes.dtype == np.intp


@pytest.mark.parametrize("labels", [["b", "a", "b"], [True, False], [0.5, -1.0, 0.5], [[1, 2], [2, 1]]])
def test_other_labels_are_sorted(labels):
    values, codes = numbered(np.array(labels))
    np.testing.assert_array_equal(values[codes], np.array(labels))
