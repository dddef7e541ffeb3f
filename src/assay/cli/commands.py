"""The commands: thin, they call the study and write what it found."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal

import typer

from assay.asking.found import found
from assay.cli import early
from assay.cli.app import app
from assay.cli.output import STANDARD, check_places, delivered
from assay.cli.terminal import explained, progress, terminal

Missing = Literal["fill", "drop"]


def _several(name: str, words: str) -> Any:
    check = early.judged(lambda text: _pairs([text], name)) if "=" in words else None
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
Seed = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]
Drop = Annotated[list[str] | None, _several("--drop", "A column to leave out.")]
Sensitive = Annotated[list[str] | None, _several("--sensitive", "A column whose values must not leave the source.")]
Kind = Annotated[list[str] | None, _several("--kind", "COLUMN=KIND, to overrule what was inferred.")]
Unit = Annotated[list[str] | None, _several("--unit", "COLUMN=UNIT.")]
Match = Annotated[list[str] | None, _several("--match", "NEW=OLD: a column of several sources by another name.")]
Resolve = Annotated[
    list[str] | None,
    _several("--resolve", "COLUMN=first|text|drop|KIND, for columns of several sources that conflict."),
]
Reading = Annotated[
    list[str] | None,
    _several("--option", "NAME=VALUE, for the reader: delimiter, sheet, table, query, join, features, size ..."),
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
Skip = Annotated[
    bool, typer.Option("--skip-unreadable", help="Leave out and count what cannot be read, rather than stop.")
]
Resume = Annotated[
    Path | None,
    typer.Option(help="A folder of your own, by which a run that ended early goes on.", show_default=False),
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Leave out what takes long and draw chance less often: less is found, sooner."),
]
Thorough = Annotated[
    bool, typer.Option("--thorough", help="Draw chance more often than usual, for smaller p-values; takes longer.")
]
Log = Annotated[str, typer.Option(help="auto, never, or names of columns separated by commas.")]
Order = Annotated[list[str] | None, _several("--order", "A column to draw first in the array plot.")]
Debug = Annotated[
    bool, typer.Option("--debug", help="Where something goes wrong, show the traceback too.", is_eager=True)
]
Gaps = Annotated[Missing, typer.Option(help="fill: a value of another row stands in; drop: leave such rows out.")]

Time = Annotated[str | None, typer.Option(help="The column that orders rows which depend on those before.")]
By = Annotated[str | None, typer.Option(help="The column that names what several rows are from: subject, site, batch.")]
Place = Annotated[str | None, typer.Option(help="Two columns that say where rows lie, such as x,y.", metavar="X,Y")]


def report(
    data: Data,
    output: Output = Path("report.html"),
    json: Json = None,
    seed: Seed = 0,
    drop: Drop = None,
    sensitive: Sensitive = None,
    kind: Kind = None,
    unit: Unit = None,
    match: Match = None,
    resolve: Resolve = None,
    option: Reading = None,
    log: Log = "auto",
    order: Order = None,
    missing: Gaps = "fill",
    time: Time = None,
    by: By = None,
    place: Place = None,
    form: Form = None,
    engine: Engine = None,
    skip_unreadable: Skip = False,
    resume: Resume = None,
    quick: Quick = False,
    thorough: Thorough = False,
    debug: Debug = False,
    **told: Any,
) -> None:
    """Study a table, a network, ratings or trials and write a self-contained page with what it found."""
    from assay.report.text import show
    from assay.report.write import write_report
    from assay.study.run import study

    with explained(debug) as step, progress(step) as tell:
        effort = _effort(quick, thorough)
        check_places((output, json), data)
        said: dict[str, Any] = {"sensitive": sensitive or [], "skip_unreadable": skip_unreadable}
        said |= {"kinds": _pairs(kind, "--kind"), "units": _pairs(unit, "--unit")}
        fusing = {"match": _several_pairs(match, "--match"), "resolve": _pairs(resolve, "--resolve")}
        source = _source(data, said, fusing, _pairs(option, "--option"), form)
        logs = log if log in ("auto", "never") else log.split(",")
        asked: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        asked |= {"time": time, "by": by, "place": tuple(place.split(",")) if place else ()}
        answers = study(
            source, random_state=seed, drop=drop or (), log=logs, missing=missing, form=form, progress=tell,
            engine=engine,
            resume=resume,
            effort=effort,
            **asked,
        )  # fmt: skip
        tell("Writing the page", None, None)
        with delivered(output) as page, delivered(json) as findings:
            write_report(answers, html_path=page, json_path=findings, order=order or ())
    with explained(debug, written=_written(output)) as step:
        step.what = "Showing the findings"
        console = terminal(beside=STANDARD in (output, json))
        show(answers, console)
        if output != STANDARD:
            console.print(f"\nThe page is {output.resolve().as_uri()}", soft_wrap=True, highlight=False)


def _flagged(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with a flag for each option that a question takes, in the place of its `**told`."""
    own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]
    for option in found().options:
        given: Any = GenericAlias(list, option.type) if option.many else option.type
        flag = f"--{option.name.replace('_', '-')}"
        how = _several(flag, option.help) if option.many else typer.Option(flag, help=option.help, show_default=False)
        kind = Annotated[given | None, how]
        own.append(inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind))
    command.__dict__["__signature__"] = inspect.Signature(own)
    command.__annotations__ = {p.name: p.annotation for p in own}
    return command


app.command()(_flagged(report))


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
Printed = Annotated[bool, typer.Option("--json", help="Print the findings as JSON instead of words.")]
Figure = Annotated[
    Path | None,
    typer.Option(
        "--plot", help="Write a figure, too: .html, .png or .svg.", show_default=False, callback=early.drawable
    ),
]
Level = Annotated[
    float, typer.Option(help="Chance of any difference found between tables from one source.", callback=early.share)
]


@app.command()
def compare(
    a: Table,
    b: Table,
    output: Page = None,
    json: Printed = False,
    seed: Seed = 0,
    level: Level = 0.05,
    drop: Drop = None,
    sensitive: Sensitive = None,
    option: Reading = None,
    time: Time = None,
    by: By = None,
    place: Place = None,
    debug: Debug = False,
) -> None:
    """Say what differs between two tables beyond chance: exit code 1 if anything does, 0 if nothing."""
    from assay.comparison.run import compare
    from assay.comparison.sources import opened
    from assay.report.comparison_text import show
    from assay.report.findings_json import dumps
    from assay.report.write import write_comparison

    with explained(debug) as step, progress(step) as tell:
        check_places((output, STANDARD if json else None), (a, b))
        how = {name: _value(text) for name, text in _pairs(option, "--option").items()}
        sources = opened(a, b, sensitive or [], how)
        where = tuple(place.split(",")) if place else ()
        asked: dict[str, Any] = {"drop": drop or (), "time": time, "by": by, "place": where}
        found = compare(*sources, random_state=seed, level=level, progress=tell, **asked)
        if output is not None:
            with suppress(typer.Exit), delivered(output) as page:
                write_comparison(found, html_path=page)
    with explained(debug, written=_written(output)) as step:
        step.what = "Showing the findings"
        console = terminal(beside=output == STANDARD)
        with suppress(typer.Exit):  # who reads only the first lines gets the same code
            if json:
                console.out_json(dumps(found))
            else:
                show(found, console)
            if output not in (None, STANDARD) and not json:
                console.print(f"\nThe page is {output.resolve().as_uri()}", soft_wrap=True, highlight=False)
    raise typer.Exit(1 if found.differs else 0)


Transitions = Annotated[
    str,
    typer.Argument(
        help="A table of state, action, next, probability, reward; or of trials: trial, step, state, action, reward.",
        show_default=False,
        callback=early.there,
    ),
]
Discount = Annotated[float, typer.Option(help="How much the next step counts, from 0 to 1.", callback=early.share)]


@app.command()
def mdp(
    file: Transitions,
    discount: Discount = 0.95,
    json: Printed = False,
    plot: Figure = None,
    seed: Seed = 0,
    debug: Debug = False,
) -> None:
    """Say what is best to do in each state of a decision process, and what that is worth; learn it from trials."""
    from assay.models.decision.mdp.learning.cells import holds_trials
    from assay.models.decision.mdp.learning.learn import learn_mdp
    from assay.models.decision.mdp.mdp import MDP
    from assay.report.decision_text import show, show_learned
    from assay.report.findings_json import dumps

    learned, process = None, None
    with explained(debug) as step, progress(step) as tell:
        _writable(plot, file)
        tell("Reading the table", None, None)
        if holds_trials(file):
            learned = learn_mdp(file, discount, unseen="left out", random_state=seed)
            tell("Drawing trials anew", None, None)
            _ = learned.choices, learned.more_trials
        else:
            process = MDP.read(file, discount)
            tell("Finding the best actions", None, None)
            many = process.n_states > 100_000
            found = process.modified_policy_iteration() if many else process.policy_iteration()
        _draw(found if learned is None else learned, plot, tell)
    with explained(debug) as step:
        step.what = "Showing the findings"
        console = terminal()
        if json:
            console.out_json(dumps(found if learned is None else learned))
        elif learned is not None:
            show_learned(learned, console)
        elif process is not None:
            show(found, process.notes, console)


Edges = Annotated[
    str,
    typer.Argument(help="A list of links: a text file or any table.", show_default=False, callback=early.there),
]
Top = Annotated[int, typer.Option(help="How many nodes to show.", min=1)]
Damping = Annotated[
    float, typer.Option(help="Probability of following a link: at least 0, below 1.", callback=early.share)
]
Proven = Annotated[bool, typer.Option("--evidence/--scores", help="Draw intervals and random graphs, or scores alone.")]
OneWay = Annotated[
    bool | None,
    typer.Option("--directed/--undirected", help="Whether links lead one way; as the file says when not given."),
]


@app.command()
def rank(
    edges: Edges,
    top: Top = 10,
    json: Printed = False,
    damping: Damping = 0.85,
    directed: OneWay = None,
    evidence: Proven = True,
    plot: Figure = None,
    seed: Seed = 0,
    debug: Debug = False,
) -> None:
    """Rank the nodes of a network by PageRank, with intervals, and say which ranks only repeat the in-degrees."""
    import json as writer

    from assay.models.network.pagerank.pagerank import pagerank
    from assay.views.html.escape import visible

    with explained(debug) as step, progress(step) as tell:
        _writable(plot, edges)
        tell("Ranking the nodes", None, None)
        ranking = pagerank(edges, damping=damping, directed=directed, random_state=seed)
        tell("Drawing links anew", None, None)
        found = ranking.as_dict(top, evidence=evidence)
        _draw(ranking, plot, tell)
    with explained(debug) as step:
        step.what = "Showing the ranking"
        console = terminal()
        text = writer.dumps(found, indent=2) if json else "\n".join(map(visible, ranking.lines(top, evidence=evidence)))
        console.out(text, highlight=False)


Rated = Annotated[
    str,
    typer.Argument(
        help="A table with a row for each rating: user, item, rating.", show_default=False, callback=early.there
    ),
]
Whom = Annotated[
    str, typer.Option("--user", help="The user to recommend to, as the table calls him or her.", show_default=False)
]
Best = Annotated[int, typer.Option("-n", "--number", help="How many items to recommend.", min=1)]
Called = Annotated[
    str | None,
    typer.Option(
        "--items",
        help="A table with names of the items, such as movies.csv.",
        show_default=False,
        callback=early.there,
    ),
]
Rank = Annotated[int, typer.Option("--factors", help="How many factors.", min=1)]


@app.command()
def recommend(
    ratings: Rated,
    user: Whom,
    number: Best = 10,
    items: Called = None,
    factors: Rank = 10,
    json: Printed = False,
    plot: Figure = None,
    debug: Debug = False,
) -> None:
    """Recommend items to a user, by the ratings or counts of all users."""
    import json as writer

    from assay.models.prediction.recommender.item_names import item_names
    from assay.models.prediction.recommender.matrix_factorization import MatrixFactorization
    from assay.report.recommendation_text import as_dict, lines
    from assay.summary.ratings.ratings import Ratings

    with explained(debug) as step, progress(step) as tell:
        _writable(plot, ratings)
        tell("Reading the ratings", None, None)
        seen = Ratings.of(ratings)
        seen.user_number(user)  # refuses a name that is not known, before anything is fitted
        names = {} if items is None else item_names(items, seen)
        model = MatrixFactorization(factors, feedback="implicit" if seen.counts else "explicit")
        model.fit_ratings(seen, progress=lambda done, _: tell(f"Fitting {factors} factors, sweep {done}", None, None))
        found = as_dict(model, user, model.recommend(user, number), names)
        _draw(model, plot, tell)
    with explained(debug) as step:
        step.what = "Showing the recommendations"
        console = terminal()
        if json:
            console.out_json(writer.dumps(found, indent=2, ensure_ascii=False) + "\n")
        else:
            console.out("\n".join(lines(found)), highlight=False)


Things = Annotated[int, typer.Argument(help="How many there are: columns, people, tests.", show_default=False)]
Chance = Annotated[float, typer.Argument(help="That one look shows it once, by chance alone.", show_default=False)]
Together = Annotated[int, typer.Option(help="How many of them make one look: 2 for pairs.")]
Occasions = Annotated[int, typer.Option(help="How often each combination could show it.")]
Times = Annotated[int, typer.Option(help="On how many of these occasions it has to.")]
AnyFalse = Annotated[float, typer.Option(help="What the probability of any false hit is to be.", callback=early.share)]


@app.command()
def chance(
    things: Things,
    chance: Chance,
    together: Together = 1,
    occasions: Occasions = 1,
    times: Times = 1,
    level: AnyFalse = 0.05,
    json: Printed = False,
    debug: Debug = False,
) -> None:
    """Say how many hits chance alone gives to whoever looks at everything."""
    import json as writer
    from dataclasses import asdict

    from assay.evidence.by_chance import expected_by_chance

    with explained(debug):
        found = expected_by_chance(things, chance, together=together, occasions=occasions, times=times, level=level)
        console = terminal()
        words = writer.dumps(asdict(found) | {"sentence": found.sentence}, indent=2) if json else found.sentence
        console.out(words, highlight=False)


def _effort(quick: bool, thorough: bool) -> str:
    from assay.errors import ParameterError

    if quick and thorough:
        raise ParameterError("--quick and --thorough contradict each other; give one of them, or none")
    return "quick" if quick else "thorough" if thorough else "standard"


def _source(
    data: list[str], said: dict[str, Any], fusing: dict[str, Any], options: dict[str, str], form: str | None = None
) -> Any:
    from assay.data.files import archive_kind
    from assay.data.fusion.fuse import fuse
    from assay.data.read import read
    from assay.errors import ParameterError

    how: dict[str, Any] = {name: _value(text) for name, text in options.items()}
    if len(data) == 1 and archive_kind(data[0]) is not None:
        if how or any(said.values()):
            raise ParameterError(f"{data[0]} was saved by assay: there is nothing to say about how to read it")
        return data[0]
    if len(data) > 1:
        return fuse(data, **said, **fusing, **how)
    if any(fusing.values()):
        raise ParameterError("--match and --resolve are for several sources; only one was given")
    if not any(said.values()) and (not how or form not in (None, "table")):
        from assay.study.forms.opened import opened

        return opened(data[0], form, how) if how else data[0]
    return read(data[0], **said, **how)


def _written(page: Path | None) -> str:
    """What stands if a command ends while its findings are shown."""
    if page is None:
        return "nothing was written"
    return "the page is written" if page == STANDARD else f"the page is {page}"


def _writable(figure: Path | None, data: str) -> None:
    """Refuse a place where no figure can be, before anything is computed."""
    if figure is not None:
        check_places((figure,), (data,))


def _draw(found: Any, figure: Path | None, tell: Callable[[str, int | None, float | None], object]) -> None:
    if figure is not None:
        from assay.views.plot import plot

        tell("Drawing", None, None)
        plot(found).save(figure)


def _several_pairs(given: list[str] | None, option: str) -> dict[str, list[str]]:
    """The values of each name, which may come several times."""
    pairs: dict[str, list[str]] = {}
    for text in given or []:
        for name, value in _pairs([text], option).items():
            pairs.setdefault(name, []).append(value)
    return pairs


def _pairs(given: list[str] | None, option: str) -> dict[str, Any]:
    from assay.errors import ParameterError

    pairs: dict[str, Any] = {}
    for text in given or []:
        name, sign, value = text.rpartition("=")
        if not sign or not name:
            raise ParameterError(f"{option} takes NAME=VALUE; got {text!r}")
        pairs[name] = value
    return pairs


def _value(text: str) -> str | int | bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    return int(text) if text.isascii() and text.isdigit() else words.get(text.lower(), text)
