import pyarrow as pa
import pytest

from assay.data.columns.chosen import two_sides
from assay.data.source import ArrowSource
from assay.errors import ParameterError


def table():
    return ArrowSource(pa.table({"a": [1.0, 2.0], "u": ["x", "y"], "b": [3.0, 4.0]}))


def test_two_sides_share_the_rows_of_a_source():
    left, right = two_sides(table(), ["u"])
    assert left.to_arrow().to_pydict() == {"a": [1.0, 2.0], "b": [3.0, 4.0]}
    assert right.to_arrow().to_pydict() == {"u": ["x", "y"]}
    assert [field.name for field in left.schema] == ["a", "b"] and left.rows == 2
    assert left.place_of(1) == table().place_of(1)


@pytest.mark.parametrize(
    ("names", "said"),
    [([], "2|3 are left"), (["a", "u", "b"], "0 are left for one and 3"), (["w"], "no column 'w'; there are a, u, b")],
)
def test_what_leaves_a_side_empty_is_refused(names, said):
    with pytest.raises(ParameterError, match=said):
        two_sides(table(), names)
