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
    Figure,
    Force,
    Json,
    Level,
    OnlyOf,
    Page,
    Place,
    Quick,
    Reading,
    Seed,
    Sensitive,
    SkipOf,
    Table,
    Tables,
    TablesAs,
    Thorough,
    Time,
)
from assay.cli.output import STANDARD, check_places, check_tables, delivered, draw, write_json, written
from assay.cli.said import columns_of_place, effort_of, names, pairs, value
from assay.cli.terminal import explained, progress, terminal


@command("assay compare january.csv february.csv -o changes.html")
def compare(
    a: Table,
    b: Table,
    output: Page = None,
    json: Json = None,
    tables: Tables = None,
    tables_as: TablesAs = "parquet",
    plot: Figure = None,
    seed: Seed = 0,
    level: Level = 0.05,
    only: OnlyOf = None,
    skip: SkipOf = None,
    columns: Columns = None,
    drop: Drop = None,
    sensitive: Sensitive = None,
    option: Reading = None,
    time: Time = None,
    by: By = None,
    place: Place = None,
    quick: Quick = False,
    thorough: Thorough = False,
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
        effort = effort_of(quick, thorough)
        check_places((output, json, plot), (a, b), force=force)
        if tables is not None:
            check_tables(tables, tables_as, (a, b), force=force)
        how = {name: value(text) for name, text in pairs(option, "--option").items()}
        sources = opened(a, b, sensitive or [], how)
        asked: dict[str, Any] = {
            "effort": effort,
            "only": names(only),
            "skip": names(skip),
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
        if tables is not None:
            tell("Writing the tables", None, None)
            found.write_tables(tables, tables_as, force=force)
        draw(found, plot, tell)
    with explained(debug, written=written(output)) as step:
        step.what = "Showing the findings"
        console = terminal(beside=STANDARD in (output, json))
        with suppress(typer.Exit):  # who reads only the first lines gets the same code
            show(found, console)
            if output not in (None, STANDARD):
                console.print(f"\nThe page is {output.resolve().as_uri()}", soft_wrap=True, highlight=False)
            if tables is not None:
                console.print(f"The tables are in {tables.resolve().as_uri()}", soft_wrap=True, highlight=False)
    raise typer.Exit(1 if found.differs else 0)
