"""Files of Stata, SPSS and SAS: what other programs wrote comes back, and damage is told in a sentence."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import assay
from assay.data.formats import statistics_files
from assay.errors import DataError

pyreadstat = pytest.importorskip("pyreadstat")
ROWS = 50
LABELS = {"grade": {1.0: "low", 2.0: "middle", 3.0: "high"}, "age": {99.0: "refused"}}
START = dt.date(1999, 12, 30)


def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=ROWS)
    x[::9] = np.nan
    return pd.DataFrame(
        {
            "x": x,
            "grade": [float(i % 3 + 1) for i in range(ROWS)],
            "age": [float(20 + i) for i in range(ROWS)],
            "word": ["" if i % 5 == 0 else f"w{i}" for i in range(ROWS)],
            "day": [START + dt.timedelta(days=i) for i in range(ROWS)],
            "moment": [dt.datetime(1999, 12, 31, 23, 59, 30) + dt.timedelta(seconds=i) for i in range(ROWS)],
        }
    )


WRITERS = {
    "dta": lambda path: pyreadstat.write_dta(
        frame(), path, variable_value_labels=LABELS, column_labels={"x": "what was measured"}
    ),
    "sav": lambda path: pyreadstat.write_sav(
        frame(), path, variable_value_labels=LABELS, column_labels={"x": "what was measured"}
    ),
    "zsav": lambda path: pyreadstat.write_sav(
        frame(), path, variable_value_labels=LABELS, column_labels={"x": "what was measured"}, compress=True
    ),
    "por": lambda path: pyreadstat.write_por(frame(), path),
    "xpt": lambda path: pyreadstat.write_xport(frame(), path),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_what_was_written_comes_back(tmp_path, suffix):
    path = str(tmp_path / f"t.{suffix}")
    WRITERS[suffix](path)
    read = assay.read(path).to_arrow()
    read = read.rename_columns([name.lower() for name in read.column_names])
    meant = frame()
    np.testing.assert_allclose(read["x"].to_numpy(), meant["x"])
    assert read["x"].null_count == int(meant["x"].isna().sum())
    assert read["word"].to_pylist() == [word or None for word in meant["word"]]
    assert read["day"].to_pylist() == list(meant["day"])
    assert [t.replace(microsecond=0) for t in read["moment"].to_pylist()] == list(meant["moment"])
    if suffix not in ("por", "xpt"):
        assert read["grade"].to_pylist() == [LABELS["grade"][value] for value in meant["grade"]]
        assert read.schema.field("x").metadata == {b"label": b"what was measured"}
    np.testing.assert_allclose(read["age"].to_numpy(), meant["age"])


def test_a_file_of_pandas_comes_back(tmp_path):
    path = tmp_path / "t.dta"
    grades = pd.Categorical(["low", "high", "low", "middle"] * 5, ["low", "middle", "high"], ordered=True)
    pd.DataFrame({"n": np.arange(20, dtype="int16"), "grade": grades}).to_stata(path, write_index=False)
    read = assay.read(path).to_arrow()
    assert read["n"].to_pylist() == list(range(20)) and pa.types.is_integer(read.schema.field("n").type)
    assert read["grade"].to_pylist() == list(grades)


def test_labels_are_levels_and_those_of_single_values_change_nothing(tmp_path):
    path = str(tmp_path / "t.sav")
    pyreadstat.write_sav(frame(), path, variable_value_labels=LABELS, variable_measure={"grade": "ordinal"})
    source = assay.read(path)
    kinds = {field.name: field for field in source.schema}
    assert kinds["grade"].kind == "ordered" and kinds["grade"].levels == ("low", "middle", "high")
    assert kinds["age"].kind in ("number", "count")
    assert kinds["day"].kind == kinds["moment"].kind == "time"
    assert any("labels that the file has for them: grade" in note for note in source.notes)
    assert any("Only some values have labels" in note and "age" in note for note in source.notes)


def test_what_the_program_calls_missing_is_missing(tmp_path):
    path = str(tmp_path / "t.sav")
    ages = pd.DataFrame({"age": [30.0, 99.0, 41.0, 98.0] * 5})
    pyreadstat.write_sav(ages, path, missing_ranges={"age": [{"lo": 98, "hi": 99}]})
    assert assay.read(path).to_arrow()["age"].to_pylist() == [30.0, None, 41.0, None] * 5


def test_blocks_are_the_rows_in_order_however_small(tmp_path, monkeypatch):
    path = str(tmp_path / "t.sav")
    WRITERS["sav"](path)
    whole = assay.read(path).to_arrow()
    monkeypatch.setattr(statistics_files, "_CELLS", 42)
    blocks = list(assay.read(path).blocks())
    assert len(blocks) > 5
    assert pa.Table.from_batches(blocks).to_pylist() == whole.to_pylist()


def test_a_value_without_a_label_in_a_later_block_is_called_by_itself(tmp_path, monkeypatch):
    path = str(tmp_path / "t.dta")
    codes = [1.0, 2.0] * 10 + [7.0]
    pyreadstat.write_dta(pd.DataFrame({"k": codes}), path, variable_value_labels={"k": {1: "a", 2: "b"}})
    monkeypatch.setattr(statistics_files, "BLOCK_ROWS", 10)
    assert assay.read(path).to_arrow()["k"].to_pylist() == ["a", "b"] * 10 + ["7"]


def test_sensitive_columns_are_not_read(tmp_path):
    path = str(tmp_path / "t.sav")
    WRITERS["sav"](path)
    source = assay.read(path, sensitive=["word"])
    assert "word" not in source.to_arrow().column_names
    with pytest.raises(assay.errors.ParameterError, match="there is none"):
        assay.read(path, sensitive=["wort"])


DAMAGED = {
    "cut": lambda content: content[: len(content) // 2],
    "no rows left": lambda content: content[:400],
    "its head is wrong": lambda content: content[:24] + b"\xff" * 160 + content[184:],
}


@pytest.mark.parametrize("suffix", ["dta", "sav", "xpt"])
@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_files_give_rows_or_one_sentence(tmp_path, suffix, case):
    path = tmp_path / f"t.{suffix}"
    WRITERS[suffix](str(path))
    path.write_bytes(DAMAGED[case](path.read_bytes()))
    if suffix == "xpt" and case == "cut":  # what is there of a transport file is a shorter one
        assert assay.read(path).to_arrow().num_rows < ROWS
        return
    with pytest.raises(DataError) as refusal:
        assay.read(path).to_arrow()
    said = str(refusal.value)
    assert str(path) in said and "\n" not in said and "save it again" in said


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("t.sas7bdat", bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011") + b"\0" * 900),
        ("old.dta", b"\x72\x02\x01\x00" + b"\0" * 200),
    ],
)
def test_a_file_is_told_by_its_first_bytes_and_refused_where_nothing_follows(tmp_path, name, start):
    (tmp_path / name).write_bytes(start)
    with pytest.raises(DataError, match="damaged|no columns"):
        assay.read(tmp_path / name)


def test_a_file_that_is_no_such_file_is_refused_by_its_name(tmp_path):
    (tmp_path / "t.sav").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="by its name it is an SPSS file"):
        assay.read(tmp_path / "t.sav")


def test_a_reader_that_breaks_is_told_in_a_sentence(tmp_path, monkeypatch):
    path = str(tmp_path / "t.sav")
    WRITERS["sav"](path)
    monkeypatch.setattr(statistics_files, "_PROGRAM", "import os; os.abort()")
    with pytest.raises(DataError, match="breaks the reader"):
        assay.read(path)


def test_without_the_package_the_remedy_is_told(tmp_path, monkeypatch):
    path = str(tmp_path / "t.sav")
    WRITERS["sav"](path)
    monkeypatch.setattr(statistics_files, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"an SPSS file, and the package pyreadstat is missing: install assay\[st"):
        assay.read(path)
