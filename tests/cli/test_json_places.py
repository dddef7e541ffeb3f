"""--json takes a place on every command: a file, or - for standard output, from which words then stay away."""

import json

import pytest
from typer.testing import CliRunner

from assay.cli import app

MACHINE = "state,action,next,probability,reward\nnew,run,new,.9,10\nnew,run,worn,.1,10\nworn,mend,new,1,-5\n"
TRIALS = "trial,step,state,action,reward\n" + "".join(f"{t},1,a,go,{t % 3}\n{t},2,b,,\n" for t in range(9))
LINKS = "source,target\n" + "".join(f"n{i},n{i * i % 7}\n" for i in range(12))
RATINGS = "user,item,rating\n" + "".join(
    f"u{i},m\u2013{j},{1 + i * j % 5}\n" for i in range(8) for j in range(5) if i != j
)
TABLES = {"machine": MACHINE, "trials": TRIALS, "links": LINKS, "ratings": RATINGS}
COMMANDS = {
    "mdp machine.csv": "worth",
    "mdp trials.csv": "trials",
    "rank links.csv --top 3": "nodes",
    "recommend ratings.csv --user u1 -n 2": "For user u1",
    "chance 100 0.05": "by chance",
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return lambda command, *more: CliRunner().invoke(app, [*command.split(), *more])


@pytest.mark.parametrize(("command", "word"), COMMANDS.items())
def test_a_file_and_standard_output_get_the_same_and_words_go_where_json_does_not(run, tmp_path, command, word):
    filed = run(command, "--json", "found.json")
    assert (filed.exit_code, filed.stderr) == (0, "")
    assert word in filed.stdout
    assert filed.stdout == run(command).stdout
    printed = run(command, "--json", "-")
    assert (printed.exit_code, printed.stderr) == (0, filed.stdout)
    assert printed.stdout == (tmp_path / "found.json").read_text(encoding="utf-8")
    assert "assay" in json.loads(printed.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_there_is_replaced_only_if_it_is_assays_or_by_force(run, tmp_path, command):
    assert run(command, "--json", "found.json").exit_code == 0
    assert run(command, "--json", "found.json").exit_code == 0
    (tmp_path / "found.json").write_text("mine")
    refused = run(command, "--json", "found.json")
    assert refused.exit_code == 2 and "assay did not write it" in refused.stderr
    assert (tmp_path / "found.json").read_text() == "mine"
    assert run(command, "--json", "found.json", "--force").exit_code == 0
