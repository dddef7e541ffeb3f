"""The kind of a column once all rows were seen: no number is missing because the first rows looked otherwise.

The first block says what each column is. Where that was told from numbers (0 and 1 only, two codes, instants, one
value) and later numbers contradict it, the column is one of numbers, as if all rows had been in the first block. What
the user declared stays, and what contradicts it is told.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from assay.data.columns.cells import Form
from assay.data.columns.kind_rules import TWO_CODES, WRITTEN, Numbers, Texts, number_kind, numbers_in_text
from assay.data.columns.tally import Tally
from assay.data.field import Field, Kind


def is_reread(known: Field, form: Form, type_: pa.DataType) -> bool:
    """Whether a column is also measured as numbers, in case later rows contradict what the first ones said.

    Args:
        known: the column as the first rows show it.
        form, type_: how it is stored.
    """
    if not known.inferred or pa.types.is_dictionary(type_):
        return False
    if form == "number":
        return known.kind in ("time", "category")
    if form != "text":
        return False
    return known.kind in ("constant", "empty") or (
        known.kind in ("boolean", "time", "category") and WRITTEN in known.why
    )


def yes_or_number(known: Field, low: float, high: float, whole: bool) -> Field:
    """A column of 0 and 1 in the first rows, by all its numbers.

    Args:
        known: the column as the first rows show it.
        low, high, whole: the least and the largest number, and whether all are whole.
    """
    return known if whole and low >= 0.0 and high <= 1.0 else _numbers(known, low, whole)


def settled(known: Field, misread: int, seen: Numbers, not_numbers: int, levels: Tally | None) -> Field:
    """A column by all its rows, or as the first ones show it if that holds.

    Args:
        known: the column as the first rows show it.
        misread: values that contradict this.
        seen: its numbers.
        not_numbers: values that are none.
        levels: how often each cell occurs, where that was counted.
    """
    if known.kind in ("boolean", "time"):
        return known if misread <= not_numbers else _numbers(known, seen.low, seen.whole)
    if levels is None or not seen.n:
        return known
    counted = replace(seen, distinct=len(levels.counts) + (not levels.exact))
    if known.kind == "category":
        codes = counted.whole and (counted.distinct <= 2 or not known.why.startswith(TWO_CODES))
        kind = known.kind if codes or not_numbers > misread else number_kind(known.name, counted)[0]
    else:
        texts = Texts(list(levels.counts), np.array(list(levels.counts.values()), dtype=np.int64)).said()
        ruled = numbers_in_text(known.name, texts) if texts.n and counted.distinct > 1 else None
        kind = known.kind if ruled is None else ruled[0]
    if kind in ("number", "count", "ordered"):
        return _later(known, kind)
    # instants were not measured as such
    return _numbers(known, seen.low, seen.whole) if kind == "time" else known


def _numbers(known: Field, low: float, whole: bool) -> Field:
    return _later(known, "count" if whole and low >= 0.0 else "number")


def _later(known: Field, kind: Kind) -> Field:
    return replace(known, kind=kind, levels=None, why=f"{known.why} at first, other numbers later")
