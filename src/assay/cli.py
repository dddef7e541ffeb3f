"""The command line: thin, it calls the study and writes what it found.

Wrong input gives one sentence on standard error and exit code 2; an interrupt gives 130. Nothing is left half-written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from assay import __version__

app = typer.Typer(
    help="Finds the structure in data, and says which of it would survive a second look.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time
)


def main() -> None:
    """Run the command line and exit with its code."""
    app()


@app.command()
def report(
    data: Annotated[Path, typer.Argument(help="The table, a CSV file.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path("report.html"),
    json: Annotated[
        Path | None, typer.Option("--json", help="Write the findings as JSON, too.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0)] = 0,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", help="A column to leave out; may be repeated.", show_default=False)
    ] = None,
) -> None:
    """Study a table and write a self-contained page with what it found."""
    from rich.console import Console

    from assay.data.files import check_writable
    from assay.report.text import show
    from assay.report.write import write_report
    from assay.study.run import study

    with _explained(), _progress() as tell:
        for target in filter(None, (output, json)):
            check_writable(target, unlike=data)
        found = study(data, seed=seed, drop=drop or (), progress=tell)
        tell("Writing the page", None)
        write_report(found, html_path=output, json_path=json)
    console = Console()
    show(found, console)
    console.print(f"\nThe page is {output.resolve().as_uri()}", soft_wrap=True, highlight=False)


@contextmanager
def _explained() -> Iterator[None]:
    """Errors on purpose become one sentence and exit code 2, an interrupt 130."""
    from assay.errors import AssayError

    try:
        yield
    except AssayError as error:
        print(f"assay: {' '.join(str(error).split())}", file=sys.stderr)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        print("assay: stopped; nothing was written", file=sys.stderr)
        raise typer.Exit(130) from None


@contextmanager
def _progress() -> Iterator[Callable[[str, int | None], object]]:
    """A line that says what is being done, on standard error and only where somebody watches."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("Starting", total=None)

        def tell(what: str, done: int | None) -> None:
            progress.update(task, description=what if done is None else f"{what}: {done:,}")

        yield tell


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        print(f"assay {__version__}")
        raise typer.Exit
