"""Plots as pictures: of the size asked for, whole, and standing on their own."""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from bokeh.models import LinearColorMapper
from PIL import Image
from sklearn.datasets import load_iris

import assay
from assay.errors import AssayError, DataError, ParameterError
from assay.views.axes.legend import legend
from assay.views.axes.theme import figure
from assay.views.figures import Panel
from assay.views.html import browser as drawing
from assay.views.html.saving import svg_picture

IRIS = load_iris()
X, Y = IRIS.data, IRIS.target
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawer():
    """A browser that draws; where there is none, tests are skipped on a user's machine and fail in CI."""
    try:
        return drawing.found_browser()
    except AssayError as error:
        if os.environ.get("ASSAY_BROWSER") == "1":
            pytest.fail(f"ASSAY_BROWSER=1 asks for the browser tests: {error}")
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def cells():
    return assay.KMeans(3, random_state=0).fit(X).plot(X)


@pytest.fixture(scope="module")
def several():
    return assay.PCA(2).fit(X).plot(X, Y)


def opened(path):
    return Image.open(io.BytesIO(path.read_bytes()))


def test_a_png_has_the_size_asked_for_and_shows_the_groups(drawer, cells, tmp_path):
    path = cells.save(tmp_path / "cells.png", width=500, scale=1.5)
    picture = opened(path)
    assert picture.width == 750
    assert picture.height > 1.5 * cells.height
    colours = {colour for n, colour in picture.convert("RGB").getcolors(1 << 24) if n > 20}
    assert (255, 255, 255) in colours
    # no ground of the sheet is left at an edge, and the three colours of groups are there, clear as their marks are
    assert (255, 0, 254) not in colours
    blues = [c for c in colours if c[2] > c[0] + 40]
    oranges = [c for c in colours if c[0] > c[2] + 40]
    greens = [c for c in colours if c[1] > c[0] + 40 and c[1] > c[2]]
    assert blues and oranges and greens


def test_the_same_figure_gives_the_same_picture(drawer, cells, tmp_path):
    first, second = (cells.save(tmp_path / f"{i}.svg").read_bytes() for i in range(2))
    assert first == second


def test_an_svg_stands_on_its_own_with_a_mark_for_every_row_and_words_as_text(drawer, cells, tmp_path):
    path = cells.save(tmp_path / "cells.svg", width=600)
    root = ET.parse(path).getroot()
    assert (root.tag, root.get("width")) == (f"{SVG}svg", "600")
    assert len(root.findall(f".//{SVG}path")) >= len(X)
    words = " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))
    assert "direction 1" in words and "centres" in words
    assert all(text.get("font-family", "").endswith("sans-serif") for text in root.iter(f"{SVG}text"))
    linked = [value for element in root.iter() for key, value in element.attrib.items() if key.endswith("href")]
    assert all(value.startswith("data:") for value in linked)
    known = {element.get("id") for element in root.iter()}
    asked = {v[5:-1] for e in root.iter() for v in e.attrib.values() if v.startswith("url(#")}
    assert asked <= known
    assert not list(root.iter(f"{SVG}script"))


def test_a_browser_that_opens_the_svg_draws_what_the_png_shows(drawer, cells, tmp_path):
    drawn = opened(cells.save(tmp_path / "cells.png", width=600, scale=1)).convert("L")
    svg = cells.save(tmp_path / "cells.svg", width=600).read_text()
    page = f"<!doctype html><html><body style='margin:0'>{svg.split('?>', 1)[1]}</body></html>"
    shot = Image.open(io.BytesIO(drawing.page_picture(page, 600, drawn.height, 1.0))).convert("L")
    # edges of letters and marks are smoothed differently, so small differences are everywhere and large ones nowhere
    shrunk = [np.asarray(image.resize((60, 45), Image.Resampling.BOX), dtype=float) for image in (drawn, shot)]
    assert np.abs(shrunk[0] - shrunk[1]).max() < 40
    assert np.corrcoef(shrunk[0].ravel(), shrunk[1].ravel())[0, 1] > 0.95


@pytest.mark.parametrize("ends", [(0, 3), (3, 0)], ids=["upward", "downward"])
def test_cells_drawn_as_one_image_fill_their_axes_in_an_svg(drawer, ends):
    drawn = figure(x_label="across", y_label="up", height=300, x_range=(0, 4), y_range=ends)
    shades = LinearColorMapper(palette=["#1f6fb2", "#d9680f"])
    drawn.image([np.arange(12.0).reshape(3, 4)], x=0, y=0, dw=4, dh=3, color_mapper=shades)
    legend(drawn, [("a mark", [drawn.scatter([np.nan], [np.nan], size=9)], None)])
    root = ET.fromstring(svg_picture([Panel("", drawn)], 500))
    (cells,) = root.findall(f".//{SVG}g[@clip-path]/{SVG}image")
    (frame,) = root.findall(f".//{SVG}clipPath[@id='{clip_of(root, cells)}']/{SVG}path")
    corners = np.array(re.findall(r"[ML] (\S+) (\S+)", frame.get("d")), dtype=float)
    size = [float(cells.get(side)) for side in ("width", "height")]
    assert np.allclose(size, np.ptp(corners, axis=0), atol=1.0)


def clip_of(root, image):
    (group,) = [g for g in root.iter(f"{SVG}g") if image in list(g)]
    return group.get("clip-path")[len("url(#") : -1]


def test_several_figures_are_one_picture_with_their_headings(drawer, several, tmp_path):
    root = ET.parse(several.save(tmp_path / "all.svg", title="Three <irises>")).getroot()
    assert len(root.findall(f"{SVG}svg")) == len(several.figures)
    words = {"".join(text.itertext()) for text in root.findall(f"{SVG}text")}
    assert {"Three <irises>", *several.figures} <= words
    places = {(part.get("x"), part.get("y")) for part in root.findall(f"{SVG}svg")}
    assert len(places) == len(several.figures)
    picture = opened(several.save(tmp_path / "all.png", scale=1))
    assert picture.width == 1120 and picture.height > 800


def test_names_from_the_data_stay_words(drawer, tmp_path):
    names = ["</text><script>alert(1)</script>", "a & b", "ünïcode"]
    drawn = assay.ClassicalMDS().fit(X[:3]).plot(names=names)
    root = ET.parse(drawn.save(tmp_path / "names.svg")).getroot()
    words = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert "a & b" in words and "ünïcode" in words
    assert not list(root.iter(f"{SVG}script"))


def test_a_framed_figure_is_drawn_where_nothing_was_set_up(browser, cells, tmp_path):
    page = tmp_path / "notebook.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{cells._repr_html_()}</body>", encoding="utf-8")
    browser.open(page)
    browser.wait("document.querySelector('iframe').clientHeight > 400")
    browser.screenshot(tmp_path / "notebook.png")

    def painted():
        browser.screenshot(tmp_path / "notebook.png")
        return len(opened(tmp_path / "notebook.png").convert("RGB").getcolors(1 << 24))

    assert any(painted() > 50 for _ in range(20))  # a frame of its own process draws when it is ready
    assert browser.complaints == []
    assert not [address for address in browser.requests if address.startswith("http")]


def test_endings_sizes_and_places_that_cannot_be_are_refused_before_any_work(cells, tmp_path):
    for name in ("cells.pdf", "cells", "cells.jpeg"):
        with pytest.raises(ParameterError, match=rf"saved as .html, .png or .svg; got '{name}'"):
            cells.save(tmp_path / name)
    with pytest.raises(DataError, match="does not exist; create it first"):
        cells.save(tmp_path / "no" / "cells.png")
    assert list(tmp_path.iterdir()) == []


def test_sizes_that_cannot_be_are_refused(drawer, cells, tmp_path):
    for options, words in (({"width": 20}, "width is a number from 200 to 4000; got 20"),
                           ({"scale": 0}, "scale is a number from 0.5 to 4; got 0"),
                           ({"width": True}, "width is a number")):  # fmt: skip
        with pytest.raises(ParameterError, match=words):
            cells.save(tmp_path / "cells.png", **options)


def test_without_a_browser_the_remedy_is_said_and_a_page_can_still_be_saved(cells, tmp_path, monkeypatch):
    monkeypatch.delenv(drawing.PATH, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(drawing, "_PLACES", {})
    with pytest.raises(
        AssayError, match="none was found: install Chromium or Chrome.*ASSAY_BROWSER_PATH.*save as .html"
    ):
        cells.save(tmp_path / "cells.png")
    assert cells.save(tmp_path / "cells.html").exists()


def test_a_browser_named_by_the_user_is_taken_and_must_be_there(cells, tmp_path, monkeypatch):
    monkeypatch.setenv(drawing.PATH, str(tmp_path / "nowhere"))
    with pytest.raises(AssayError, match="ASSAY_BROWSER_PATH names .*nowhere.*no program"):
        cells.save(tmp_path / "cells.svg")
    monkeypatch.setenv(drawing.PATH, sys.executable)
    assert drawing.found_browser() == sys.executable


@pytest.mark.skipif(os.name != "posix", reason="a script stands in for the browser")
@pytest.mark.parametrize(("script", "words"), [("exit 3", "ended with 3"), ("exit 0", "drew nothing|did not draw")])
def test_a_browser_that_fails_leaves_what_was_there(cells, tmp_path, monkeypatch, script, words):
    stand_in = tmp_path / "browser"
    stand_in.write_text(f"#!/bin/sh\n{script}\n")
    stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(drawing.PATH, str(stand_in))
    for name in ("cells.png", "cells.svg"):
        target = tmp_path / name
        target.write_bytes(b"old")
        with pytest.raises(AssayError, match=words):
            cells.save(target)
        assert target.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["browser", "cells.png", "cells.svg"]
