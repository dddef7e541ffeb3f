"""A column of a table as the target, the others as what it is predicted from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array
from assay.asking.question import Context
from assay.asking.table import Table
from assay.errors import DataError
from assay.questions.prediction.answer import Prediction
from assay.questions.prediction.machines import MOST_NUMBERS
from assay.questions.prediction.test import prediction

_NUMBERS = 1 << 25  # of machines for all rows that are learned from
_FEWEST = 10_000  # rows, however many columns


def predicted(table: Table, target: str, context: Context) -> Prediction | None:
    """Ask whether a column can be predicted; None where there are too few rows.

    Args:
        table: the data; a sample of its rows is learned from where they are very many.
        target: name of the column.
        context: how to ask.
    """
    labels = [label for label, (name, _) in table.origins.items() if name == target]
    kind = table.origins[labels[0]][1] if labels else None
    if kind is None or kind in ("text", "time", "identifier"):
        told = next((c for c in table.card.columns if c.name == target), None)
        why = f"it is a column of {told.kind}" + (f" ({told.note})" if told.note else "") if told else "it is not there"
        raise DataError(f"{target!r} cannot be predicted: {why}. A target is a number or a category")
    tell = context.told("Prediction")
    tell(f"predicting {target}")
    own = table.of_columns(frozenset([target]))
    some = _learned_from(len(table.at_hand), int((~own).sum()), context.seed)
    rows = table.with_means(slice(None) if some is None else some)
    design = table.design if some is None else table.design.among(some)
    Y = rows[:, own]
    columns = tuple(table.columns[j] for j in np.flatnonzero(~own))
    of = tuple(table.origins[int(label)][0] for label in table.groups[~own])
    times = context.by_effort(0.1, 1.0, 5.0)
    how: dict[str, Any] = {"level": context.level, "seed": context.seed, "times": times, "progress": tell}
    if kind not in ("category", "boolean"):
        shown = f"log(1 + {target})" if target in table.look.log else target
        found = prediction(rows[:, ~own], Y[:, 0], columns, shown, of=of, design=design, **how)
    else:
        y, classes = _classes(Y, table.levels[target])
        found = prediction(rows[:, ~own], y, columns, target, classes=classes, of=of, design=design, **how)
    if found is None:
        return None
    numbers = table.numbers if table.rows is None else np.arange(len(table.at_hand))
    among = numbers if some is None else numbers[some]
    return replace(found, rows=among[found.rows], total=0 if some is None else len(table.at_hand))


def _learned_from(n: int, p: int, seed: int) -> NDArray[np.intp] | None:
    """Numbers of the rows that are learned from and judged, drawn fairly; None for all.

    Machines hold some hundred numbers a row: as many rows are taken as bound these, and more hardly tell more.
    """
    most = max(_NUMBERS // (p + MOST_NUMBERS), _FEWEST)
    return None if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _classes(Y: Array, levels: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """The number of each row's class, from its indicators or from one that tells two, and the names of the classes."""
    if Y.shape[1] == 1:
        return (Y[:, 0] > Y[:, 0].mean()).astype(np.float64), levels
    present = np.flatnonzero(Y.any(axis=0))
    return Y[:, present].argmax(axis=1).astype(np.float64), tuple(levels[j] for j in present)
