"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from assay.cli import early
from assay.cli.said import pairs
from assay.cli.settings import also_sensitive

Missing = Literal["fill", "drop"]


def several(name: str, words: str) -> Any:
    """An option that may come several times.

    Args:
        name: of the option.
        words: what each value is; where they say NAME=VALUE, one without its sign is refused at once.
    """
    check = early.judged(lambda text: pairs([text], name)) if "=" in words else None
    return typer.Option(name, help=f"{words} May be repeated.", show_default=False, callback=check)


Data = Annotated[
    list[str],
    typer.Argument(
        help="A file, folder, pattern, URL or database, or - for standard input; several are fused into one table.",
        show_default=False,
        callback=early.there,
    ),
]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="Where the page goes; - for standard output.", callback=early.writable),
]
Json = Annotated[
    Path | None,
    typer.Option(
        "--json",
        help="Write the findings as JSON, too; - for standard output.",
        show_default=False,
        callback=early.writable,
    ),
]
Tables = Annotated[
    Path | None,
    typer.Option(
        "--tables",
        help="A folder, for all numbers behind the findings as tables.",
        metavar="DIR",
        show_default=False,
    ),
]
TablesAs = Annotated[
    Literal["parquet", "csv"], typer.Option("--tables-as", help="How tables are written: parquet or csv.")
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]
Drop = Annotated[list[str] | None, several("--drop", "A column to leave out, or several separated by commas.")]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitive",
        help="A column whose values must not leave the source. May be repeated.",
        show_default=False,
        callback=also_sensitive,
    ),
]
Columns = Annotated[
    list[str] | None, several("--columns", "A column to use, and no other, or several separated by commas.")
]
Only = Annotated[list[str] | None, several("--only", "A question to ask, and no other; `assay methods` lists them.")]
Skip = Annotated[list[str] | None, several("--skip", "A question not to ask.")]
COMPARED = ("columns", "correlations", "components", "groups", "overall")  # questions put to two tables
OnlyOf = Annotated[
    list[str] | None,
    several("--only", f"A question to ask, and no other: {', '.join(COMPARED[:-1])} or {COMPARED[-1]}."),
]
SkipOf = Annotated[list[str] | None, several("--skip", "A question not to ask, by the same names.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there, also where assay did not write it.")]
Kind = Annotated[list[str] | None, several("--kind", "COLUMN=KIND, to overrule what was inferred.")]
Unit = Annotated[list[str] | None, several("--unit", "COLUMN=UNIT.")]
Match = Annotated[list[str] | None, several("--match", "NEW=OLD: a column of several sources by another name.")]
Resolve = Annotated[
    list[str] | None,
    several("--resolve", "COLUMN=first|text|drop|KIND, for columns of several sources that conflict."),
]
Reading = Annotated[
    list[str] | None,
    several("--option", "NAME=VALUE, for the reader: delimiter, sheet, table, query, join, features, size ..."),
]
Form = Annotated[
    str | None,
    typer.Option(
        help="table, network, ratings or trials; found out by the columns when not given.", show_default=False
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        help="Where rows are read: local, dask, spark, or the address of a cluster.",
        show_default=False,
        callback=early.engine,
    ),
]
Unreadable = Annotated[
    bool, typer.Option("--skip-unreadable", help="Leave out and count what cannot be read, rather than stop.")
]
Resume = Annotated[
    Path | None,
    typer.Option(help="A folder of your own, by which a run that ended early goes on.", show_default=False),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Keep nothing of large files for the next report, and take nothing kept.")
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Leave out what takes long and draw chance less often: less is found, sooner."),
]
Thorough = Annotated[
    bool, typer.Option("--thorough", help="Draw chance more often than usual, for smaller p-values; takes longer.")
]
Log = Annotated[str, typer.Option(help="auto, never, or names of columns separated by commas.")]
Order = Annotated[list[str] | None, several("--order", "A column to draw first in the array plot.")]
Rows = Annotated[
    bool,
    typer.Option("--include-rows", help="Let the page hold rows as they came, with identifiers; else coarse values."),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Where something goes wrong, show the traceback too.", is_eager=True)
]
Gaps = Annotated[Missing, typer.Option(help="fill: a value of another row stands in; drop: leave such rows out.")]

Time = Annotated[str | None, typer.Option(help="The column that orders rows which depend on those before.")]
By = Annotated[str | None, typer.Option(help="The column that names what several rows are from: subject, site, batch.")]
Place = Annotated[str | None, typer.Option(help="Two columns that say where rows lie, such as x,y.", metavar="X,Y")]
Table = Annotated[
    str, typer.Argument(help="A file, folder, pattern, URL or database.", show_default=False, callback=early.there)
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write a page, too; - for standard output.",
        show_default=False,
        callback=early.writable,
    ),
]
Figure = Annotated[
    Path | None,
    typer.Option(
        "--plot", help="Write a figure, too: .html, .png or .svg.", show_default=False, callback=early.drawable
    ),
]
Level = Annotated[
    float, typer.Option(help="Chance of any difference found between tables from one source.", callback=early.share)
]
