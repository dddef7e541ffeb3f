"""Words on the command line, most of them wrong: it ends with one line and exit code 2, or with what was asked for."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.fuzz.damage import WORDS

_COMMANDS = ("report", "compare", "mdp", "rank", "recommend", "chance", "summarize", "merge", "watch", "", "rebort")
_OPTIONS = (
    "-o", "--output", "--target", "--level", "--seed", "--drop", "--sheet", "--table", "--query", "--option", "--by",
    "--like", "--engine", "--resume", "--log", "--missing", "--time", "--place", "--kind", "--sensitive", "--delimiter",
    "--encoding", "--help", "--version", "--debug", "--json", "--", "-", "--skip-unreadable", "--no-such-option",
)  # fmt: skip
# nothing that could be studied, so that a run takes no time
_FILES = ("no-such.csv", "t.csv", ".", "/dev/null", "", "sqlite:///no-such.db", "*.nothing", "t.csv?x=1")
SECONDS = 60


def words_of(seed: int) -> list[str]:
    """The words of a case; none holds a zero byte, which no command line can."""
    rng = random.Random(f"words {seed}")
    said = [rng.choice(_COMMANDS)]
    for _ in range(rng.randrange(6)):
        word = rng.choice((rng.choice(_OPTIONS), rng.choice(_OPTIONS), rng.choice(_FILES), rng.choice(WORDS)))
        said.append(word if rng.random() < 0.8 else f"{rng.choice(_OPTIONS)}={word}")
    return [word.encode("utf-8", "replace").decode() for word in said if "\0" not in word]


def ended(folder: Path, seed: int) -> dict[str, Any]:
    """What becomes of the words: {"rows": 0}, {"refused": line} or {"wrong": what happened}."""
    said = words_of(seed)
    code = [sys.executable, "-m", "assay", *said]
    surroundings = {**os.environ, "NO_COLOR": "1", "PYTHONWARNINGS": "error"}
    try:
        run = subprocess.run(
            code, cwd=folder, env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"wrong": f"nothing came within {SECONDS} s: {said}"}
    heard = run.stderr.decode(errors="replace")
    if run.returncode not in (0, 2):
        return {"wrong": f"exit code {run.returncode} of {said}: {heard[-300:]!r}"}
    if ("Traceback" in heard and "--debug" not in said) or (run.returncode == 2 and not heard.strip()):
        return {"wrong": f"{said} is answered by {heard[-300:]!r}"}
    left = sorted(path.name for path in folder.iterdir() if path.name != "t.csv")
    if run.returncode == 2 and left:
        return {"wrong": f"{said} is refused and leaves {left}"}
    return {"refused": heard[-300:]} if run.returncode else {"rows": 0}
