"""Tables beside a page, and the schema of the JSON."""

import json

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from assay.cli import app
from assay.report.json_schema import schema_of

ROWS = "id,x,y\n" + "".join(f"P{i:03d},{i % 7}.5,{i * i % 5}\n" for i in range(60))


def report(folder, *flags):
    (folder / "d.csv").write_text(ROWS)
    return CliRunner().invoke(app, ["report", str(folder / "d.csv"), "-o", str(folder / "p.html"), *flags])


def test_tables_are_written_with_their_identifiers_and_a_second_run_replaces_them(tmp_path):
    for _ in range(2):
        done = report(tmp_path, "--tables", str(tmp_path / "out"))
        assert done.exit_code == 0 and "The tables are in file://" in done.output
    table = pyarrow.parquet.read_table(tmp_path / "out" / "stringing_rows.parquet").to_pydict()
    assert table["id"] == [f"P{row - 1:03d}" for row in table["row_in_data"]]


def test_text_tables_are_replaced_by_force_only_and_that_is_said_before_anything_is_computed(tmp_path):
    flags = ("--tables", str(tmp_path / "out"), "--tables-as", "csv")
    assert report(tmp_path, *flags).exit_code == 0
    (tmp_path / "p.html").unlink()
    done = report(tmp_path, *flags)
    assert done.exit_code == 2 and "findings.csv is there; take another folder, or --force" in done.output
    assert not (tmp_path / "p.html").exists()
    assert report(tmp_path, *flags, "--force").exit_code == 0


def test_the_folder_of_the_data_is_refused_where_they_could_be_overwritten(tmp_path):
    done = report(tmp_path, "--tables", str(tmp_path), "--tables-as", "csv", "--force")
    assert done.exit_code == 2 and "the data are there; take another folder" in done.output
    assert (tmp_path / "d.csv").read_text() == ROWS


@pytest.mark.parametrize("what", ["study", "comparison"])
def test_the_schema_is_printed_as_json(what):
    done = CliRunner().invoke(app, ["schema", what])
    assert done.exit_code == 0 and json.loads(done.stdout) == schema_of(what)


def test_the_schema_of_a_study_is_the_first_to_be_asked_for():
    assert json.loads(CliRunner().invoke(app, ["schema"]).stdout) == schema_of("study")
    assert CliRunner().invoke(app, ["schema", "page"]).exit_code == 2
