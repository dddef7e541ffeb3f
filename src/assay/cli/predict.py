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
_FOLDS = 10


@question_command("assay predict customers.csv --target spend --save spend.assay")
def predict(asking: Asking, target: Target = None, save: Save = None, model: Model = None) -> None:
    """Learn to predict a column, or predict new rows.

    With --target it learns from the rows, says how well that does on unseen ones, and saves the model with --save.
    With --model it predicts the rows of another table: assay predict new.csv --model spend.assay -o predicted.csv
    """
    from assay.errors import ParameterError

    with asking.running(save, also=() if model is None else (model,)):
        if model is not None and (target is not None or save is not None):
            raise ParameterError("--model predicts by what was learned before; leave out --target and --save")
        if model is None and target is None:
            raise ParameterError("say what to predict: --target COLUMN to learn, or --model FILE to predict new rows")
        lines, table, said = _applied(asking, model) if model is not None else _learned(asking, str(target), save)
        asking.write(table, said)
    with asking.telling() as console:
        asking.say(console, lines, table)


def _learned(asking: Asking, target: str, save: Path | None) -> tuple[list[str], Any, Any]:
    """What was learned of a target: lines to say, each row as others predict it, and the study."""
    from assay.models.predictor import Predictor

    source = asking.source()
    found = asking.study(source, "prediction", target=target)
    answer = answer_of(found, "prediction")
    asking.tell(f"Learning {target} from all rows", None, None)
    encoding, X, values = _rows(asking, source, target, found)
    y, classes = _target(values, bool(answer.classes))
    mean, spread = _means(X)
    rule = Predictor(target, classes, encoding, mean, spread, X[:0].T, X[0, :0], float("nan"))
    learned, judged, table = _fitted(rule, X, y, found, asking.said["seed"])
    lines = verdict_lines(found)
    lines.append(judged["sentence"])
    if answer.machine != "line":
        lines.append(f"The {answer.machine} of the study can follow more than a line, which is what is saved.")
    if save is not None:
        learned.save(save)
        lines.append(f"The model is {save}: assay predict NEW --model {save} -o predicted.csv")
    return lines, table if found.names is None else found.names.beside(table), found


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


def _means(X: Any) -> tuple[Any, Any]:
    import numpy as np

    gaps = np.isnan(X)
    counts = np.maximum((~gaps).sum(axis=0), 1)
    mean = np.where(gaps, 0.0, X).sum(axis=0) / counts
    spread = np.sqrt((np.where(gaps, 0.0, X - mean) ** 2).sum(axis=0) / counts)
    return mean, spread


def _fitted(rule: Any, X: Any, y: Any, found: Any, seed: int) -> tuple[Any, dict[str, Any], Any]:
    """The rule learned from all rows, how well one learned in this way does on unseen rows, and what it says there.

    The penalty is chosen anew within the rows that teach each fold, so that no row judges what it helped to choose.
    """
    from dataclasses import replace

    import numpy as np

    from assay.data.as_frames import table_of
    from assay.evidence.validation import validate
    from assay.models.registry import model_class
    from assay.views.axes.numbers import number

    def share(value: float) -> str:
        return f"{100 * value:.1f}%"

    Z = rule.standardised(X)
    kind, how = ("Logistic", "penalty") if rule.classes else ("Ridge", "alpha")
    model = model_class(kind)(**{how: "held-out", "random_state": seed})
    fold = _folds(found, len(Z), seed)
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]
    judged = validate(model, Z, y, cv=pairs)
    model.fit(Z, y)
    weights = np.atleast_2d(model.coef_).T
    middle = np.atleast_1d(model.intercept_).astype(np.float64)
    unseen = np.asarray(judged.predictions).ravel()
    low, high = judged.interval or (float("nan"), float("nan"))
    between = f" (95% interval {share(low)} to {share(high)})" if judged.interval else ""
    half = float("nan")
    if rule.classes:
        base = float(np.bincount(y.astype(int)).max() / len(y))
        said = f"The saved line calls {share(judged.mean)} of unseen rows right{between}; the largest class alone is "
        said += f"{share(base)} of the rows."
        called: list[Any] = [[rule.classes[int(c)] for c in some] for some in (y, unseen)]
    else:
        misses = np.sort(np.abs(y - unseen))
        half = float(misses[min(int(np.ceil(0.9 * (len(y) + 1))) - 1, len(y) - 1)])
        said = f"The saved line explains {share(judged.mean)} of {rule.target} in unseen rows{between}; 90% of unseen "
        said += f"rows lie within {number(half)} of what it says."
        called = [y, unseen]
    columns = {"row": np.arange(1, len(y) + 1), "true": called[0], "predicted": called[1]}
    told = {
        "sentence": said,
        "score": float(judged.mean),
        "interval": None if judged.interval is None else [float(low), float(high)],
        "rows": len(y),
    }
    verdict = found.findings[0].evidence.verdict if found.findings else ""
    learned = replace(
        rule, weights=weights, middle=middle, half_width=half, judged=told | {"verdict": verdict, "model": kind}
    )
    return learned, told, table_of(columns)


def _folds(found: Any, n: int, seed: int) -> Any:
    """(n,) fold of each row; rows that depend on each other stay together where the study knows how they do."""
    import numpy as np

    design = None if found.rows is None else found.rows.design
    if design is not None and design.n == n:
        return design.folds(min(_FOLDS, n), seed)
    return np.random.default_rng(seed).permutation(np.arange(n) % min(_FOLDS, n))


def _applied(asking: Asking, model: Path) -> tuple[list[str], Any, Any]:
    """Rows of a table as a saved model predicts them."""
    import numpy as np
    import pyarrow as pa

    from assay.data.as_frames import table_of
    from assay.data.problems import Problems
    from assay.data.read import read
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
    source = _as_learned(asking, known, read)
    known.check(source)
    problems, scores, identifiers = Problems(), [], []
    names = [field.name for field in source.schema if field.kind == "identifier"]
    for first, block in source.numbered_blocks():
        scores.append(known.scores(block, problems, first))
        identifiers.append(pa.Table.from_batches([block.select(names)]))
        asking.tell("Predicting", first + block.num_rows, source.fraction_read)
    if not scores:
        from assay.errors import DataError

        raise DataError(f"{source.name} has a header but no rows: there is nothing to predict")
    found = np.concatenate(scores)
    columns: dict[str, Any] = {"row": np.arange(1, len(found) + 1)}
    if names:
        columns |= dict(zip(names, pa.concat_tables(identifiers).columns, strict=True))
    if known.classes:
        columns[f"predicted {known.target}"] = [known.classes[j] for j in found.argmax(axis=1)]
        columns |= {f"probability of {name}": found[:, j] for j, name in enumerate(known.classes)}
    else:
        columns[f"predicted {known.target}"] = found[:, 0]
        columns |= {"low": found[:, 0] - known.half_width, "high": found[:, 0] + known.half_width}
    lines = [f"{source.name}: {len(found):,} rows predicted by {model}", str(known.judged.get("sentence", ""))]
    if known.judged.get("verdict") != "supported":
        lines.append(f"When it was learned, the prediction was {known.judged.get('verdict') or 'not judged'}.")
    lines += [problem.sentence() for problem in problems]
    told = {"model": str(model), "target": known.target, "rows": len(found), "judged": dict(known.judged),
            "problems": [problem.sentence() for problem in problems]}  # fmt: skip
    return lines, table_of(columns), told


def _as_learned(asking: Asking, known: Any, read: Any) -> Any:
    """The new rows, their columns taken for what they were when the model was learned."""
    from assay.cli.said import pairs, value
    from assay.errors import ParameterError

    if len(asking.data) > 1:
        raise ParameterError("--model predicts one table at a time; give one")
    how = {name: value(text) for name, text in pairs(asking.said["option"], "--option").items()}
    hidden = asking.said["sensitive"] or []
    there = read(asking.data[0], sensitive=hidden, **how)
    if asking.data[0] == "-":
        return there
    kinds = {field.name: field.kind for field in known.encoding.fields if field.name in there.arrow_schema.names}
    used = {name: kind for name, kind in kinds.items() if name in known.columns}
    return read(asking.data[0], sensitive=hidden, kinds=used, **how)
