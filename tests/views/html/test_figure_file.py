"""A figure in a file of its own: whole, offline, the same each time, and nothing in a title acts."""

from __future__ import annotations

import base64
import hashlib
import re

import numpy as np
import pytest

from assay.errors import DataError, ParameterError
from assay.views.html.figure_file import figure_page, write_figure
from assay.views.rows.embedding import embedding_map

PLACES = np.random.default_rng(0).standard_normal((9, 2))


def test_the_page_holds_its_scripts_and_allows_no_other():
    page = figure_page({"a": embedding_map(PLACES), "b": embedding_map(-PLACES)}, "Two maps")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 3
    allowed = re.search(r"script-src ([^;]*);", page).group(1)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert allowed.split() == [f"'sha256-{digest}'" for digest in digests]
    assert "default-src 'none'" in page
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(src|href)=|https?://", outside)
    assert re.findall(r'id="(view-[^"]*)"', outside) == ["view-figure-1", "view-figure-2"]


def test_the_same_figures_give_the_same_bytes(tmp_path):
    first = write_figure(embedding_map(PLACES), tmp_path / "a.html", "A map")
    second = write_figure(embedding_map(PLACES), tmp_path / "b.html", "A map")
    assert first == tmp_path / "a.html"
    assert first.read_bytes() == second.read_bytes()


def test_headings_captions_and_titles_stay_text(tmp_path):
    hostile = "</title><script>alert(1)</script>\ud800"
    path = write_figure({hostile: embedding_map(PLACES)}, tmp_path / "a.html", hostile + "!", captions={hostile: "<b>"})
    page = path.read_text("utf-8")
    assert page.count("<script>") == 3
    assert page.count("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\ud800") == 4
    assert "<figcaption>&lt;b&gt;</figcaption>" in page


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path):
    with pytest.raises(DataError, match="does not exist; create it first"):
        write_figure(embedding_map(PLACES), tmp_path / "no" / "a.html", "A map")
    path = tmp_path / "a.html"
    path.write_text("old")
    with pytest.raises(ParameterError, match="captions belong to figures; there is no figure 'b'"):
        write_figure({"a": embedding_map(PLACES)}, path, "A map", captions={"b": "?"})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_lone_figure_is_headed_by_the_title_once():
    page = figure_page({"A map": embedding_map(PLACES)}, "A map", captions={"A map": "Nine rows."})
    assert page.count("<h1>A map</h1>") == 1
    assert "<h2>" not in page
    assert "<figcaption>Nine rows.</figcaption>" in page
