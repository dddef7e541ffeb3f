"""A study and a comparison in Python: short where they are printed, whole in a notebook, files by their endings."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet
import pytest
import sample_study

import assay
from assay.errors import AssayError, ParameterError
from assay.report.page import render


@pytest.fixture(scope="module")
def customers():
    return assay.study(str(sample_study.DATA))


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    return assay.compare(rng.standard_normal((80, 3)), rng.normal([0.0, 2.0, 0.0], 1.0, (80, 3)))


def test_a_study_prints_as_a_few_lines():
    lines = repr(sample_study.wholesale()).splitlines()
    assert lines[0] == "Study of wholesale_customers.csv: 440 rows, 6 of 8 columns used"
    assert lines[1].endswith("would survive a second look.")
    assert lines[2:] == ["1 finding: 1 supported", "answers: components"]


def test_a_comparison_prints_as_a_few_lines(comparison):
    lines = repr(comparison).splitlines()
    assert len(lines) == 4 and lines[0].startswith("Comparison of ") and "differ" in lines[1]


@pytest.mark.parametrize("name", ["wide", "huge", "broad", "mixed"])
def test_what_is_printed_does_not_grow_with_the_data(name):
    study = getattr(sample_study, name)()
    assert len(repr(study)) < 600
    assert all(len(repr(answer)) < 3000 for answer in study.answers.values())


def test_findings_print_one_a_line_with_their_verdicts():
    findings = assay.study(np.random.default_rng(0).standard_normal((60, 3))).findings
    assert isinstance(findings, tuple)
    lines = repr(findings).splitlines()
    assert len(lines) == len(findings)
    assert all(f.evidence.verdict in line and f.id in line for f, line in zip(findings, lines, strict=True))


def test_what_came_from_the_data_neither_acts_in_a_terminal_nor_in_a_notebook():
    study = sample_study.hostile()
    for text in (repr(study), repr(study.findings), repr(study["components"])):
        assert "\x1b" not in text and "\u202e" not in text
    shown = study._repr_html_()
    outside, inside = shown.split('srcdoc="')
    assert "<script" not in shown and "<img" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;.csv" in outside
    page, rest = inside.split('"', 1)
    assert rest.startswith(" style=") and html.unescape(page).startswith("<!doctype html>")


def test_a_notebook_gets_the_verdicts_first_and_the_page_in_a_closed_frame(comparison):
    for found in (sample_study.wholesale(), comparison):
        shown = found._repr_html_()
        before, frame = shown.split("<iframe")
        assert "Supported" in before and html.escape(found.findings[0].line) in before
        assert 'sandbox="allow-scripts allow-downloads"' in frame and "src=" not in frame.split("srcdoc=")[0]


def test_verdicts_come_strongest_first(customers):
    said = re.findall("<tr><td[^>]*>. ([^<]*)</td>", customers._repr_html_())
    order = ["Supported", "Suggestive", "Not distinguishable from chance", "Not testable here"]
    assert len(said) == len(customers.findings) and said == sorted(said, key=order.index)


def test_the_ending_says_what_is_written(tmp_path, comparison):
    for found in (sample_study.wholesale(), comparison):
        page, told = found.report(tmp_path / "a.html"), found.report(str(tmp_path / "a.json"))
        assert page.read_text().startswith("<!doctype html>")
        assert json.loads(told.read_text())["format"].startswith("assay.")
        with pytest.raises(ParameterError, match="ends in .html, or in .json for programs; got 'a.pdf'"):
            found.report(tmp_path / "a.pdf")


def test_rows_come_into_the_page_of_a_study_only_when_asked_for(tmp_path):
    study = sample_study.mixed()
    names = study.look.columns
    closed, opened = study.report(tmp_path / "a.html"), study.report(tmp_path / "b.html", include_rows=True)
    assert opened.read_text() == render(study, include_rows=True) != closed.read_text() == render(study)
    ordered = study.report(tmp_path / "c.html", order=names[::-1])
    assert ordered.read_text() == render(study, order=names[::-1])


def test_answers_are_found_by_name_and_others_are_listed(comparison):
    study = sample_study.wholesale()
    assert (
        study["components"] is study.answers["components"] and "components" in study and list(study) == ["components"]
    )
    with pytest.raises(KeyError) as refused:
        study["group"]
    assert str(refused.value) == "there is no answer 'group'; there are: components"
    assert isinstance(refused.value, AssayError)
    assert comparison["columns"].evidence.verdict == "supported"


def test_findings_are_a_frame_of_the_same_columns_whatever_was_found(comparison):
    frames = [found.to_frame() for found in (sample_study.wholesale(), comparison, sample_study.single_row())]
    assert all(isinstance(frame, pd.DataFrame) for frame in frames)
    assert len({tuple(frame.columns) for frame in frames}) == 1
    study = sample_study.wholesale()
    frame = study.to_frame(backend="polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame["verdict"].to_list() == [f.evidence.verdict for f in study.findings]
    assert frame["p"].to_list() == [f.evidence.p for f in study.findings]


def test_numbers_of_answers_are_frames_too():
    study = sample_study.wholesale()
    loadings = study["components"].to_frame("loadings")
    assert np.array_equal(loadings["component_1"], study["components"].loadings[:, 0])
    assert study.to_frame("components_loadings").equals(loadings)
    with pytest.raises(KeyError, match="no table 'labels'; there are spectrum, loadings, scores"):
        study["components"].to_frame("labels")
    with pytest.raises(KeyError, match="no table 'labels'; there are: findings, columns, looks, components_spectrum"):
        study.to_frame("labels")


def test_tables_are_written_complete(tmp_path):
    study = sample_study.huge()
    files = study.write_tables(tmp_path)
    assert {file.stem for file in files} == set(study.tables())
    table = pyarrow.parquet.read_table(tmp_path / "components_loadings.parquet")
    shown = study.as_dict()["answers"]["components"]["tables"]["loadings"]
    assert table.num_rows == shown["of"] == 5000 > shown["rows"]


def test_the_pairs_are_a_frame_that_says_which_stand(customers):
    found = customers["correlations"]
    pairs = found.pairs
    assert pairs["stands"].sum() == found.n_pairs and (pairs["q"][pairs["stands"]] <= 0.05).all()
