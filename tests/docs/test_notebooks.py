"""The notebooks run from above to below, and are kept without output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    names = {"__name__": "notebook"}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), path.name, "exec"), names)  # as the kernel would, without one


def test_the_guide_lists_every_notebook():
    page = (ROOT / "docs" / "guide" / "notebooks.md").read_text(encoding="utf-8")
    assert NOTEBOOKS
    assert [path.name for path in NOTEBOOKS if path.name not in page] == []
