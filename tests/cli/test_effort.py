"""--quick and --thorough: one of them, or none."""

import json

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
