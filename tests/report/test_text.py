"""Text for the terminal: complete, narrow, inert."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
import sample_study
from rich.cells import cell_len
from rich.console import Console

from assay.report.text import evidence_line, render, show
from assay.views.html.escape import visible

STUDIES = ("wholesale", "wide", "noise", "one", "hostile")


def unwrapped(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("width", [80, 40])
def test_lines_keep_to_the_width_and_carry_every_line_once(name, width):
    study = getattr(sample_study, name)()
    text = render(study, width=width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert all(line == line.rstrip() for line in text.splitlines())
    solid = "".join(text.split())
    for finding in study.findings:
        assert solid.count("".join(visible(finding.line).replace("≤", "<=").replace("…", "...").split())) == 1


def test_wide_characters_are_counted_as_two_columns():
    study = sample_study.noise()
    study = replace(study, findings=(replace(study.findings[0], line="主成分" * 30),))
    assert max(map(cell_len, render(study).splitlines())) <= 80


def test_nothing_from_the_data_reaches_the_terminal_as_a_command():
    study = sample_study.hostile()
    finding = replace(study.findings[0], line="\x1b[31mred\u202e and more")
    text = render(replace(study, findings=(finding,)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert r"\x1b[31mred" in unwrapped(text)


def test_brackets_in_names_are_not_markup():
    study = sample_study.noise()
    study = replace(study, findings=(replace(study.findings[0], line="[bold]x[/bold] [link=a]y"),))
    assert "[bold]x[/bold] [link=a]y" in render(study)


def test_colour_repeats_what_the_words_say():
    study = sample_study.wholesale()
    file = io.StringIO()
    show(study, Console(file=file, width=80, force_terminal=True, color_system="standard", legacy_windows=False))
    assert "\x1b[1;32m" in file.getvalue()
    assert re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()) == render(study)


def test_the_ledger_and_the_answer_are_there():
    study, fell = sample_study.wholesale(), sample_study.noise().findings
    text = unwrapped(render(replace(study, findings=(*study.findings, *fell))))
    assert "2 components of 6 would survive a second look." in text
    assert "6 structures examined by 3 tests for 1 question, level 0.05, seed 0." in text
    assert text.index("Findings") < text.index("What did not survive") < text.index("6 structures examined")


def test_rows_left_out_and_notes_are_told():
    study = sample_study.noise()
    data = replace(study.data, rows=201, notes=("One row was not whole.",))
    text = render(replace(study, data=data))
    assert text.startswith("noise.csv: 200 of 201 rows, 12 of 12 columns used\nNote: One row was not whole.\n")


def test_only_latin_letters_and_signs_are_added():
    assert max(map(ord, render(sample_study.wholesale()))) < 256


def test_what_is_not_known_is_left_out_of_the_evidence():
    finding = sample_study.noise().findings[0]
    bare = replace(finding.evidence, p=None, q=None, held_out=None, interval=None, stability=None, null=None)
    assert evidence_line(bare) == ""
    assert evidence_line(finding.evidence).startswith("usual by chance (q ")
