"""The commands of summaries that are shared instead of rows: make one, merge several."""

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import early
from assay.cli.app import command
from assay.cli.options import Columns, Data, Debug, Drop, Force, Kind, Log, Reading, Sensitive, Unit, several
from assay.cli.output import STANDARD, check_places, delivered
from assay.cli.said import logs_of, opened_source, pairs
from assay.cli.terminal import explained, progress, terminal

Summary = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="Where the summary goes; - for standard output.",
        show_default=False,
        callback=early.writable,
    ),
]
By = Annotated[
    str | None, typer.Option(help="A column of groups, each of which gets moments of its own.", show_default=False)
]
Group = Annotated[list[str] | None, several("--group", "A group that there may be; rows of others are left out.")]
Folds = Annotated[int, typer.Option(help="Parts that are unseen rows for each other, at most.", min=1)]
Like = Annotated[
    Path | None,
    typer.Option(
        help="The summary, or the encoding, of another site: make the same numbers.",
        show_default=False,
        callback=early.there,
    ),
]
Fewest = Annotated[int, typer.Option(help="Refuse groups, leave out levels, of fewer rows.", min=1)]
Epsilon = Annotated[float | None, typer.Option(help="Add noise for differential privacy.", show_default=False)]
Delta = Annotated[float | None, typer.Option(help="Its chance of failing; far below 1 / rows.", show_default=False)]
Bounds = Annotated[list[str] | None, several("--bounds", "COLUMN=LOW:HIGH, of every column, with --epsilon.")]
Seed = Annotated[int, typer.Option(help="Seed of the folds.", min=0)]


@command("assay summarize patients.csv -o site-a.assay --by diagnosis")
def summarize(
    data: Data,
    output: Summary,
    by: By = None,
    group: Group = None,
    folds: Folds = 10,
    columns: Columns = None,
    drop: Drop = None,
    sensitive: Sensitive = None,
    kind: Kind = None,
    unit: Unit = None,
    option: Reading = None,
    log: Log = "auto",
    like: Like = None,
    fewest_rows: Fewest = 10,
    epsilon: Epsilon = None,
    delta: Delta = None,
    bounds: Bounds = None,
    seed: Seed = 0,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Summarise rows into a file that can be shared.

    It holds moments of folds and groups, and no rows.
    """
    from assay.data.read import read
    from assay.errors import ParameterError
    from assay.models.files import load
    from assay.study.chosen import left_out
    from assay.summary.sharing.summarize import summarize

    with explained(debug) as step, progress(step) as tell:
        check_places((output,), (*data, *((like,) if like else ())), force=force)
        said = {"sensitive": sensitive or [], "kinds": pairs(kind, "--kind"), "units": pairs(unit, "--unit")}
        source = read(opened_source(data, said, {}, pairs(option, "--option"), "table"))
        agreed = None if like is None else load(like)
        if agreed is not None and type(agreed).__name__ not in ("SharedMoments", "Encoding"):
            raise ParameterError(f"--like takes a summary or an encoding; {like} holds {type(agreed).__name__}")
        logs = logs_of(log)
        named = [] if by is None else [("by", by)]
        unused = left_out(source.arrow_schema.names, columns or (), drop or (), named)
        made = summarize(
            source, by=by, groups=group or (), cv=folds, drop=unused, log=logs, like=agreed,
            fewest_rows=fewest_rows, epsilon=epsilon, delta=delta, bounds=_bounds(bounds), random_state=seed,
            progress=tell,
        )  # fmt: skip
        tell("Writing", None, None)
        with delivered(output) as place:
            made.save(place or output, fewest_rows=fewest_rows)
    with explained(debug, written=f"the summary is {output}"):
        used = {known.name for known in made.encoding.fields} | {by}
        _say(made, output, [name for name in source.arrow_schema.names if name not in used])


Files = Annotated[
    list[Path], typer.Argument(help="Files of `assay summarize`.", show_default=False, callback=early.there)
]
Repeats = Annotated[bool, typer.Option("--repeats", help="Let rows that are in two of them count twice.")]


@command("assay merge site-a.assay site-b.assay -o all.assay")
def merge(files: Files, output: Summary, repeats: Repeats = False, force: Force = False, debug: Debug = False) -> None:
    """Merge summaries into that of all rows."""
    from assay.summary.sharing.shared import SharedMoments, merged

    with explained(debug) as step, progress(step) as tell:
        check_places((output,), files, force=force)
        several = []
        for given in files:
            tell(f"Reading {given}", None, None)
            several.append(SharedMoments.load(given))
        made = merged(several, repeats=repeats, names=list(map(str, files)))
        with delivered(output) as place:
            made.save(place or output, fewest_rows=1)  # each was judged where it was made, and sums tell less
    with explained(debug, written=f"the summary is {output}"):
        _say(made, output, [])


def _bounds(given: list[str] | None) -> dict[str, tuple[float, float]]:
    from assay.errors import ParameterError

    bounds = {}
    for name, text in pairs(given, "--bounds").items():
        low, _, high = str(text).partition(":")
        try:
            bounds[name] = (float(low), float(high))
        except ValueError:
            raise ParameterError(f"--bounds takes COLUMN=LOW:HIGH; got {name}={text}") from None
    return bounds


def _say(made: Any, output: Path, without: list[str]) -> None:
    """What is in the file and what was left out, in a few lines."""
    from assay.summary.sharing.release import told
    from assay.views.axes.numbers import count, counted
    from assay.views.html.escape import visible

    fields = made.encoding.fields
    lines = [f"{count(made.total.count)} rows, {counted(len(fields), 'column')}: {', '.join(f.name for f in fields)}"]
    if without:
        lines.append(f"not in it: {', '.join(without)}")
    if made.by is not None:
        lines.append(f"{counted(len(made.groups), 'group')} of {made.by}: {', '.join(made.groups[:20])}")
    of_groups = f" ({count(made.folds)} of each group)" if made.finer else ""
    folds = counted(len(made.finer) or made.folds, "fold")
    lines.append(f"{folds}{of_groups}, {counted(len(made.contributions), 'site')}")
    gaps, strange = (sum(getattr(one, name) or 0 for one in made.contributions) for name in ("gaps", "strange"))
    if gaps:
        lines.append(f"{counted(gaps, 'row')} left out because a value is missing")
    if strange:
        lines.append(f"{counted(strange, 'row')} left out because of a level that is not known or of too few rows")
    if made.noise is not None:
        lines.append(told(made.noise.releases))
    console = terminal(beside=output == STANDARD)
    for line in (*lines, *([] if output == STANDARD else [f"The summary is {output}"])):
        console.print(visible(line), soft_wrap=True, highlight=False, markup=False)
