"""A case: a format and a seed, from which the damaged files follow."""

import contextlib
import gc
import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.children import in_child
from tests.fuzz.reading import prepare, tried
from tests.fuzz.samples import Files, know, samples
from tests.fuzz.structure import WAYS
from tests.fuzz.words import ended


def files_of(form: str, seed: int) -> Files:
    """The damaged files of a case; the first of them is the one that was changed."""
    rng = random.Random(f"{form} {seed}")
    whole = rng.choice(samples((form,))[form])
    name = rng.choice(sorted(whole))
    content = whole[name]
    damaged = rng.choice(WAYS[form])(content, rng)
    return {name: damaged, **{other: kept for other, kept in whole.items() if other != name}}


@contextlib.contextmanager
def laid_out(files: Files) -> Iterator[Path]:
    """The files in a folder of their own."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        write(files, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(files: Files, folder: Path) -> None:
    """Put the files into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def outcome(form: str, seed: int) -> dict[str, Any]:
    """What becomes of a case: rows, a sentence, or what was wrong."""
    files = files_of(form, seed)
    with laid_out(files) as folder:
        if form == "words":
            return ended(folder, seed)
        return in_child(lambda: tried(form, folder, list(files), seed))


def worked(made: dict[str, list[Files]], seeds: Iterable[int], seconds: float, results: Any) -> None:
    """Try cases until the time is over, and tell each; None at the end.

    Args:
        made: the whole files of the formats, which are tried in turn.
        seeds: of the cases of each format.
        seconds: of trying, after all is made ready.
        results: a queue.
    """
    prepare()
    know(made)
    gc.freeze()  # no child looks through all that was imported, and copies it in doing so
    end = time.monotonic() + seconds
    for seed in seeds:
        for form in made:
            if time.monotonic() < end:
                results.put((form, seed, outcome(form, seed)))
        if time.monotonic() >= end:
            break
    results.put(None)
