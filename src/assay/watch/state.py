"""A watch as values that a file can hold, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.data.alignment import Aligner
from assay.data.flatbuffer import FlatTable
from assay.errors import FileFormatError
from assay.watch.anomalies import Ranks
from assay.watch.drift import Aspects
from assay.watch.law import RowLaw
from assay.watch.learned import LearnedStream

if TYPE_CHECKING:
    from assay.watch.watch import Watch

_DICTIONARY, _BATCH = 2, 3  # kinds of Arrow messages that hold values
_COUNTED = ("rows", "gaps", "looks", "alerts", "drift", "position", "options", "_in_window", "_wanted")


def state_of(watch: Watch) -> dict[str, Any]:
    """Everything that the next row depends on."""
    schema = None if watch._aligner is None else watch._aligner.schema
    state: dict[str, Any] = {name: getattr(watch, name) for name in _COUNTED}
    state |= {
        "problems": [[what, column, count] for (what, column), count in watch.problems.items()],
        "drifting": sorted(watch._drifting),
        "early": None if schema is None else _as_bytes(pa.Table.from_batches(watch._early, schema=schema)),
        "learned": None,
    }
    if watch.learned is not None:
        aspects, filled = watch._aspects, watch._filled
        state["learned"] = {
            "encoding": watch.learned.encoding,
            "reference": _of_law(aspects.law),
            "scoring": None if watch._law is aspects.law else _of_law(watch._law),
            "aspects": {
                "limit": aspects.limit,
                "rows": aspects.rows,
                "run": aspects.run,
                "mean": aspects.mean,
                "spread": aspects.spread,
                "leading": aspects.leading,
                "weights": aspects.weights,
            },
            "ranks": {name: getattr(watch._ranks, name) for name in ("old", "new", "counters", "found")},
            "moments": watch._moments,
            "raw": watch._raw[:, :filled].copy(),
            "drawn": watch._drawn[:, :filled].copy(),
        }
    return state


def restored(watch: Watch, state: dict[str, Any]) -> None:
    """Fill an empty watch."""
    try:
        for name in _COUNTED:
            setattr(watch, name, state[name])
        watch.problems = {(what, column): count for what, column, count in state["problems"]}
        watch._drifting = set(state["drifting"])
        table = None if state["early"] is None else _as_table(state["early"])
        if table is not None and table.num_rows > watch._wanted:
            raise ValueError(f"it holds {table.num_rows:,} rows of {watch._wanted!r} that were wanted")
        watch._aligner = None if table is None else Aligner(table.schema)
        watch._early = [] if table is None else [batch for batch in table.to_batches() if batch.num_rows]
        watch.learned = None
        if state["learned"] is not None:
            _restore_learned(watch, state["learned"])
        _check(watch)
    except (KeyError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        raise FileFormatError(f"the file does not hold a whole Watch ({error})") from error


def _restore_learned(watch: Watch, known: dict[str, Any]) -> None:
    law = RowLaw(**known["reference"])
    aspects = Aspects(law, **known["aspects"])
    none = np.empty((law.d, 0))
    watch.learned = LearnedStream(known["encoding"], law, aspects, np.empty(0), none)
    watch.begin(known["encoding"].names, law, aspects)
    if known["scoring"] is not None:
        watch._law = RowLaw(**known["scoring"])
    for name, value in known["ranks"].items():
        if getattr(watch._ranks, name).shape != value.shape:
            raise ValueError(f"{name} has shape {value.shape}")
        setattr(watch._ranks, name, np.array(value))
    watch._moments = known["moments"]
    watch._filled = known["raw"].shape[1]
    watch._raw[:, : watch._filled] = known["raw"]
    watch._drawn[:, : watch._filled] = known["drawn"]


def _check(watch: Watch) -> None:
    from assay.watch.watch import check_options

    check_options(watch.options)
    if watch.learned is not None:
        ranks: Ranks = watch._ranks
        d = len(watch.learned.encoding.names)
        if watch._law.d != d or watch._moments.d != d or watch._law.covariance.shape != (d, d):
            raise ValueError("its parts are of different numbers of columns")
        kept = [int(ranks.counters[i]) for i in (1, 3)]
        if not all(0 <= k <= len(ranks.new) for k in kept) or not 0 <= ranks.counters[5] <= len(ranks.found):
            raise ValueError("its counters do not fit")


def _of_law(law: RowLaw) -> dict[str, Any]:
    return {"location": law.location, "covariance": law.covariance}


def _as_bytes(table: pa.Table) -> NDArray[np.uint8]:
    """A table as Arrow writes it, which holds data only."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def _as_table(content: NDArray[np.uint8]) -> pa.Table:
    """The table; packed values, of which a few bytes can hold any number, are never written and never unpacked."""
    buffer = pa.py_buffer(np.ascontiguousarray(content, dtype=np.uint8))
    if any(_is_packed(bytes(message.metadata)) for message in pa.ipc.MessageReader.open_stream(buffer)):
        raise ValueError("its rows are packed")
    table = pa.ipc.open_stream(buffer).read_all()
    table.validate(full=True)
    return table


def _is_packed(metadata: bytes) -> bool:
    """Whether the metadata of an Arrow message name a way of packing (Message.fbs of Apache Arrow)."""
    message = FlatTable.root(metadata)
    kind = message.number(1, 1)
    if kind not in (_DICTIONARY, _BATCH):
        return False
    batch = message.table(2)
    return (batch.table(1) if kind == _DICTIONARY else batch).has(3)
