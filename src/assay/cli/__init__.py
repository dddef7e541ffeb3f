"""The command line: thin, it calls the study and writes what it found.

Wrong input gives one sentence on standard error and exit code 2, a fault of assay itself one and exit code 3; an
interrupt gives 130, SIGTERM 143. Nothing is left half-written.
"""

import sys

import typer
from typer.main import get_command

from assay.cli import cache as cache
from assay.cli import chance as chance
from assay.cli import compare as compare
from assay.cli import completion as completion
from assay.cli import forms as forms
from assay.cli import impute as impute
from assay.cli import methods as methods
from assay.cli import predict as predict
from assay.cli import report as report
from assay.cli import rows_and_pairs as rows_and_pairs
from assay.cli import schema as schema
from assay.cli import sharing as sharing
from assay.cli import watch as watch
from assay.cli.app import app as app
from assay.cli.streams import prepare
from assay.cli.terminal import explained

app.registered_commands.sort(key=lambda command: str(command.name or getattr(command.callback, "__name__", "")))


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run())


def run() -> int:
    """Run the command line.

    Returns:
        Its exit code.
    """
    prepare()
    code = 0
    for work in (_invoke, _flush):
        try:
            with explained("--debug" in sys.argv, in_folder=work is _invoke):
                work()
        except typer.Exit as end:
            code = end.exit_code or code
    return code


def _invoke() -> None:
    command = get_command(app)
    with command.make_context("assay", sys.argv[1:]) as context:
        command.invoke(context)


def _flush() -> None:
    sys.stdout.flush()
