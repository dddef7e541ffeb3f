"""An encoding that may be shared: what several sites need to know to make the same numbers, and nothing of their rows.

Texts are left out, levels of few rows are pooled without their names, days are counted from a fixed one, and neither
shares, notes nor counts of missing values stay.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from assay.data.columns._codecs import Aside, Codec, LevelCodec
from assay.data.columns._codecs_parts import Time, WordCodec
from assay.data.columns.encoding import Encoding
from assay.data.columns.encoding_notes import EncodedColumn
from assay.data.field import Field

_ORIGIN = 10957  # 2000-01-01, in days since 1970


def agreed(encoding: Encoding, fewest_rows: int, *, without: Collection[str] = ()) -> Encoding:
    """The same encoding without anything that tells of few rows.

    Args:
        encoding: as decided from the rows of one site.
        fewest_rows: that a level needs to be named.
        without: columns to leave out.
    """
    kept: list[tuple[Field, Codec]] = []
    for known, column, codec in zip(encoding.fields, encoding.columns, encoding.codecs, strict=True):
        shared = _shared(codec, encoding.rows - column.missing, fewest_rows)
        if shared is not None and known.name not in without:
            kept.append((Field(known.name, known.kind, known.unit, None, known.levels), shared))
    return of_codecs(kept)


def of_codecs(kept: list[tuple[Field, Codec]]) -> Encoding:
    """An encoding of these columns.

    Args:
        kept: each with what makes numbers of it.
    """
    columns = tuple(
        EncodedColumn(known.name, known.kind, _words(codec), "", len(codec.names(known.name)), 0, 0)
        for known, codec in kept
    )
    return Encoding(tuple(known for known, _ in kept), columns, tuple(codec for _, codec in kept), 0)


def differences(a: Encoding, b: Encoding) -> list[str]:
    """In which columns two encodings do not make the same numbers, in words; none where they agree.

    Args:
        a: one.
        b: the other.
    """
    here, there = (dict(zip([f.name for f in e.fields], e.codecs, strict=True)) for e in (a, b))
    found = [f"{name!r} is only in the first" for name in here if name not in there]
    found += [f"{name!r} is only in the second" for name in there if name not in here]
    for name, codec in here.items():
        other = there.get(name, codec)
        if isinstance(codec, LevelCodec) and isinstance(other, LevelCodec) and codec != other:
            only = [f"{level!r}" for level in (*codec.told(), *other.told()) if level not in _both(codec, other)]
            found.append(f"{name!r} has other levels ({', '.join(only[:5]) or 'in another order'})")
        elif codec != other:
            found.append(f"{name!r} is {_words(codec)} in the first and {_words(other)} in the second")
    if not found and list(here) != list(there):
        found.append("columns are in another order")
    units = [(f.name, f.unit, g.unit) for f, g in zip(a.fields, b.fields, strict=False) if f.unit != g.unit]
    return found or [f"{name!r} is in {one or 'no unit'} and in {other or 'no unit'}" for name, one, other in units]


def _both(a: LevelCodec, b: LevelCodec) -> set[str]:
    return set(a.told()) & set(b.told())


def _shared(codec: Codec, rows: int, fewest: int) -> Codec | None:
    if isinstance(codec, (Aside, WordCodec)):
        return None
    if isinstance(codec, Time):
        return codec if codec.clock else replace(codec, origin=_ORIGIN)
    if not isinstance(codec, LevelCodec):
        return codec
    counts = [round(share * rows) for share in codec.shares[: len(codec.levels)]]
    named = tuple(level for level, count in zip(codec.levels, counts, strict=True) if count >= fewest)
    others = rows - sum(count for count in counts if count >= fewest)
    pooled = others >= max(fewest, 1)
    if len(named) + pooled < 2:
        return None
    return LevelCodec(named, (0.0,) * (len(named) + pooled), () if pooled else None, int(pooled), codec.numeric)


def _words(codec: Codec) -> str:
    if isinstance(codec, LevelCodec):
        return f"one per level: {', '.join(codec.told())}"
    about: dict[str, Any] = codec.header()
    return "log(1 + x)" if about.get("log") else {"number": "as it is"}.get(codec.kind, codec.kind)
