"""The process that reads a file of Stata, SPSS or SAS: what breaks the reader ends it, not the one who asked.

The first argument is what is asked for, as JSON. It writes to its standard output lines of JSON, each after its length:

    {"columns": [...], "rows": n}       what there is: name, type, label and value labels of each column
    {"refused": why}                    instead, or where something breaks later

and, where rows are asked for, messages of an Arrow stream each after its length; a length of 0 ends them. All are
numbers, texts, dates or times; labels of values are for who asked.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from assay.data.formats.child_limits import limit

_READERS = {
    "stata": "read_dta", "spss": "read_sav", "spss portable": "read_por", "sas": "read_sas7bdat",
    "sas transport": "read_xport",
}  # fmt: skip
# where each program begins to count, as seconds before 1970: SPSS on 14 October 1582, the others in 1960
_SPSS, _SAS = 12_219_379_200, 315_619_200
_DAY = 86_400
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # seconds of the years 1 to 9999
# formats by which programs show numbers as times: those of a moment, of a day, of a time of day
_TIMES = {
    "spss": (r"DATETIME|YMDHMS", r"[AEJS]?DATE", r"D?TIME"),
    "sas": (
        r"(DATETIME|DATEAMPM|DT(DATE|MONYY|WKDATX|YEAR|YYQC)|MDYAMPM|NLDATM|[BE]8601DT|IS8601DT)\w*",
        r"(DATE|DDMMYY|MMDDYY|YYMMDD|YYMON|YYMM|MMYY|MONYY|JULIAN|JULDAY|WEEKDAT|WORDDAT|WEEK[UVW]|DAY|DOWNAME|MONTH|"
        r"MONNAME|QTR|YEAR|YYQ|NLDATE|[BE]8601DA|IS8601DA|EURDF|MINGUO|NENGO)\w*",
        r"(TIME|HHMM|HOUR|MMSS|TOD|NLTIM|[BE]8601TM|IS8601TM)\w*",
    ),
    "stata": (r"%-?t[cC].*", r"%-?t?d.*", r"(?!)"),
}


def main() -> None:
    """Tell what is in the file that the first argument asks for, and its rows where they are wanted."""
    asked = json.loads(sys.argv[1])
    limit(asked["memory"], asked["seconds"])
    out = sys.stdout.buffer
    try:
        for message in _messages(asked):
            out.write(len(message).to_bytes(8, "little") + message)
    except (MemoryError, BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:  # a damaged file may break the reader in any way
        said = json.dumps({"refused": (str(error).splitlines() or [type(error).__name__])[0][:200]}).encode()
        out.write(len(said).to_bytes(8, "little") + said)
    out.flush()


def _messages(asked: dict[str, Any]) -> Iterator[bytes]:
    import pyreadstat

    read = getattr(pyreadstat, _READERS[asked["format"]])
    how: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if asked["encoding"]:
        how["encoding"] = asked["encoding"]
    _, known = read(asked["path"], metadataonly=True, **how)
    columns = [_column(name, known, asked["format"]) for name in known.column_names]
    yield json.dumps({"columns": columns, "rows": known.number_rows, "label": known.file_label}).encode()
    wanted = [column for column in columns if column["name"] in set(asked["wanted"])]
    if not wanted:
        return
    step = max(min(asked["cells"] // len(wanted), asked["most"]), 1)
    start = 0
    while True:
        some = min(step, asked["first"] - start) if asked["first"] else step
        rows, _ = read(asked["path"], usecols=asked["wanted"], row_offset=start, row_limit=some, **how)
        arrays = [_array(rows[column["name"]], column) for column in wanted]
        batch = pa.RecordBatch.from_arrays([a for a, _ in arrays], names=[str(j) for j in range(len(arrays))])
        lost = {column["name"]: n for column, (_, n) in zip(wanted, arrays, strict=True) if n}
        yield json.dumps({"lost": lost}).encode()
        yield _packed(batch)
        start += len(batch)
        if len(batch) < some or (asked["first"] and start >= asked["first"]):
            yield json.dumps({"end": start}).encode()
            return


def _column(name: str, known: Any, format_: str) -> dict[str, Any]:
    """Name, label, type, and the labels of values that are no marks of missing ones."""
    stored = known.readstat_variable_types[name]
    shown = str(known.original_variable_types.get(name) or "")
    labels = [
        [value, label]
        for value, label in known.variable_value_labels.get(name, {}).items()
        if isinstance(value, str) == (stored == "string")
    ]
    family = format_.split()[0]
    kind = "text" if stored == "string" else "whole" if stored.startswith("int") else "number"
    if kind != "text":
        bare = shown if family == "stata" else re.sub(r"[\d.]+$", "", shown)
        for time, pattern in zip(("moment", "day", "time"), _TIMES[family], strict=True):
            if re.fullmatch(pattern, bare, re.IGNORECASE if family != "stata" else 0):
                kind = time
                break
    return {
        "name": name,
        "label": known.column_names_to_labels.get(name),
        "type": kind,
        "family": family,
        "labels": sorted(labels, key=lambda pair: pair[0]),
        "ordered": known.variable_measure.get(name) == "ordinal",
    }


def _array(values: Any, column: dict[str, Any]) -> tuple[pa.Array, int]:
    """Values of a column, and how many are times out of range."""
    if column["type"] == "text":
        return pa.array([value or None for value in values], pa.string()), 0
    numbers = np.array(values, dtype=np.float64)
    known = np.isfinite(numbers)
    if column["type"] == "number":
        return pa.array(numbers, mask=~known), 0
    if column["type"] == "whole":
        return pa.array(np.where(known, numbers, 0.0).astype(np.int64), mask=~known), 0
    seconds = np.where(known, numbers, 0.0)
    if column["type"] == "time":
        inside = known & (seconds >= 0) & (seconds < _DAY)
        whole = np.round(np.where(inside, seconds, 0.0) * 1e6).astype(np.int64)
        whole = np.minimum(whole, _DAY * 10**6 - 1)
        return pa.array(whole, pa.int64(), mask=~inside).cast(pa.time64("us")), int((known & ~inside).sum())
    if column["family"] == "spss":
        seconds = seconds - _SPSS
    elif column["type"] == "day":
        seconds = seconds * _DAY - _SAS
    else:
        seconds = seconds * (1e-3 if column["family"] == "stata" else 1.0) - _SAS
    inside = known & (seconds >= _FIRST) & (seconds <= _LAST)
    seconds = np.where(inside, seconds, 0.0)
    lost = int((known & ~inside).sum())
    if column["type"] == "day":
        days = np.floor(seconds / _DAY).astype(np.int32)
        return pa.array(days, pa.int32(), mask=~inside).cast(pa.date32()), lost
    whole = np.array([math.floor(s) for s in seconds], dtype=np.int64) * 10**6
    whole += np.round((seconds - np.floor(seconds)) * 1e6).astype(np.int64)
    return pa.array(whole, pa.int64(), mask=~inside).cast(pa.timestamp("us")), lost


def _packed(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())
