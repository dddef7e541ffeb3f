"""Tables to files: all or none, and nothing of others is replaced."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from assay.asking.table_files import write_tables
from assay.errors import DataError, ParameterError

TABLES = {"one": pa.table({"a": [1, 2]}), "two": pa.table({"b": ["x", None]})}


def test_parquet_gives_the_tables_back(tmp_path):
    files = write_tables(TABLES, tmp_path / "new" / "folder", "parquet")
    assert [file.name for file in files] == ["one.parquet", "two.parquet"]
    assert [pyarrow.parquet.read_table(file) for file in files] == list(TABLES.values())


def test_tables_of_an_earlier_run_are_replaced_and_those_of_others_are_not(tmp_path):
    write_tables(TABLES, tmp_path, "parquet")
    write_tables(TABLES, tmp_path, "parquet")
    pyarrow.parquet.write_table(TABLES["one"], tmp_path / "two.parquet")
    (tmp_path / "one.parquet").write_text("no table")
    with pytest.raises(DataError, match=r"one.parquet, two.parquet are there"):
        write_tables(TABLES, tmp_path, "parquet")


def test_csv_gives_the_values_back(tmp_path):
    one, _ = write_tables(TABLES, tmp_path, "csv")
    assert pyarrow.csv.read_csv(one) == TABLES["one"]


def test_files_that_are_there_stay_unless_forced(tmp_path):
    (tmp_path / "two.csv").write_text("mine")
    with pytest.raises(DataError, match="two.csv is there; take another folder, or --force"):
        write_tables(TABLES, tmp_path, "csv")
    assert (tmp_path / "two.csv").read_text() == "mine" and not (tmp_path / "one.csv").exists()
    write_tables(TABLES, tmp_path, "csv", force=True)
    assert (tmp_path / "two.csv").read_text() != "mine"


def test_where_one_cannot_be_written_none_is(tmp_path):
    tables = {**TABLES, "three": pa.table({"c": pa.array([[1]])})}  # CSV has no lists
    with pytest.raises(pa.ArrowInvalid):
        write_tables(tables, tmp_path, "csv")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder_and_formats_are_known(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="it is a file; give the name of a folder"):
        write_tables(TABLES, tmp_path / "file", "csv")
    with pytest.raises(ParameterError, match="one of parquet, csv; got 'xlsx'"):
        write_tables(TABLES, tmp_path, "xlsx")


def test_names_of_other_packages_cannot_leave_the_folder(tmp_path):
    (file,) = write_tables({"../../away": TABLES["one"]}, tmp_path, "csv")
    assert file.parent == tmp_path and file.exists()
