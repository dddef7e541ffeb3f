"""A column of a table as the target, the others as what it is predicted from."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.evidence.predictor import Prediction, prediction
from assay.study.table import Table, Tell

Array: TypeAlias = NDArray[np.float64]


def not_of(table: Table, target: str | None) -> NDArray[np.bool_]:
    """(D,) which numbers of a table do not belong to the target.

    Args:
        table: the data.
        target: name of a column, or None.
    """
    others = np.array([table.origins[int(label)][0] != target for label in table.groups])
    if not others.any():
        raise DataError(f"{target!r} is the only column in use: there is nothing to predict it from")
    return others


def predicted(table: Table, sample: Array, target: str, *, alpha: float, seed: int, tell: Tell) -> Prediction | None:
    """Ask whether a column can be predicted; None where there are too few rows.

    Args:
        table: the data.
        sample: (m, D) rows to learn from where all of them do not fit in memory.
        target: name of the column.
        alpha: level of the study.
        seed: of everything random.
        tell: told what is being done.
    """
    labels = [label for label, (name, _) in table.origins.items() if name == target]
    kind = table.origins[labels[0]][1] if labels else None
    if kind is None or kind in ("text", "time", "identifier"):
        told = next((c for c in table.card.columns if c.name == target), None)
        why = f"it is a column of {told.kind}" + (f" ({told.note})" if told.note else "") if told else "it is not there"
        raise DataError(f"{target!r} cannot be predicted: {why}. A target is a number or a category")
    rows = sample if table.rows is None else table.rows
    own = ~not_of(table, target)
    tell(f"Predicting {target}", None, None)
    Y = rows[:, own]
    columns = tuple(table.columns[j] for j in np.flatnonzero(~own))
    if kind not in ("category", "boolean"):
        shown = f"log(1 + {target})" if target in table.look.log else target
        return prediction(rows[:, ~own], Y[:, 0], columns, shown, alpha=alpha, seed=seed)
    y, classes = _classes(Y, table.levels[target])
    return prediction(rows[:, ~own], y, columns, target, classes=classes, alpha=alpha, seed=seed)


def _classes(Y: Array, levels: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """The number of each row's class, from its indicators or from one that tells two, and the names of the classes."""
    if Y.shape[1] == 1:
        return (Y[:, 0] > Y[:, 0].mean()).astype(np.float64), levels
    present = np.flatnonzero(Y.any(axis=0))
    return Y[:, present].argmax(axis=1).astype(np.float64), tuple(levels[j] for j in present)
