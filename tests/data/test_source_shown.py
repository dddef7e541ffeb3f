"""A source shows its columns."""

import numpy as np
import pyarrow as pa

import assay
from assay.errors import DataError

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m"


def test_columns_come_with_their_kinds_and_rows_where_they_are_known():
    source = assay.read(pa.table({"patient": ["a", "b"], "weight [kg]": [70.5, 80.25]}), roles={"patient": "label"})
    lines = repr(source).splitlines()
    assert lines[0] == "Source data: 2 rows, 2 columns"
    assert lines[1].split() == ["patient", source.schema[0].kind, "label"]
    assert lines[2].split()[:3] == ["weight", "[kg]", "number"] and "kg" in lines[2].split("number")[1]


def test_rows_of_a_file_that_are_not_counted_yet_are_not_made_up(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1.5,2\n2.5,3\n")
    source = assay.read(tmp_path / "a.csv")
    assert "a.csv: rows not counted yet, 2 columns" in repr(source)


def test_a_wide_source_lists_some_and_counts_the_rest():
    lines = repr(assay.read(np.zeros((3, 500)) + np.arange(500))).splitlines()
    assert len(lines) == 42 and lines[-1] == "  and 460 more"


def test_names_neither_act_nor_hide():
    source = assay.read(pa.table({HOSTILE: [1.0, 2.0]}))
    assert "\x1b" not in repr(source) + source._repr_html_()
    assert "<img" not in source._repr_html_() and "&lt;img" in source._repr_html_()


def test_sensitive_columns_are_not_listed():
    source = assay.read(pa.table({"name": ["a", "b"], "x": [1.0, 2.0]}), sensitive=["name"])
    assert "name" not in repr(source) and "1 column" in repr(source)


def test_a_source_that_cannot_be_read_still_has_a_repr(tmp_path, monkeypatch):
    source = assay.read(pa.table({"x": [1.0, 2.0]}))

    def broken():
        raise DataError("the disk is gone")

    monkeypatch.setattr(source, "_arrow_schema", broken)
    assert repr(source) == "<Source data, which cannot be read: the disk is gone>"
