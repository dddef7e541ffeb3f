"""Settings from assay.toml: the command line goes before them, and what is wrong in them is told with its place."""

import json

import pytest
from typer.testing import CliRunner

from assay.cli import app


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_the_file_of_the_folder_is_heeded_and_named_and_the_command_line_goes_before_it(folder):
    (folder / "assay.toml").write_text(
        'seed = 3\ndrop = "b"\n[report]\nonly = ["correlations"]\nkind = {a = "number"}\n[compare]\nlevel = 0.1\n'
    )
    done = run("report", "d.csv", "-o", "r.html", "--json", "f.json")
    assert done.exit_code == 0, done.stderr
    assert "note: from assay.toml: seed, drop, only, kind" in done.stderr
    found = json.loads((folder / "f.json").read_text())
    assert found["ledger"]["seed"] == 3 and set(found["answers"]) == {"correlations"}
    assert [column["name"] for column in found["data"]["columns"] if column["used"]] == ["a", "c"]
    done = run("report", "d.csv", "-o", "r.html", "--json", "f.json", "--seed", "4")
    assert json.loads((folder / "f.json").read_text())["ledger"]["seed"] == 4
    assert "note: from assay.toml: drop, only, kind" in done.stderr


def test_a_file_can_be_named_and_without_one_nothing_is_said(folder):
    (folder / "mine.toml").write_text('[report]\nonly = "correlations"\n')
    done = run("report", "d.csv", "-o", "r.html", "--config", "mine.toml")
    assert done.exit_code == 0 and "note: from mine.toml: only" in done.stderr
    assert "note:" not in run("chance", "9", "0.05").stderr


def test_columns_that_the_file_calls_sensitive_stay_so_whatever_the_command_line_adds(folder):
    (folder / "assay.toml").write_text('sensitive = ["a"]\n')
    done = run("report", "d.csv", "--json", "f.json", "-o", "r.html", "--skip", "correlations", "--sensitive", "b")
    names = [column["name"] for column in json.loads((folder / "f.json").read_text())["data"]["columns"]]
    assert done.exit_code == 0 and names == ["c"]


WRONG = {
    "a setting misspelt": ("sed = 1", "assay.toml, line 1: 'sed' is no setting of any command (did you mean 'seed'?)"),
    "in a section": ("[report]\n\nsed = 1", "assay.toml, line 3: 'sed' is no setting of `assay report` (did you mean"),
    "a section misspelt": ("[repport]\nseed = 1", "line 1: 'repport' is no setting of any command (did you mean 'rep"),
    "of another command": ("[report]\nk = 3", "'k' is no setting of `assay report`"),
    "a wrong value": ('seed = "x"', "assay.toml, line 1: seed = 'x'"),
    "several values": ("seed = [1, 2]", "seed takes one value; got [1, 2]"),
    "no truth": ('[report]\nskip-unreadable = "yes"', "skip-unreadable takes true or false"),
    "no choice": ('missing = "foo"', "assay.toml, line 1: missing = 'foo'"),
    "force": ("force = true", "force cannot stand in a file"),
    "no TOML": ("seed = = 1", "cannot read the settings assay.toml"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_refused_with_its_place_before_anything_is_done(folder, case):
    text, words = WRONG[case]
    (folder / "assay.toml").write_text(text)
    done = run("report", "d.csv", "-o", "r.html")
    assert done.exit_code == 2 and words in done.stderr
    assert done.stderr.count("\n") == 1 and not (folder / "r.html").exists()


def test_a_file_that_is_not_there_is_refused(folder):
    done = run("report", "d.csv", "--config", "nowhere.toml")
    assert done.exit_code == 2 and "nowhere.toml: there is no such file" in done.stderr
