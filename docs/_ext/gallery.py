"""The examples of the gallery, run by the build of the docs.

    ```{example} components
    :alt: what the picture shows
    ```

shows examples/gallery/components.py, what it prints, and the picture that it saves. A script runs in a process of its
own, in a folder of docs/gallery/_made where its output is kept; it runs again when the script, the data or assay itself
changed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "gallery"
MADE = ROOT / "docs" / "gallery" / "_made"
PRINTED, KEY = "printed.txt", "key"
LONGEST = 600.0  # seconds that a script may take


def key(script: Path, common: bytes) -> str:
    """What the output of a script depends on, as a hash.

    Args:
        script: the file.
        common: digest of what all scripts depend on.
    """
    return hashlib.sha256(common + script.read_bytes()).hexdigest()


def common() -> bytes:
    """A digest of the data and of assay's own sources."""
    digest = hashlib.sha256()
    for folder, pattern in ((ROOT / "examples" / "data", "*.csv"), (ROOT / "src" / "assay", "**/*.py")):
        for path in sorted(folder.glob(pattern)):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.digest()


def stale() -> list[Path]:
    """Scripts whose output is not there, or was made from something else."""
    shared = common()
    return [
        script
        for script in sorted(SCRIPTS.glob("*.py"))
        if not (kept := MADE / script.stem / KEY).exists() or kept.read_text() != key(script, shared)
    ]


def run(script: Path, folder: Path) -> None:
    """Run a script in a folder and keep what it prints there.

    Args:
        script: the file.
        folder: made if it is not there; emptied before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        env={**os.environ, **one, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LONGEST,
        check=False,
    )
    if done.returncode:
        raise ExtensionError(f"{script.relative_to(ROOT)} failed:\n{done.stderr}")
    (folder / PRINTED).write_text(done.stdout, encoding="utf-8")
    (folder / KEY).write_text(key(script, common()))


class Example(SphinxDirective):
    """A script of the gallery: its code, what it prints, its picture."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012  docutils reads it off the class

    def run(self) -> list[nodes.Node]:
        """The nodes of the page."""
        name = self.arguments[0]
        script, folder = SCRIPTS / f"{name}.py", MADE / name
        if not (folder / PRINTED).exists():
            raise self.error(f"there is no examples/gallery/{name}.py, or it did not run")
        for path in (script, folder / PRINTED):
            self.env.note_dependency(str(path))
        return [*self._shown(script, folder)]

    def _shown(self, script: Path, folder: Path) -> Iterator[nodes.Node]:
        code = nodes.literal_block("", script.read_text(encoding="utf-8").rstrip(), language="python")
        yield code
        yield nodes.paragraph("", f"It is examples/gallery/{script.name}, and prints:")
        yield nodes.literal_block(
            "", (folder / PRINTED).read_text(encoding="utf-8").rstrip(), language="text", classes=["printed"]
        )
        pictures = sorted([*folder.glob("*.svg"), *folder.glob("*.png")])
        if pictures and "alt" not in self.options:
            raise self.error("a picture needs words for those who cannot see it: :alt:")
        for picture in pictures:
            yield nodes.image(
                uri="/" + picture.relative_to(self.env.srcdir).as_posix(), alt=self.options["alt"], width="100%"
            )


def _make(app: Sphinx) -> None:
    """Run what is stale, as many at a time as there are processors."""
    left = stale()
    if left:
        getLogger(__name__).info("running %d examples of the gallery", len(left))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda script: run(script, MADE / script.stem), left):
            pass


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_directive("example", Example)
    app.connect("builder-inited", _make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
