"""A comparison asks what it is told to ask, draws as often as it is told to, and hands out tables and figures."""

import numpy as np
import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.errors import ParameterError


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return rng.standard_normal((150, 3)), rng.standard_normal((150, 3)) + np.array([0.0, 0.8, 0.0])


def test_only_and_skip_choose_and_the_ledger_tells_what_was_left_out(tables):
    found = assay.compare(*tables, only=["columns", "overall"])
    assert list(found) == ["columns", "overall"]
    assert sum(line.why == "left out on request" for line in found.ledger.not_asked) == 3
    assert list(assay.compare(*tables, skip=["groups", "overall"])) == ["columns", "correlations", "components"]
    # one question alone is not read more strictly for the sake of others
    alone, beside = assay.compare(*tables, only="correlations"), assay.compare(*tables)
    assert alone["correlations"].findings()[0].evidence.q <= beside["correlations"].findings()[0].evidence.q


def test_what_cannot_be_asked_is_refused(tables):
    with pytest.raises(ParameterError, match="there is no question 'column' .did you mean 'columns'"):
        assay.compare(*tables, only="column")
    with pytest.raises(ParameterError, match="cannot be both asked for"):
        assay.compare(*tables, only="groups", skip="groups")
    with pytest.raises(ParameterError, match="effort is quick, standard or thorough"):
        assay.compare(*tables, effort="slow")


def test_effort_changes_how_small_p_can_be_and_is_told(tables):
    least = {}
    for effort in ("quick", "standard", "thorough"):
        found = assay.compare(*tables, effort=effort, only="columns")
        assert found.ledger.effort == effort and found["columns"].findings()[0].evidence.verdict == "supported"
        least[effort] = found["columns"].findings()[0].evidence.p
    assert least == {"quick": 1 / 201, "standard": 1 / 500, "thorough": 1 / 1997}


def test_a_quick_comparison_can_still_support_the_question_of_the_least_weight():
    """Rows that only a rule on all columns tells apart: it alone finds something, and must be able to say so."""
    rng = np.random.default_rng(1)
    first, second = rng.standard_normal((400, 2)), rng.standard_normal((400, 2))
    second[:, 1] = np.where(rng.random(400) < 0.9, np.sign(second[:, 0]) * np.abs(second[:, 1]), second[:, 1])
    found = assay.compare(first, second, effort="quick")
    assert found["overall"].findings()[0].evidence.verdict == "supported"


def test_every_difference_is_a_row_of_a_table_and_the_columns_are_drawn(tables):
    found = assay.compare(*tables)
    rows = found.tables()["columns_differences"].to_pylist()
    assert rows[0]["subject"] == "column 2" and rows[0]["verdict"] == "supported"
    assert rows[0]["in_second"] - rows[0]["in_first"] == pytest.approx(0.8, abs=0.4)
    drawn = assay.plot(found)
    assert next(iter(drawn.figures)) == "column 2" and drawn.captions["column 2"].startswith("Differs beyond chance")


def test_the_command_line_writes_them(tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, table in zip(("a.csv", "b.csv"), tables, strict=True):
        np.savetxt(name, table, delimiter=",", header="x,y,z", comments="")
    words = ["compare", "a.csv", "b.csv", "--only", "columns", "--quick", "--tables", "t", "--plot", "p.html"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1 and "quick effort" in " ".join(done.stdout.split())
    assert (tmp_path / "p.html").exists() and (tmp_path / "t" / "columns_differences.parquet").exists()
