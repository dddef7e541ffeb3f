"""The command that studies data and writes a page."""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any

import typer

from assay.asking.found import found
from assay.cli.app import command
from assay.cli.options import (
    By,
    Columns,
    Data,
    Debug,
    Drop,
    Engine,
    Force,
    Form,
    Gaps,
    Json,
    Kind,
    Log,
    Match,
    NoCache,
    Only,
    Order,
    Output,
    Place,
    Quick,
    Reading,
    Resolve,
    Resume,
    Rows,
    Seed,
    Sensitive,
    Skip,
    Tables,
    TablesAs,
    Thorough,
    Time,
    Unit,
    Unreadable,
    several,
)
from assay.cli.output import STANDARD, check_places, check_tables, delivered, written
from assay.cli.said import columns_of_place, effort_of, logs_of, names, opened_source, pairs, several_pairs
from assay.cli.terminal import explained, progress, terminal


def report(
    data: Data,
    output: Output = Path("report.html"),
    json: Json = None,
    tables: Tables = None,
    tables_as: TablesAs = "parquet",
    seed: Seed = 0,
    only: Only = None,
    skip: Skip = None,
    columns: Columns = None,
    drop: Drop = None,
    sensitive: Sensitive = None,
    kind: Kind = None,
    unit: Unit = None,
    match: Match = None,
    resolve: Resolve = None,
    option: Reading = None,
    log: Log = "auto",
    order: Order = None,
    include_rows: Rows = False,
    missing: Gaps = "fill",
    time: Time = None,
    by: By = None,
    place: Place = None,
    form: Form = None,
    engine: Engine = None,
    skip_unreadable: Unreadable = False,
    resume: Resume = None,
    no_cache: NoCache = False,
    quick: Quick = False,
    thorough: Thorough = False,
    force: Force = False,
    debug: Debug = False,
    **told: Any,
) -> None:
    """Study data and write a page with what was found.

    A table, a network, ratings or trials: every question that applies is asked, and the page says what would survive a
    second look. It is one file that needs nothing else.
    """
    from assay.report.text import show
    from assay.report.write import write_report
    from assay.study.run import study

    with explained(debug) as step, progress(step) as tell:
        effort = effort_of(quick, thorough)
        check_places((output, json), data, force=force)
        if tables is not None:
            check_tables(tables, tables_as, data, force=force)
        said: dict[str, Any] = {"sensitive": sensitive or [], "skip_unreadable": skip_unreadable}
        said |= {"kinds": pairs(kind, "--kind"), "units": pairs(unit, "--unit")}
        fusing = {"match": several_pairs(match, "--match"), "resolve": pairs(resolve, "--resolve")}
        given = opened_source(data, said, fusing, pairs(option, "--option"), form)
        asked: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        asked |= {"time": time, "by": by, "place": columns_of_place(place)}
        answers = study(
            given, random_state=seed, only=names(only), skip=names(skip), columns=columns or (),
            drop=drop or (), log=logs_of(log), missing=missing, form=form, progress=tell,
            engine=engine,
            resume=resume,
            cache=not no_cache,
            effort=effort,
            **asked,
        )  # fmt: skip
        if tables is not None:
            tell("Writing the tables", None, None)
            answers.write_tables(tables, tables_as, force=force)
        tell("Writing the page", None, None)
        with delivered(output) as page, delivered(json) as findings:
            write_report(answers, html_path=page, json_path=findings, order=order or (), include_rows=include_rows)
    with explained(debug, written=written(output)) as step:
        step.what = "Showing the findings"
        console = terminal(beside=STANDARD in (output, json))
        show(answers, console)
        if output != STANDARD:
            console.print(f"\nThe page is {output.resolve().as_uri()}", soft_wrap=True, highlight=False)
        if tables is not None:
            console.print(f"The tables are in {tables.resolve().as_uri()}", soft_wrap=True, highlight=False)
            if some := answers.sampled():
                words = (
                    f"{', '.join(some)} hold a fair sample of the {answers.data.rows_used:,} rows; `tables` lists all."
                )
                console.print(words, soft_wrap=True, highlight=False)


def _flagged(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with a flag for each option that a question takes, in the place of its `**told`."""
    own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
    for option in found().options:
        given: Any = GenericAlias(list, option.type) if option.many else option.type
        flag = f"--{option.name.replace('_', '-')}"
        how = several(flag, option.help) if option.many else typer.Option(flag, help=option.help, show_default=False)
        kind = Annotated[given | None, how]
        own.append(inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind))
    command.__dict__["__signature__"] = inspect.Signature(own)
    command.__annotations__ = {p.name: p.annotation for p in own}
    return command


command("assay report customers.csv --target spend -o customers.html")(_flagged(report))
