"""The gallery: each question has a page with a script that runs, prints and draws."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path

import pytest

from assay.asking.found import found
from assay.views.figures import Figure, Figures

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("*.py"))
PAGES = ROOT / "docs" / "gallery"
# what is asked of two tables and of rows that arrive has no question of a study
BESIDE = {"comparison", "streams"}


def test_every_question_has_a_script_and_every_script_a_page():
    names = {script.stem for script in SCRIPTS}
    assert names == {question.name for question in found().questions} | BESIDE
    assert names == {page.stem for page in PAGES.glob("*.md")} - {"index"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_page_shows_its_script_and_says_how_to_read_it_and_when_it_fails(script):
    page = (PAGES / f"{script.stem}.md").read_text(encoding="utf-8")
    assert re.search(rf"```{{example}} {script.stem}\n:alt: \S.{{30,}}\n```", page)
    parts = ("**Data.**", "## How to read it", "## When it fails", "**More:**")
    assert [part for part in parts if part in page] == list(parts)
    assert f"({script.stem}.md)" in (PAGES / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_prints_a_verdict_and_draws_a_picture(script, tmp_path, monkeypatch, capsys):
    drawn = []
    # a picture is drawn by a browser, in the build of the docs; here it is enough that there is one to draw
    for kind in (Figure, Figures):
        monkeypatch.setattr(kind, "save", lambda self, path, **_: drawn.append(os.fspath(path)))
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert [Path(path).stem for path in drawn] == [script.stem]
    assert re.search(r"supported|suggestive|not distinguishable from chance", capsys.readouterr().out)
