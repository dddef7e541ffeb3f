"""The application to which every file of this room adds its commands."""

from typing import Annotated

import typer

from assay.version import __version__

app = typer.Typer(
    help="Finds the structure in data, and says which of it would survive a second look.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time
)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        print(f"assay {__version__}")
        raise typer.Exit
