"""The command that shows and clears what is kept of large files."""

from typing import Annotated, Literal

import typer

from assay.cli.app import command
from assay.cli.options import Debug
from assay.cli.terminal import explained, terminal

What = Annotated[
    Literal["show", "clear"], typer.Argument(help="show: where it is and how large; clear: remove all of it.")
]


@command("assay cache clear")
def cache(what: What = "show", debug: Debug = False) -> None:
    """Show or clear what is kept of large files.

    A report of a file of 64 MB or more keeps what it summed up, so that the next one takes less time.
    """
    with explained(debug):
        from assay.engine.cache import Cache

        kept = Cache()
        entries = kept.entries
        megabytes = f"{sum(size for _, size, _ in entries) / 1e6:,.1f} MB"
        if what == "clear":
            kept.clear()
        held = f"{megabytes} in {len(entries):,} file{'' if len(entries) == 1 else 's'}"
        console = terminal()
        if what == "clear":
            console.print(f"Removed {held} from {kept.folder}", soft_wrap=True)
        else:
            console.print(f"{kept.folder}: {held}", soft_wrap=True)
