"""The command that fills in missing values, and says how far that can be trusted."""

from typing import Any

from assay.cli.asking import Asking, question_command
from assay.cli.options import Figure
from assay.cli.output import draw

_HIDDEN = 0.1  # of the values of a column, to be filled in and compared
_MOST_HIDDEN = 2000
_HARDLY = 0.95  # of the error of the mean: what gains less is called so
_LEVELS = ("category", "boolean", "text")


@question_command("assay impute patients.csv -o filled.csv", studies=False)
def impute(asking: Asking, plot: Figure = None) -> None:
    """Fill in missing values and write the whole table.

    Each gap gets what is most likely given the rest of its row. Some known values are hidden first and filled in the
    same way: how far off that is, is said beside what the mean of the column would miss by.
    """
    with asking.running(plot):
        source = asking.source()
        asking.tell("Reading", None, None)
        filled, judged, lines, model = _filled(asking, source)
        told = {"data": source.name, "rows": filled.num_rows, "columns": judged}
        asking.write(filled, told)
        figure = None if model is None else plot  # of how nothing was filled there is none
        draw(model, figure, asking.tell)
    with asking.telling() as console:
        asking.say(console, lines, figure=figure)


def _filled(asking: Asking, source: Any) -> tuple[Any, list[dict[str, Any]], list[str], Any]:
    """The table without gaps, how well each column is filled, and what to say."""
    import numpy as np

    from assay.data.columns.encoded import EncodedSource
    from assay.data.columns.encoding import Encoding
    from assay.errors import DataError
    from assay.models.registry import model_class
    from assay.study.chosen import left_out

    table = source.to_arrow()
    if table.num_rows < 3:
        raise DataError(f"{source.name} has {table.num_rows} rows; at least 3 are needed")
    drop = left_out(table.column_names, asking.said["columns"] or (), asking.said["drop"] or (), [])
    encoding = Encoding.fit(source, log="never", drop=drop)
    X = np.concatenate([block for _, block in EncodedSource(source, encoding).numbered_floats()])
    gaps = {column.name: int(table.column(column.name).null_count) for column in encoding.columns}
    used = [column.name for column in encoding.columns if column.outputs]
    lacking = [name for name in used if np.isnan(X[:, encoding.spans[_place(encoding, name)]]).any()]
    aside = [name for name, count in gaps.items() if count and name not in used]
    lines = [f"{source.name}: {table.num_rows:,} rows, {len(table.column_names):,} columns"]
    if aside:
        kinds = {field.name: field.kind for field in encoding.fields}
        lines.append("Left as they are: " + ", ".join(f"{name} ({kinds[name]})" for name in aside))
    if not lacking:
        return table, [], [*lines, "No value is missing in a column that can be filled: nothing was changed."], None
    flat = [int(j) for j in range(X.shape[1]) if not np.nanstd(X[:, j]) > 0]
    moving = np.setdiff1d(np.arange(X.shape[1]), flat)
    make = model_class("FillMissing")
    asking.tell("Hiding known values and filling them in", None, None)
    judged = _judged(encoding, X, moving, lacking, make, asking.said["seed"])
    asking.tell(f"Filling in {sum(gaps[name] for name in lacking):,} values", None, None)
    model = make().fit(X[:, moving])
    whole = X.copy()
    whole[:, moving] = model.transform(X[:, moving])
    model.feature_names_in_ = np.array([encoding.names[j] for j in moving], dtype=object)  # for its figure
    for name in lacking:
        at = table.column_names.index(name)
        table = table.set_column(at, table.schema.field(at), _with(table.column(name), encoding, whole, name))
    lines += [one["sentence"] for one in judged]
    return table, judged, lines, model


def _place(encoding: Any, name: str) -> int:
    return next(j for j, field in enumerate(encoding.fields) if field.name == name)


def _judged(encoding: Any, X: Any, moving: Any, lacking: list[str], make: Any, seed: int) -> list[dict[str, Any]]:
    """How far off hidden values of each column are filled in, beside its mean or its most frequent level."""
    import numpy as np

    from assay.views.axes.numbers import fraction, number

    rng = np.random.default_rng(seed)
    holed, hidden = X.copy(), {}
    for name in lacking:
        span = encoding.spans[_place(encoding, name)]
        known = np.flatnonzero(~np.isnan(X[:, span]).any(axis=1))
        some = np.sort(rng.choice(known, min(max(int(_HIDDEN * len(known)), 1), _MOST_HIDDEN), replace=False))
        if len(known) > 3:
            hidden[name] = some
            holed[some, span] = np.nan
    filled = X.copy()
    filled[:, moving] = make().fit(holed[:, moving]).transform(holed[:, moving])
    told = []
    for name, rows in hidden.items():
        field, span = encoding.fields[_place(encoding, name)], encoding.spans[_place(encoding, name)]
        gaps = int(np.isnan(X[:, span]).any(axis=1).sum())
        rest = np.nanmean(holed[:, span], axis=0)
        if field.kind in _LEVELS:
            true, said = _levels(X[rows][:, span]), _levels(filled[rows][:, span])
            ours, plain = float((true == said).mean()), float((true == _levels(rest[None])).mean())
            words = f"of {len(rows):,} hidden ones {fraction(ours)} are right, by the commonest level {fraction(plain)}"
        else:
            true = X[rows][:, span][:, 0]
            ours = float(np.sqrt(((filled[rows][:, span][:, 0] - true) ** 2).mean()))
            plain = float(np.sqrt(((rest[0] - true) ** 2).mean()))
            words = f"{len(rows):,} hidden ones are missed by {number(ours)}, by the column mean by {number(plain)}"
        levels = field.kind in _LEVELS
        better = ours > plain if levels else ours < _HARDLY * plain
        doubt = "" if better else "; that is hardly better"
        told.append(
            {
                "column": name, "filled": gaps, "hidden": len(rows), "right" if levels else "error": ours,
                "by_most_frequent" if levels else "by_mean": plain, "better": better,
                "sentence": f"{name}: {gaps:,} values filled in; {words}{doubt}.",
            }
        )  # fmt: skip
    return told


def _levels(values: Any) -> Any:
    """The level that indicators tell; one number tells two."""
    return values[:, 0] > 0.5 if values.shape[1] == 1 else values.argmax(axis=1)


def _with(column: Any, encoding: Any, whole: Any, name: str) -> Any:
    """A column whose gaps have the values that the numbers tell, of the type it had."""
    import pyarrow as pa
    import pyarrow.compute as pc

    told = encoding.decode(whole).column(name).combine_chunks()
    flat = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(flat.type):
        flat = flat.cast(flat.type.value_type)
    if pa.types.is_integer(flat.type) and pa.types.is_floating(told.type):
        told = pc.round(told)
    filled = pc.if_else(flat.is_null(), told.cast(flat.type, safe=False), flat)
    return filled.dictionary_encode() if pa.types.is_dictionary(column.type) else filled
