"""A comparison as a user meets it: exit codes for pipelines, JSON, words and a page."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.report.comparison_page import render
from assay.report.findings_json import dumps

HOSTILE = "<script>alert(1)</script>"


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


@pytest.fixture(scope="module")
def files(tmp_path_factory, wholesale):
    """Customers of two channels, and two random halves of one channel."""
    folder = tmp_path_factory.mktemp("tables")
    table = pd.read_csv(wholesale)
    horeca = table[table.Channel == 1].drop(columns="Channel").sample(frac=1, random_state=0)
    retail = table[table.Channel == 2].drop(columns="Channel")
    parts = {"horeca": horeca, "retail": retail, "left": horeca[::2], "right": horeca[1::2]}
    for name, part in parts.items():
        part.to_csv(folder / f"{name}.csv", index=False)
    return folder


def test_tables_that_differ_end_with_1_and_say_what(files):
    done = run(files / "horeca.csv", files / "retail.csv", "-o", files / "page.html")
    assert done.exit_code == 1
    words = " ".join(done.stdout.split())
    assert "Grocery lies higher in retail.csv" in words
    assert (files / "page.html").resolve().as_uri() in done.stdout


def test_tables_that_do_not_end_with_0(files):
    done = run(files / "left.csv", files / "right.csv")
    assert done.exit_code == 0
    assert "left.csv and right.csv do not differ beyond chance." in done.stdout


def test_only_the_columns_asked_for_are_compared(files):
    done = run(files / "horeca.csv", files / "retail.csv", "--columns", "Milk,Fresh", "--json", "-")
    asked = {finding["subject"] for finding in json.loads(done.stdout)["findings"] if finding["question"] == "columns"}
    assert asked <= {"Milk", "Fresh"} and "Milk" in asked
    assert "Grocery" not in done.stdout.replace('"Grocery"', "") or "left out" in done.stdout
    refused = run(files / "horeca.csv", files / "retail.csv", "--columns", "Milk", "--drop", "Milk")
    assert refused.exit_code == 2 and "both asked for (columns) and left out (drop)" in refused.stderr


def test_json_in_a_file_leaves_the_words_where_they_were(files):
    done = run(files / "horeca.csv", files / "retail.csv", "--json", files / "found.json")
    assert done.exit_code == 1
    assert done.stdout == run(files / "horeca.csv", files / "retail.csv").stdout
    assert json.loads((files / "found.json").read_text())["differs"] is True
    assert run(files / "left.csv", files / "right.csv", "-o", "-", "--json", "-").exit_code == 2


def test_json_is_all_that_is_printed(files):
    done = run(files / "horeca.csv", files / "retail.csv", "--json", "-")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert "Grocery lies higher in retail.csv" in " ".join(done.stderr.split())
    assert document["differs"] is True
    assert [card["name"] for card in document["data"]] == ["horeca.csv", "retail.csv"]
    assert document["ledger"]["looks"] == sum(q["looks"] for q in document["ledger"]["questions"])
    assert {"id", "kind", "question", "subject", "line", "sentence", "evidence", "beyond_chance", "shown"} == set(
        document["findings"][0]
    )


@pytest.mark.parametrize("wrong", [("none.csv",), ("retail.csv", "--drop", "Price"), ("retail.csv", "--level", "2")])
def test_wrong_input_ends_with_2_and_one_sentence(files, wrong):
    done = run(files / "horeca.csv", files / wrong[0], *wrong[1:])
    assert done.exit_code == 2
    assert done.stderr.startswith("assay: ")
    assert done.stderr.count("\n") == 1


def test_a_page_does_not_replace_what_it_is_about(files):
    assert run(files / "left.csv", files / "right.csv", "-o", files / "left.csv").exit_code == 2


def test_a_sensitive_column_of_one_table_stays_there(files, tmp_path):
    table = pd.read_csv(files / "left.csv").assign(name=[f"secret{i}" for i in range(149)])
    table.to_csv(tmp_path / "named.csv", index=False)
    done = run(tmp_path / "named.csv", files / "right.csv", "--sensitive", "name", "--json", "-")
    assert "secret" not in done.stdout
    assert "secret" not in done.stderr
    assert done.exit_code in (0, 1)
    assert run(files / "left.csv", files / "right.csv", "--sensitive", "nme").exit_code == 2


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    a = pd.DataFrame({HOSTILE: rng.choice([HOSTILE, "b"], 100), "x": rng.standard_normal(100)})
    b = pd.DataFrame({HOSTILE: rng.choice([HOSTILE, "b", "c"], 100), "x": rng.standard_normal(100) + 3, HOSTILE * 2: 1})
    return assay.compare(a, b)


def test_the_page_holds_every_finding_and_no_tag_of_the_data(hostile):
    page = render(hostile)
    assert page.count("<script") == 1 and '<script>"use strict";' in page  # that of the page itself
    shown = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert all(" ".join(finding.sentence.split()) in shown for finding in hostile.findings)
    assert page == render(hostile)
    assert page.count("<svg") == len(hostile.spreads)


def test_levels_of_one_table_are_named(hostile):
    assert json.loads(dumps(hostile))["schema"]["levels"][HOSTILE][1].keys() == {"c"}
    assert any("levels that only B has: c (" in note for note in hostile.notes)
