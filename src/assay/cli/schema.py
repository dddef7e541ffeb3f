"""The command that says what is in the JSON."""

from typing import Annotated, Literal

import typer

from assay.cli.app import command
from assay.cli.options import Debug
from assay.cli.terminal import explained, terminal

What = Annotated[
    Literal["study", "comparison"], typer.Argument(help="study, of `assay report`, or comparison, of `assay compare`.")
]


@command("assay schema > study.schema.json")
def schema(what: What = "study", debug: Debug = False) -> None:
    """Print the JSON Schema of the findings as JSON."""
    import json

    from assay.report.json_schema import schema_of

    with explained(debug):
        terminal().out_json(json.dumps(schema_of(what), indent=2, ensure_ascii=False) + "\n")
