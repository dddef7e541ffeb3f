"""The reference of the command line, from the application itself.

docs/conf.py writes docs/command-line.md at each build.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from assay.cli import app

OPENING = """# Command line

Every command with its arguments and options, as `assay COMMAND --help` prints them. Exit codes, standard output and
what is left behind: [start](guide/start.md).
"""


def commands() -> str:
    """The text of docs/command-line.md."""
    group: Any = get_command(app)
    lines = [OPENING, "| command | what it does |", "|---|---|"]
    known = sorted((name, each) for name, each in group.commands.items() if not each.hidden)
    lines += [f"| [`assay {name}`](#assay-{name}) | {_cell(_first(each))} |" for name, each in known]
    for name, each in known:
        lines += ["", *_command(f"assay {name}", each)]
    return "\n".join([*lines, ""])


def _command(called: str, command: Any) -> Iterator[str]:
    yield f"## {called}"
    yield ""
    yield from inspect.cleandoc(_plain(command.help)).splitlines()
    yield ""
    if hasattr(command, "commands"):
        for name, each in sorted(command.commands.items()):
            yield from ["", *_command(f"{called} {name}", each)]
        return
    # resilient: nothing is judged or run; the records are those of --help, in any version of typer
    with command.make_context(called, [], resilient_parsing=True) as context:
        yield from ["```text", " ".join([called, *command.collect_usage_pieces(context)]), "```", ""]
        yield from ["| | |", "|---|---|"]
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None:
                yield f"| `{_line(record[0])}` | {_cell(_plain(record[1]))} |"


def _first(command: Any) -> str:
    return inspect.cleandoc(_plain(command.help)).split("\n\n", maxsplit=1)[0].replace("\n", " ")


def _plain(text: str | None) -> str:
    """Help as it is shown: what steers the layout of a terminal is left out."""
    return re.sub(r"[\b\f]\n?", "", text or "")


def _cell(text: str) -> str:
    return _line(text).replace("<", "&lt;")


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
