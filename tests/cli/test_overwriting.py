"""What assay did not write is not overwritten, unless somebody says so."""

import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.cli.output import is_ours


def run(*words):
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize("option", ["-o", "--json"])
def test_a_page_of_somebody_else_stays_and_one_of_ours_is_replaced(folder, option, monkeypatch):
    (folder / "mine").write_text("my own notes")
    with monkeypatch.context() as patched:
        patched.setattr("assay.study.run.study", None)  # nothing is computed
        done = run("report", "d.csv", option, "mine")
    assert done.exit_code == 2 and "assay did not write it; give another name, or --force" in done.stderr
    assert (folder / "mine").read_text() == "my own notes"
    done = run("report", "d.csv", option, "mine", "--only", "correlations", "--force")
    assert done.exit_code == 0 and (folder / "mine").read_text() != "my own notes"
    assert run("report", "d.csv", option, "mine", "--only", "correlations").exit_code == 0


def test_tables_are_known_where_they_can_say_whose_they_are(folder):
    assert run("correlate", "d.csv", "-o", "pairs.parquet").exit_code == 0
    assert is_ours(folder / "pairs.parquet") and run("correlate", "d.csv", "-o", "pairs.parquet").exit_code == 0
    assert run("correlate", "d.csv", "-o", "pairs.csv").exit_code == 0
    done = run("correlate", "d.csv", "-o", "pairs.csv")
    assert done.exit_code == 2 and "assay did not write it" in done.stderr
    assert run("correlate", "d.csv", "-o", "pairs.csv", "--force").exit_code == 0


def test_what_says_whose_it_is_and_what_does_not(tmp_path):
    model, json, other, empty = (tmp_path / name for name in ("m.assay", "f.json", "o.json", "e"))
    assay.PCA(1).fit([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]]).save(model)
    json.write_text('{"answers": {}, "assay": "0.1.0"}')
    other.write_text('{"essay": 1}')
    empty.touch()
    assert is_ours(model) and is_ours(json) and is_ours(empty)
    assert not is_ours(other)
    other.write_text('{"assay": ')
    assert not is_ours(other)
