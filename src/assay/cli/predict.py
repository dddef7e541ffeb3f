"""The command that learns to predict a column, saves what it learned, and predicts rows of other tables by it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import early
from assay.cli.asking import Asking, answer_of, question_command, verdict_lines
from assay.cli.said import logs_of

Target = Annotated[str | None, typer.Option(help="The column to learn to predict.", show_default=False)]
Save = Annotated[
    Path | None,
    typer.Option(help="Where the model goes that was learned.", show_default=False, callback=early.writable),
]
Model = Annotated[
    Path | None,
    typer.Option(help="A model that --save wrote: predict these rows by it.", show_default=False, callback=early.there),
]
# what is said of learning, and means nothing where a model has learned before
_OF_LEARNING = (
    "seed", "columns", "drop", "kind", "unit", "log", "missing", "time", "by", "place", "quick", "thorough",
)  # fmt: skip


@question_command("assay predict customers.csv --target spend --save spend.assay")
def predict(asking: Asking, target: Target = None, save: Save = None, model: Model = None) -> None:
    """Learn to predict a column, or predict new rows.

    With --target it learns from the rows, says how well that does on unseen ones, and saves the model with --save: the
    one of several that does best on unseen rows. With --model it predicts the rows of another table: assay predict
    new.csv --model spend.assay -o predicted.csv
    """
    from assay.errors import ParameterError

    with asking.running(save, also=() if model is None else (model,)):
        if model is not None and (target is not None or save is not None):
            raise ParameterError("--model predicts by what was learned before; leave out --target and --save")
        if model is None and target is None:
            raise ParameterError("say what to predict: --target COLUMN to learn, or --model FILE to predict new rows")
        if model is not None and (strange := [name for name in _OF_LEARNING if name in asking.given]):
            raise ParameterError(
                f"--{strange[0]} is for learning, and --model predicts by what was learned before; leave it out"
            )
        lines, table, said = _applied(asking, model) if model is not None else _learned(asking, str(target), save)
        asking.write(table, said)
    with asking.telling() as console:
        asking.say(console, lines, table)


def _learned(asking: Asking, target: str, save: Path | None) -> tuple[list[str], Any, Any]:
    """What was learned of a target: lines to say, each row as others predict it, and the study."""
    import numpy as np

    from assay.cli.learning import learned
    from assay.data.as_frames import table_of

    source = asking.source()
    found = asking.study(source, "prediction", target=target)
    answer = answer_of(found, "prediction")
    asking.tell(f"Learning {target} from all rows", None, None)
    encoding, X, values = _rows(asking, source, target, found)
    y, classes = _target(values, bool(answer.classes))
    blank = _blank(target, classes, encoding, X, y)
    chosen = learned(
        blank.standardised(X), y if classes else (y - blank.middle) / blank.unit, _design(found, len(X)),
        classes=bool(classes), seed=asking.said["seed"], quick=asking.effort == "quick",
        tell=lambda share: asking.tell(f"Learning {target}", None, share),
    )  # fmt: skip
    ready = _judged(blank, chosen, y, found)
    lines = [*verdict_lines(found), str(ready.judged["sentence"])]
    truth, unseen = y[chosen.rows], chosen.unseen
    if classes:
        truth, unseen = ([classes[int(c)] for c in some] for some in (truth, unseen))
    else:
        unseen = blank.middle + blank.unit * unseen
    table = table_of({"row": np.asarray(chosen.rows) + 1, "true": truth, "predicted": unseen})
    if save is not None:
        ready.save(save)
        lines.append(f"The model is {save}: assay predict NEW --model {save} -o predicted.csv")
    return lines, table if found.names is None else found.names.beside(table), found


def _blank(target: str, classes: tuple[str, ...], encoding: Any, X: Any, y: Any) -> Any:
    """The predictor before anything was learned, which knows means and units."""
    import numpy as np

    from assay.models.predictor import Predictor

    gaps = np.isnan(X)
    counts = np.maximum((~gaps).sum(axis=0), 1)
    mean = np.where(gaps, 0.0, X).sum(axis=0) / counts
    spread = np.sqrt((np.where(gaps, 0.0, X - mean) ** 2).sum(axis=0) / counts)
    middle, unit = (0.0, 1.0) if classes else (float(y.mean()), float(y.std()) or 1.0)
    return Predictor(target, classes, encoding, mean, spread, None, middle, unit, float("nan"))


def _judged(blank: Any, chosen: Any, y: Any, found: Any) -> Any:
    """The predictor with its model, and what is known of it."""
    from dataclasses import replace

    import numpy as np

    from assay.cli.learning import half_width
    from assay.views.axes.numbers import number

    def share(value: float) -> str:
        return f"{100 * value:.1f}%"

    between = ""
    if chosen.interval is not None:
        between = f" (95% interval {share(chosen.interval[0])} to {share(chosen.interval[1])})"
    line, *kernels = chosen.each.items()
    other = line if chosen.chosen.words != line[0] else max(kernels, key=lambda each: each[1])
    beside = f" On the same rows {other[0]} reaches {share(other[1])}."
    half = float("nan")
    name = f"{chosen.chosen.kind}, {chosen.chosen.words}"
    if blank.classes:
        base = float(np.bincount(y.astype(int)).max() / len(y))
        said = f"The model ({name}) calls {share(chosen.score)} of unseen rows right{between}; the largest class alone "
        said += f"is {share(base)} of the rows.{beside}"
        if not hasattr(chosen.model, "predict_proba"):
            said += " It gives classes without probabilities: rows are too few to learn these."
    else:
        half = half_width(y[chosen.rows] - blank.middle - blank.unit * chosen.unseen)
        said = f"The model ({name}) explains {share(chosen.score)} of {blank.target} in unseen rows{between}"
        within = "too few rows tell how far off one can be" if not np.isfinite(half) else ""
        said += f"; {within or f'90% of unseen rows lie within {number(half)} of what it says'}.{beside}"
    told = {
        "sentence": said,
        "model": chosen.chosen.kind,
        "options": {key: value for key, value in chosen.chosen.options.items() if key != "random_state"},
        "score": float(chosen.score),
        "interval": None if chosen.interval is None else list(chosen.interval),
        "candidates": dict(chosen.each),
        "rows": len(y),
        "verdict": found.findings[0].evidence.verdict if found.findings else "",
    }
    return replace(blank, model=chosen.model, half_width=half, judged=told)


def _rows(asking: Asking, source: Any, target: str, found: Any) -> tuple[Any, Any, Any]:
    """The encoding of the other columns, their numbers, and the target, of rows whose target is known."""
    import numpy as np
    import pyarrow as pa

    from assay.data.columns.encoded import EncodedSource
    from assay.data.columns.encoding import Encoding
    from assay.data.columns.target import KnownTarget, OtherColumns

    known = KnownTarget(source, target)
    others = OtherColumns(known, target)
    unused = [column.name for column in found.data.columns if not column.used and column.name != target]
    encoding = Encoding.fit(others, log=logs_of(asking.said["log"]), drop=unused)
    X = np.concatenate([block for _, block in EncodedSource(others, encoding).numbered_floats()])
    values = pa.chunked_array([block.column(target) for block in known.blocks()], known.arrow_schema.field(target).type)
    return encoding, X, values


def _target(values: Any, classes: bool) -> tuple[Any, tuple[str, ...]]:
    """Numbers of the classes and their names, or the values."""
    import numpy as np
    import pyarrow as pa

    if not classes:
        return values.cast(pa.float64(), safe=False).to_numpy(), ()
    plain = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    texts = np.array([_level(value) for value in plain.to_pylist()], dtype=object)
    names, numbers = np.unique(texts.astype(str), return_inverse=True)
    return numbers, tuple(names.tolist())


def _level(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _design(found: Any, n: int) -> Any:
    """How rows depend on each other, where the study knows it of these rows."""
    from assay.evidence.design import Independent

    design = None if found.rows is None else found.rows.design
    return design if design is not None and design.n == n else Independent(n)


def _applied(asking: Asking, model: Path) -> tuple[list[str], Any, Any]:
    """Rows of a table as a saved model predicts them."""
    from assay.errors import ParameterError
    from assay.models.files import load
    from assay.models.predictor import Predictor

    known = load(model)
    if not isinstance(known, Predictor):
        raise ParameterError(
            f"{model} holds a {type(known).__name__}, which `assay predict` did not save; make one with --target and "
            "--save"
        )
    asking.tell("Reading the rows", None, None)
    source = _as_learned(asking, known)
    found = known.predict(source, progress=lambda done, share: asking.tell("Predicting", done, share))
    rows = found.table.num_rows
    lines = [f"{source.name}: {rows:,} rows predicted by {model}", str(known.judged.get("sentence", ""))]
    if known.judged.get("verdict") != "supported":
        lines.append(f"When it was learned, the prediction was {known.judged.get('verdict') or 'not judged'}.")
    lines += found.problems
    if found.lacking:
        some = ", ".join(f"{name} in {count:,}" for name, count in [*found.lacking.items()][:10])
        more = f" and {len(found.lacking) - 10:,} more columns" if len(found.lacking) > 10 else ""
        lines.append(f"What is missing in a row is taken to be the mean of its column: {some}{more} of {rows:,} rows.")
    told = {"model": str(model), "target": known.target, "rows": rows, "judged": dict(known.judged),
            "missing": dict(found.lacking), "problems": list(found.problems)}  # fmt: skip
    return lines, found.table, told


def _as_learned(asking: Asking, known: Any) -> Any:
    """The new rows, their columns taken for what they were when the model was learned."""
    from assay.cli.said import pairs, value
    from assay.data.read import read
    from assay.errors import ParameterError

    if len(asking.data) > 1:
        raise ParameterError("--model predicts one table at a time; give one")
    how: dict[str, Any] = {name: value(text) for name, text in pairs(asking.said["option"], "--option").items()}
    how |= {"sensitive": asking.said["sensitive"] or [], "skip_unreadable": asking.said["skip_unreadable"]}
    there = read(asking.data[0], **how)
    if asking.data[0] == "-":
        return there
    kinds = {field.name: field.kind for field in known.encoding.fields if field.name in there.arrow_schema.names}
    used = {name: kind for name, kind in kinds.items() if name in known.columns}
    return read(asking.data[0], kinds=used, **how)
