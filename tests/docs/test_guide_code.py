"""Code on the pages of the guide: what can run does; all of it names what is there, with arguments that are taken."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import assay
from assay.views.figures import Figure, Figures

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"
DATA = ROOT / "examples" / "data"


def blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


PAGES = [*sorted((ROOT / "docs").glob("[a-z]*/*.md")), ROOT / "README.md"]
WITH_CODE = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda path: path.stem)
def test_code_names_what_is_there_with_arguments_that_are_taken(page):
    for block in blocks(page):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "assay":
                assert hasattr(assay, node.attr), node.attr
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("assay."):
                known = parameters(ast.unparse(node.func))
                unknown = [word.arg for word in node.keywords if known and word.arg and word.arg not in known]
                assert not unknown, f"{ast.unparse(node.func)} has no {unknown}"


def parameters(path):
    """What a function or class of assay takes; nothing where it takes anything, or the path leads to an instance."""
    thing = assay
    for part in path.split(".")[1:]:
        if not re.fullmatch(r"\w+", part) or not hasattr(thing, part):
            return set()
        thing = getattr(thing, part)
    known = inspect.signature(inspect.unwrap(thing)).parameters.values()
    return set() if any(p.kind is p.VAR_KEYWORD for p in known) else {p.name for p in known}


# pages whose code runs as it stands, in seconds; the others show parts, or data that are not here
RUN = [
    "compare", "csv", "dependence", "discriminant", "divisive", "encoding", "forward-selection", "groups",
    "linear-algebra", "lsi", "mixture", "naive-bayes", "perceptron", "plots", "prediction-views", "robust-svdd",
    "stringing", "subspace", "svdd", "svr", "validation", "README",
]  # fmt: skip


@pytest.mark.parametrize("name", RUN)
@pytest.mark.filterwarnings("ignore")  # pages show what is warned of, too
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch, capsys):
    for kind in (Figure, Figures):
        monkeypatch.setattr(kind, "save", lambda self, path, **_: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "data").symlink_to(DATA)
    for called, source in {"mydata": "penguins", "links": "les_miserables", "messages": "messages"}.items():
        shutil.copy(DATA / f"{source}.csv", tmp_path / f"{called}.csv")
    page = ROOT / "README.md" if name == "README" else GUIDE / f"{name}.md"
    X, y = load_iris(return_X_y=True)
    names = {"__name__": "guide", "assay": assay, "np": np, "pd": pd, "X": X, "y": y, "X_new": X[:3]}
    given = set(names)
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)  # the page as a reader would type it
    assert set(names) > given or capsys.readouterr().out  # something came of it
