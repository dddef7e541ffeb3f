"""Files appear whole, together or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sample_study

from assay.errors import DataError, ParameterError
from assay.report import write_report
from assay.report.findings_json import dumps
from assay.report.page import render


def test_both_files_hold_what_the_renderers_give(tmp_path):
    study = sample_study.noise()
    write_report(study, html_path=tmp_path / "a.html", json_path=str(tmp_path / "a.json"))
    assert (tmp_path / "a.html").read_bytes() == render(study).encode("utf-8")
    assert (tmp_path / "a.json").read_bytes() == dumps(study).encode("utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "a.json"]


@pytest.mark.parametrize("broken", ["html_path", "json_path"])
def test_if_one_cannot_be_written_the_other_stays_as_it_was(tmp_path, broken):
    kept = tmp_path / "kept"
    kept.write_text("before")
    paths = {"html_path": kept, "json_path": kept, broken: tmp_path / "no such folder" / "x"}
    with pytest.raises(DataError, match="does not exist"):
        write_report(sample_study.noise(), **paths)
    assert kept.read_text() == "before"
    assert list(tmp_path.iterdir()) == [kept]


def test_a_page_that_cannot_be_made_leaves_no_json(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.report.page.render", lambda study, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(sample_study.noise(), html_path=tmp_path / "a.html", json_path=tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_two_reports_do_not_share_a_file(tmp_path):
    with pytest.raises(ParameterError, match=r"cannot both be .*a\.html; give two names"):
        write_report(sample_study.noise(), tmp_path / "a.html", tmp_path / "." / "a.html")


def test_nothing_to_write_is_said():
    with pytest.raises(ParameterError, match="nothing to write: give html_path, json_path or both"):
        write_report(sample_study.noise())


def test_json_and_text_do_not_wait_for_the_plotting_library(tmp_path):
    code = (
        "import sys; sys.path.append(sys.argv[1]); import sample_study\n"
        "from assay.report import write_report\nfrom assay.report.text import render\n"
        "write_report(sample_study.noise(), json_path=sys.argv[2]); render(sample_study.noise())\n"
        "sys.exit('bokeh' in sys.modules)"
    )
    folder = str(Path(sample_study.__file__).parent)
    ran = subprocess.run(
        [sys.executable, "-c", code, folder, str(tmp_path / "a.json")], check=False, env=dict(os.environ)
    )
    assert ran.returncode == 0
