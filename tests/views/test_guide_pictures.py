"""The pictures of the guide: each is made by the script, small, shown on a page, and said in words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from PIL import Image

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT = DOCS / "img" / "plots.py"
LARGEST = 60_000
# views that only `assay.plot` reaches, and the page that shows each
SHOWN = {
    "dendrogram": "hierarchical", "divisive": "divisive", "cells": "kmeans", "how-many": "kmeans", "mixture": "mixture",
    "bic": "mixture", "eigengap": "spectral-clustering", "shepard": "mds", "scales": "isomap",
    "kernel-pca": "kernel-pca", "margin": "svm", "path": "regression", "coefficients": "regression",
    "complexity": "validation", "refusal": "subspace", "delay": "temporal-cca", "variates": "discriminant",
    "policy": "learning-decisions",
}  # fmt: skip


def drawn_by_the_script():
    tree = ast.parse(SCRIPT.read_text())
    (names,) = (
        node.value.elts for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "PICTURES"
    )
    return {name.id.replace("_", "-") for name in names}


def test_the_script_makes_every_picture_that_is_there_and_no_page_shows_another():
    there = {path.stem.removeprefix("plot-") for path in (DOCS / "img").glob("plot-*.png")}
    shown = set()
    for page in (DOCS / "guide").glob("*.md"):
        shown |= set(re.findall(r"\.\./img/plot-([a-z-]+)\.png", page.read_text()))
    assert there == drawn_by_the_script() == shown


@pytest.mark.parametrize("path", sorted((DOCS / "img").glob("plot-*.png")), ids=lambda path: path.stem)
def test_a_picture_is_small_and_not_blank(path):
    assert path.stat().st_size <= LARGEST
    with Image.open(path) as picture:
        assert picture.width >= 600 and len(picture.convert("RGB").getcolors(1 << 24)) > 10


@pytest.mark.parametrize("name", SHOWN)
def test_a_view_is_shown_on_its_page_after_the_line_that_draws_it(name):
    page = (DOCS / "guide" / f"{SHOWN[name]}.md").read_text()
    before, _, after = page.partition(f"../img/plot-{name}.png")
    block = re.findall(r"```python\n(.*?)```", before, re.DOTALL)[-1]
    assert ".plot(" in block
    assert re.match(r"\n:alt: \S.{30,}", after)
