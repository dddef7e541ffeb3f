"""The notebooks of examples/notebooks, run by the build of the docs in a kernel of their own, as a reader would."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from sphinx.application import Sphinx

from gallery import MADE, ROOT, common, key

NOTEBOOKS = ROOT / "examples" / "notebooks"
LONGEST = 600  # seconds that a cell may take


def run(path: Path) -> None:
    """Run every cell; what one raises ends the build.

    Args:
        path: the notebook; it is not changed.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=LONGEST, resources={"metadata": {"path": str(path.parent)}}).execute()


def _run_stale(app: Sphinx) -> None:
    # the kernel is a process of its own: it has to find the assay that the docs are built from
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    shared = common()
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        done = MADE / f"{path.stem}.notebook"
        if not done.exists() or done.read_text() != key(path, shared):
            run(path)
            done.write_text(key(path, shared))


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("builder-inited", _run_stale)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
