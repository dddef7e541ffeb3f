"""--quick and --thorough: one of them, or none."""

import json

import pytest
from typer.testing import CliRunner

from assay.cli import app

ROWS = "x,y\n" + "".join(f"{i % 7}.5,{i * i % 5}\n" for i in range(60))


def report(folder, *flags):
    (folder / "d.csv").write_text(ROWS)
    return CliRunner().invoke(app, ["report", str(folder / "d.csv"), "-o", str(folder / "p.html"), *flags])


def test_a_quick_report_says_so_in_the_page_the_findings_and_the_terminal(tmp_path):
    done = report(tmp_path, "--quick", "--json", str(tmp_path / "f.json"))
    assert done.exit_code == 0
    assert "quick effort" in " ".join(done.output.split())
    assert json.loads((tmp_path / "f.json").read_text())["ledger"]["effort"] == "quick"
    assert "<dt>Effort</dt><dd>quick" in (tmp_path / "p.html").read_text()


def test_both_at_once_are_refused_in_a_sentence(tmp_path):
    done = report(tmp_path, "--quick", "--thorough")
    assert done.exit_code == 2
    assert "--quick and --thorough contradict each other; give one of them, or none" in done.output
    assert not (tmp_path / "p.html").exists()


COMMANDS = ["embed", "cluster", "anomalies", "correlate", "predict"]


def ask(command, folder, *flags):
    (folder / "d.csv").write_text(ROWS)
    target = ["--target", "x"] if command == "predict" else []
    places = ["-o", str(folder / "t.csv"), "--json", str(folder / "f.json")]
    return CliRunner().invoke(app, [command, str(folder / "d.csv"), *places, *target, *flags])


@pytest.mark.parametrize("effort", ["quick", "thorough"])
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_one_question_heed_the_effort(tmp_path, command, effort):
    done = ask(command, tmp_path, f"--{effort}")
    assert done.exit_code == 0, done.stderr
    assert json.loads((tmp_path / "f.json").read_text())["ledger"]["effort"] == effort


def test_a_quick_map_is_drawn_and_says_that_it_was_not_compared_with_chance(tmp_path):
    done = ask("embed", tmp_path, "--quick")
    assert "Whether it shows more than chance cannot be told: a quick study leaves it out" in done.stdout
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 61


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_one_question_refuse_both_at_once(tmp_path, command):
    done = ask(command, tmp_path, "--quick", "--thorough")
    assert done.exit_code == 2
    assert "--quick and --thorough contradict each other; give one of them, or none" in done.stderr
    assert not (tmp_path / "t.csv").exists()


def test_a_command_without_a_study_has_no_effort(tmp_path):
    assert ask("impute", tmp_path, "--quick").exit_code == 2
    assert ask("impute", tmp_path).exit_code == 0
