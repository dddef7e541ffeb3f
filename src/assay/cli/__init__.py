"""The command line: thin, it calls the study and writes what it found.

Wrong input gives one sentence on standard error and exit code 2, a fault of assay itself one and exit code 3; an
interrupt gives 130, SIGTERM 143. Nothing is left half-written.
"""

from assay.cli import commands as commands
from assay.cli import sharing as sharing
from assay.cli import watch as watch
from assay.cli.app import app


def main() -> None:
    """Run the command line and exit with its code."""
    app()
