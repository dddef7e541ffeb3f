"""The command that compares two tables."""

from contextlib import suppress
from typing import Any

import typer

from assay.cli.app import command
from assay.cli.options import (
    By,
    Columns,
    Debug,
    Drop,
    Force,
    Json,
    Level,
    Page,
    Place,
    Reading,
    Seed,
    Sensitive,
    Table,
    Time,
)
from assay.cli.output import STANDARD, check_places, delivered, write_json, written
from assay.cli.said import columns_of_place, pairs, value
from assay.cli.terminal import explained, progress, terminal


@command("assay compare january.csv february.csv -o changes.html")
def compare(
    a: Table,
    b: Table,
    output: Page = None,
    json: Json = None,
    seed: Seed = 0,
    level: Level = 0.05,
    columns: Columns = None,
    drop: Drop = None,
    sensitive: Sensitive = None,
    option: Reading = None,
    time: Time = None,
    by: By = None,
    place: Place = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Say what differs between two tables beyond chance.

    The exit code is 1 if anything does, 0 if nothing.
    """
    from assay.comparison.run import compare
    from assay.comparison.sources import opened
    from assay.report.comparison_text import show
    from assay.report.write import write_comparison

    with explained(debug) as step, progress(step) as tell:
        check_places((output, json), (a, b), force=force)
        how = {name: value(text) for name, text in pairs(option, "--option").items()}
        sources = opened(a, b, sensitive or [], how)
        asked: dict[str, Any] = {
            "columns": columns or (),
            "drop": drop or (),
            "time": time,
            "by": by,
            "place": columns_of_place(place),
        }
        found = compare(*sources, random_state=seed, level=level, progress=tell, **asked)
        if output is not None:
            with suppress(typer.Exit), delivered(output) as page:
                write_comparison(found, html_path=page)
        with suppress(typer.Exit):
            write_json(found, json)
    with explained(debug, written=written(output)) as step:
        step.what = "Showing the findings"
        console = terminal(beside=STANDARD in (output, json))
        with suppress(typer.Exit):  # who reads only the first lines gets the same code
            show(found, console)
            if output not in (None, STANDARD):
                console.print(f"\nThe page is {output.resolve().as_uri()}", soft_wrap=True, highlight=False)
    raise typer.Exit(1 if found.differs else 0)
