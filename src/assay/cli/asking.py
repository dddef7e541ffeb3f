"""What the commands of one question share: their options, the study that asks it, and how they tell the answer."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.asking.effort import Effort
from assay.cli import early, options
from assay.cli.app import command
from assay.cli.output import STANDARD, check_places, write_json
from assay.cli.said import columns_of_place, effort_of, logs_of, opened_source, pairs
from assay.cli.tables import check_table, table_lines, write_table
from assay.cli.terminal import explained, progress, terminal

TableFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the table: .csv, .tsv, .parquet, .arrow; - for standard output.",
        show_default=False,
        callback=early.writable,
    ),
]
# each becomes an option of every command of a question
_COMMON: dict[str, tuple[Any, Any]] = {
    "output": (TableFile, None),
    "json": (options.Json, None),
    "seed": (options.Seed, 0),
    "columns": (options.Columns, None),
    "drop": (options.Drop, None),
    "sensitive": (options.Sensitive, None),
    "kind": (options.Kind, None),
    "unit": (options.Unit, None),
    "option": (options.Reading, None),
    "log": (options.Log, "auto"),
    "missing": (options.Gaps, "fill"),
    "time": (options.Time, None),
    "by": (options.By, None),
    "place": (options.Place, None),
    "skip_unreadable": (options.Unreadable, False),
    "quick": (options.Quick, False),
    "thorough": (options.Thorough, False),
    "force": (options.Force, False),
    "debug": (options.Debug, False),
}
# what only a study heeds: how it asks, of which rows, and in which units
_OF_STUDIES = ("quick", "thorough", "log", "missing", "time", "by", "place")


@dataclass
class Asking:
    """One run of such a command.

    Attributes:
        data: as given.
        said: the common options.
        tell: told what is being done.
        effort: of the study.
        given: names of what was said on the command line itself, not in a file of settings.
    """

    data: list[str]
    said: dict[str, Any]
    tell: Callable[[str, int | None, float | None], object] = lambda what, done, share: None
    effort: Effort = "standard"
    given: frozenset[str] = frozenset()

    @property
    def output(self) -> Path | None:
        """Where the table goes."""
        place: Path | None = self.said["output"]
        return place

    @contextmanager
    def running(self, *places: Path | None, also: tuple[str | Path, ...] = ()) -> Iterator[None]:
        """The work, with progress; places are judged first."""
        with explained(self.said["debug"]) as step, progress(step) as tell:
            check_table(self.output)
            self.effort = effort_of(self.said["quick"], self.said["thorough"])
            data = [*self.data, *also]
            check_places((self.output, self.said["json"], *places), data, force=self.said["force"])
            self.tell = tell
            yield

    @contextmanager
    def telling(self) -> Iterator[Any]:
        """The console on which the answer is told; standard error where standard output is taken."""
        written = "nothing was written" if self.output is None else f"the table is {self.output}"
        with explained(self.said["debug"], written=written) as step:
            step.what = "Showing the findings"
            yield terminal(beside=STANDARD in (self.output, self.said["json"]))

    def source(self) -> Any:
        """The data, opened once and kept where rows come once."""
        from assay.data.read import read
        from assay.data.row_cache import KEPT_BYTES, KeptSource

        told: dict[str, Any] = {
            "sensitive": self.said["sensitive"] or [], "skip_unreadable": self.said["skip_unreadable"],
            "kinds": pairs(self.said["kind"], "--kind"), "units": pairs(self.said["unit"], "--unit"),
        }  # fmt: skip
        opened = opened_source(self.data, told, {}, pairs(self.said["option"], "--option"), "table")
        return KeptSource(read(opened), KEPT_BYTES)

    def study(self, source: Any, question: str, **told: Any) -> Any:
        """The study that asks this question alone.

        Args:
            source: the data.
            question: its name.
            told: to the question.
        """
        from assay.study.run import study

        said = self.said
        return study(
            source, only=question, form="table", random_state=said["seed"], progress=self.tell,
            effort=self.effort,
            columns=said["columns"] or (), drop=said["drop"] or (), missing=said["missing"], time=said["time"],
            log=logs_of(said["log"]), by=said["by"],
            place=columns_of_place(said["place"]), **told,
        )  # fmt: skip

    def write(self, table: Any, found: Any) -> None:
        """The table, and what was found as JSON, where they were asked for.

        Args:
            table: of Arrow.
            found: a study, or JSON-ready values.
        """
        write_json(found, self.said["json"])
        write_table(table, self.output)

    def say(self, console: Any, lines: list[str], table: Any = None, figure: Path | None = None) -> None:
        """Tell lines, the first rows of the table where it was not written, and where table and figure are.

        Args:
            console: where.
            lines: of text.
            table: of Arrow.
            figure: where it was written; None for none.
        """
        from assay.shown import visible

        for line in lines:
            console.print(visible(line), soft_wrap=True)
        if self.output is None and table is not None and table.num_rows:
            console.print()
            for line in table_lines(table):
                console.print(line, soft_wrap=True, no_wrap=True)
        elif self.output not in (None, STANDARD):
            console.print(f"The table is {visible(str(self.output))}", soft_wrap=True)
        if figure is not None:
            console.print(f"The figure is {visible(str(figure))}", soft_wrap=True)


def answer_of(found: Any, question: str) -> Any:
    """The answer of a study of one question; where there is none, why, as a refusal.

    Args:
        found: the study.
        question: its name.
    """
    from assay.asking.found import found as known
    from assay.errors import DataError

    if question in found.answers:
        return found.answers[question]
    wording = next(each.wording for each in known().questions if each.name == question)
    why = next((entry.why for entry in found.ledger.not_asked if entry.question == wording), "too little is there")
    raise DataError(f"{found.data.name} does not tell: {wording.rstrip('?').lower()}? {why}")


def verdict_lines(found: Any) -> list[str]:
    """What was read, what was left out and why, and each finding with its verdict.

    Args:
        found: the study.
    """
    from assay.asking.words import BADGES

    card = found.data
    used = [column for column in card.columns if column.used]
    lines = [f"{card.name}: {card.rows:,} rows, {len(used):,} of {len(card.columns):,} columns used"]
    aside = [f"{column.name} ({column.note or column.kind})" for column in card.columns if not column.used]
    if aside:
        more = f" and {len(aside) - 10:,} more" if len(aside) > 10 else ""
        lines.append(f"Not used: {', '.join(aside[:10])}{more}")
    lines += [note for note in card.notes if "stand in" in note or "left out because" in note]
    for finding in found.findings:
        sign, verdict = BADGES[finding.evidence.verdict]
        lines.append(f"{sign} {verdict}: {finding.sentence}")
    return lines


def question_command(example: str, *, studies: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a function that takes an `Asking` as a command, with the options that all of its kind share.

    Args:
        example: a line that works.
        studies: whether it runs a study, which heeds more options than a table by itself.
    """
    takes = {name: how for name, how in _COMMON.items() if studies or name not in _OF_STUDIES}

    def added(function: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(function).parameters.values() if p.name not in ("asking", "data")]

        def called(**given: Any) -> None:
            data, context = given.pop("data"), given.pop("context")
            own = {name for name in given if context.get_parameter_source(name).name == "COMMANDLINE"}
            said = {name: given.pop(name, default) for name, (_, default) in _COMMON.items()}
            function(Asking(data, said, given=frozenset(own)), **given)

        every = [
            inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
            inspect.Parameter("data", inspect.Parameter.KEYWORD_ONLY, annotation=options.Data),
        ]
        every += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        every += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in takes.items()
            if name not in {p.name for p in own}
        ]
        called.__name__, called.__doc__ = function.__name__, function.__doc__
        called.__dict__["__signature__"] = inspect.Signature(every)
        called.__annotations__ = {p.name: p.annotation for p in every}
        return command(example)(called)

    return added
