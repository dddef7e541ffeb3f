"""A question from outside the package appears everywhere, with no edit of assay: the guide's example, installed."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import assay
from assay.asking.found import found
from assay.errors import ParameterError

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "own-question.md"


def installed(folder: Path, code: str, entry: str = "rounding:Rounding") -> Path:
    """The module as pip leaves an installed package: beside the folder that names its entry points."""
    folder.mkdir(parents=True)
    (folder / "rounding.py").write_text(code, encoding="utf-8")
    about = folder / "rounding-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rounding\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[assay.questions]\nrounding = {entry}\n")
    return folder


def example() -> str:
    return re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)[1]


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}
    command = [sys.executable, "-m", "assay", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=site, check=False)


@pytest.fixture(scope="module")
def visits(tmp_path_factory) -> Path:
    rng = np.random.default_rng(0)
    weight = rng.normal(700, 90, 200)
    weight = np.where(rng.random(200) < 0.6, 5 * np.round(weight / 5), np.round(weight))  # most of them rounded
    path = tmp_path_factory.mktemp("data") / "visits.csv"
    rows = np.column_stack([weight, np.round(rng.normal(500, 80, 200))]).astype(int)
    np.savetxt(path, rows, fmt="%d", delimiter=",", header="weight,height", comments="")
    return path


@pytest.fixture(scope="module")
def reported(tmp_path_factory, visits):
    site = installed(tmp_path_factory.mktemp("site") / "packages", example())
    page, found = site / "page.html", site / "found.json"
    done = run(site, "report", str(visits), "-o", str(page), "--json", str(found))
    assert done.returncode == 0, done.stderr
    return site, done.stdout, page.read_text(encoding="utf-8"), json.loads(found.read_text(encoding="utf-8"))


def test_the_example_is_short():
    assert len(example().splitlines()) <= 80


def test_it_is_in_the_terminal_the_page_and_the_json(reported):
    _, terminal, page, found = reported
    sentence, line = next((f["sentence"], f["line"]) for f in found["findings"] if f["id"] == "rounded")
    assert sentence.startswith("In weight ") and sentence in page
    assert line in page and line in " ".join(terminal.split())
    assert "The last digits of weight" in page and 'id="view-last-digits"' in page
    assert found["answers"]["rounding"]["looks"] == 2


def test_it_is_in_the_ledger_and_the_others_are_counted_more_strictly_for_it(reported, visits, tmp_path):
    _, _, page, found = reported
    line = next(q for q in found["ledger"]["questions"] if q["question"] == "Were numbers rounded by hand?")
    assert (line["looks"], line["tests"]) == (2, 2) and line["correction"].startswith("Bonferroni over the columns")
    assert "Were numbers rounded by hand?" in page
    empty = tmp_path / "nothing"
    empty.mkdir()
    without = tmp_path / "without.json"
    assert run(empty, "report", str(visits), "-o", str(tmp_path / "p.html"), "--json", str(without)).returncode == 0
    before = json.loads(without.read_text(encoding="utf-8"))
    assert len(found["ledger"]["questions"]) == len(before["ledger"]["questions"]) + 1
    assert found["ledger"]["looks"] == before["ledger"]["looks"] + 2
    assert not any(f["id"] == "rounded" for f in before["findings"])


def test_its_option_is_a_flag_and_a_keyword(reported, visits):
    site = reported[0]
    assert "--rounded" in run(site, "report", "--help").stdout
    done = run(site, "report", str(visits), "-o", str(site / "p.html"), "--rounded", "height")
    assert done.returncode == 0 and "of the numbers in height end in" in done.stdout


@pytest.fixture
def few():
    return pd.DataFrame(np.random.default_rng(0).integers(100, 999, (30, 2)), columns=["weight", "height"])


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Let a module be found as an installed package brings it, in this process."""

    def brought(code, entry="rounding:Rounding"):
        folder = installed(tmp_path / "site", code, entry)
        monkeypatch.syspath_prepend(str(folder))
        points = next(distribution.entry_points for distribution in distributions(path=[str(folder)]))
        monkeypatch.setattr("assay.asking.found.entry_points", lambda group: points.select(group=group))
        found.cache_clear()

    yield brought
    monkeypatch.undo()
    sys.modules.pop("rounding", None)
    found.cache_clear()


def test_its_option_is_a_keyword_of_study_and_its_answer_can_be_plotted(bring, few):
    bring(example())
    answer = assay.study(few, rounded=["height"]).answers["rounding"]
    assert answer.column == "height" and assay.plot(answer).heading
    with pytest.raises(
        ParameterError, match="no question takes 'rounds'; they take target, discount, side, map_method, rounded"
    ):
        assay.study(few, rounds=["height"])


@pytest.mark.parametrize(
    ("code", "entry", "why"),
    [
        ("raise RuntimeError('no such luck')", "rounding:Rounding", "RuntimeError: no such luck"),
        ("Rounding = 3", "rounding:Rounding", "is no assay.asking.Question but int"),
        ("", "nowhere:Rounding", "No module named 'nowhere'"),
        ("from assay.questions.map import QUESTION as Rounding", "rounding:Rounding", "a question 'map' already"),
    ],
)
def test_one_that_cannot_be_loaded_is_said_and_stops_nothing(bring, few, code, entry, why):
    bring(code, entry)
    said = assay.study(few).data.notes[-1]
    assert said.startswith("The question 'rounding' of rounding could not be loaded and was not asked") and why in said


def test_an_option_that_is_a_word_of_the_study_is_refused(bring):
    bring(example().replace('Option("rounded"', 'Option("seed"'))
    assert "its option 'seed' is a word of the study's own" in found().broken[0]


def test_one_that_fails_is_said_and_stops_nothing(bring, few):
    bring(example().replace("look, named = table.look", "look, named = 1 / 0"))
    silent = {one.question: one.why for one in assay.study(few).ledger.not_asked}
    assert silent["Were numbers rounded by hand?"] == "it failed (ZeroDivisionError: division by zero)"
