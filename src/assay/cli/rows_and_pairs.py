"""The commands of one question each: a map of the rows, their groups, those that do not belong, pairs of columns."""

from typing import Annotated, Any, Literal

import typer

from assay.cli.asking import Asking, answer_of, question_command, verdict_lines
from assay.cli.options import Figure
from assay.cli.output import draw
from assay.cli.said import logs_of

Method = Literal["tsne", "pca", "isomap", "mds", "classical-mds", "diffusion", "kernel-pca"]
How = Annotated[Method, typer.Option(help="How the map is made.")]
Groups = Annotated[
    int | None,
    typer.Option("--k", help="Make so many groups, whether the rows show them or not.", show_default=False, min=2),
]


@question_command("assay embed customers.csv --method tsne -o map.csv --plot map.html")
def embed(asking: Asking, method: How = "tsne", plot: Figure = None) -> None:
    """Draw a map of the rows and write their places.

    Says whether a map of these rows, drawn in this way, shows more than chance, and how much of each row's surroundings
    this one keeps.
    """
    import numpy as np

    from assay.data.as_frames import table_of
    from assay.evidence.fidelity import fidelity
    from assay.models.row_maps import map_model
    from assay.views.axes.numbers import fraction, percent

    with asking.running(plot):
        source = asking.source()
        found = asking.study(source, "map", map_method=method)
        asking.tell("Reading the rows", None, None)
        numbers = _numbers(asking, source)
        rows = numbers.rows
        asking.tell(f"Making the map of {len(rows):,} rows", None, None)
        model = map_model(method, asking.said["seed"])
        places = np.asarray(model.fit_transform(rows))[:, :2]
        places = places if places.shape[1] == 2 else np.hstack([places, np.zeros_like(places)])
        kept = fidelity(rows, places) if len(rows) > 30 else None
        table = table_of({"row": numbers.numbers + 1, "x": places[:, 0], "y": places[:, 1]})
        table = table if found.names is None else found.names.beside(table)
        asking.write(table, found)
        draw(model if method != "kernel-pca" else found.answers.get("map", model), plot, asking.tell)
    with asking.telling() as console:
        lines = verdict_lines(found)
        if "map" not in found.answers:
            lines.append("Whether it shows more than chance cannot be told: " + _why(found))
        if kept is not None:
            by_chance = percent(kept.agreement_chance)
            lines.append(
                f"This map ({method}) keeps {percent(kept.agreement)} of the {kept.n_neighbors} nearest rows of each "
                f"row; one that knows nothing keeps {by_chance}. Its trustworthiness is "
                f"{fraction(kept.trustworthiness)}, its continuity {fraction(kept.continuity)} (chance "
                f"{fraction(kept.rank_chance)}, 1 at best), its stress {fraction(kept.stress)} (0 at best)."
            )
        if numbers.sampled:
            lines.append(f"The rows are too many to hold: the map is of {len(rows):,} of them, drawn fairly.")
        asking.say(console, lines, table, plot)


@question_command("assay cluster customers.csv -o groups.csv")
def cluster(asking: Asking, k: Groups = None, plot: Figure = None) -> None:
    """Find groups of rows and write the group of each.

    Says whether the rows fall into groups at all. With --k there are as many as asked for, and what the rows
    themselves show is said beside.
    """
    import pyarrow as pa

    from assay.data.as_frames import table_of

    with asking.running(plot):
        source = asking.source()
        found = asking.study(source, "groups")
        answer = answer_of(found, "groups") if k is None else found.answers.get("groups")
        forced = ""
        if k is None:
            table = found.tables().get("groups_labels")
            if table is None:
                all_one = table_of({"row": list(range(1, found.data.rows_used + 1))})
                table = all_one if found.names is None else found.names.beside(all_one)
                table = table.append_column("group", pa.array([1] * table.num_rows))
        else:
            asking.tell(f"Making {k} groups", None, None)
            numbers = _numbers(asking, source)
            if k > len(numbers.rows):
                from assay.errors import ParameterError

                raise ParameterError(f"{k} groups cannot be made of {len(numbers.rows)} rows; ask for fewer")
            answer = _model("KMeans", {"n_clusters": k, "random_state": asking.said["seed"]}).fit(numbers.rows)
            table = table_of({"row": numbers.numbers + 1, "group": answer.labels_ + 1})
            table = table if found.names is None else found.names.beside(table)
            forced = f"The {k} groups were asked for (--k), by k-means: what the rows show by themselves is said above."
        asking.write(table, found)
        draw(answer, plot, asking.tell)
    with asking.telling() as console:
        lines = verdict_lines(found)
        if forced:
            lines.append(forced)
        elif not found.answers["groups"].way:
            lines.append("All rows are in one group. To divide them all the same, say how many groups: --k 3.")
        asking.say(console, lines, table, plot)


@question_command("assay anomalies customers.csv -o anomalies.csv")
def anomalies(asking: Asking, plot: Figure = None) -> None:
    """Find the rows that do not belong and write them.

    Each with its distance, the columns behind it, and q: the chance that any row of a table in which nothing is odd
    lies beyond a gap as wide as the one that this row lies beyond. Rows beyond the same gap share it.
    """
    with asking.running(plot):
        found = asking.study(asking.source(), "anomalies")
        answer = answer_of(found, "anomalies")
        tables = found.tables()
        table = _with_reasons(tables["anomalies_rows"], tables.get("anomalies_reasons"))
        asking.write(table, found)
        draw(answer, plot, asking.tell)
    with asking.telling() as console:
        lines = verdict_lines(found)
        if table.num_rows:
            lines.append(f"q: {answer.numbers()['q_means']}")
        asking.say(console, lines, table, plot)


@question_command("assay correlate customers.csv -o pairs.csv")
def correlate(asking: Asking, plot: Figure = None) -> None:
    """Find the columns that go together and write every pair.

    Each with its coefficients, its p, its q corrected for all pairs, and its size on unseen rows.
    """
    with asking.running(plot):
        found = asking.study(asking.source(), "correlations")
        answer = answer_of(found, "correlations")
        tables = found.tables()
        table = next(table for name, table in tables.items() if name.startswith("correlations_"))
        asking.write(table, found)
        draw(answer, plot, asking.tell)
    with asking.telling() as console:
        shown = [
            name for name in ("first", "second", "stands", "rank", "unseen", "p", "q") if name in table.column_names
        ]
        asking.say(console, verdict_lines(found), table.select(shown), plot)


class _Numbers:
    """Rows of a table as the study takes them, in standard deviations; numbers of one column weigh as one."""

    def __init__(self, table: Any) -> None:
        import numpy as np

        X = table.at_hand
        spread = X.std(axis=0)
        _, own, counts = np.unique(table.groups, return_inverse=True, return_counts=True)
        scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0) / np.sqrt(counts[own])
        self.rows = (X - X.mean(axis=0)) * scale
        self.sampled = table.rows is None
        self.numbers = table.numbers if self.sampled else np.arange(len(X))


def _numbers(asking: Asking, source: Any) -> _Numbers:
    from assay.study.chosen import left_out
    from assay.study.gather import gathered
    from assay.study.row_dependence.rows import Told
    from assay.study.table import prepare

    said = asking.said
    told = Told(said["time"], said["by"], tuple(said["place"].split(",")) if said["place"] else ())
    drop = left_out(source.arrow_schema.names, said["columns"] or (), said["drop"] or (), [])
    table, _ = prepare(
        source, drop=drop, log=logs_of(said["log"]), missing=said["missing"], told=told,
        seed=said["seed"],
    )  # fmt: skip
    return _Numbers(table if table.rows is not None else gathered(table, frozenset(), said["seed"], asking.tell).every)


def _model(name: str, options: dict[str, Any]) -> Any:
    from assay.models.registry import model_class

    return model_class(name)(**options)


def _why(found: Any) -> str:
    return next((entry.why for entry in found.ledger.not_asked if "map" in entry.question), "too little is there")


def _with_reasons(rows: Any, reasons: Any) -> Any:
    """The columns behind each row, with where it lies in them, beside it."""
    import pyarrow as pa

    behind: dict[int, list[str]] = {}
    if reasons is not None:
        listed = zip(
            *(reasons.column(name).to_pylist() for name in ("row", "column", "share_of_distance", "deviation")),
            strict=True,
        )
        for row, column, share, deviation in listed:
            if share is not None and share >= 0.1 and len(behind.setdefault(row, [])) < 3:
                behind[row].append(f"{column} ({deviation:+.1f} sd)")
    told = ["; ".join(behind.get(row, ())) for row in rows.column("row").to_pylist()]
    return rows.append_column("columns", pa.array(told, pa.string()))
