"""From a source to the numbers a study can use, and the card that says what was done and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Array, Indices
from assay.asking.card import Column, DataCard
from assay.asking.question import Tell
from assay.asking.table import FirstLook, NumberedBlocks, Table, held_blocks, picked
from assay.asking.words import listed
from assay.data.columns.encoded import EncodedSource
from assay.data.columns.encoding import Encoding
from assay.data.hot_deck import stood_in
from assay.data.partitions import Here, numbered_floats
from assay.data.row_cache import KEPT_BYTES, KeptSource
from assay.data.source import Source
from assay.engine.current import is_local
from assay.errors import DataError, ParameterError
from assay.shown import a_few
from assay.study.card import described
from assay.study.complete_blocks import CompleteTally, Missing, completed, filled_by_means, rows_in_use
from assay.study.first_look import first_look
from assay.study.profile import Profile, profiled
from assay.study.row_dependence.answer import RowDependence
from assay.study.row_dependence.labels import Labels
from assay.study.row_dependence.rows import Told, independent_rows, rows_depend, unknown_rows
from assay.study.row_names import row_names
from assay.study.texts import texts_in
from assay.study.usable_columns import FEWEST_ROWS, NOT_DRAWN, mostly_missing, not_drawn, too_few, unusable, varying

Log: TypeAlias = Literal["auto", "never"] | Sequence[str]

UNTOLD = Told()


def prepare(
    source: Source,
    *,
    drop: Sequence[str] = (),
    log: Log = "auto",
    missing: Missing = "fill",
    told: Told = UNTOLD,
    outcomes: frozenset[str] = frozenset(),
    seed: int = 0,
    progress: Tell | None = None,
) -> tuple[Table, RowDependence]:
    """Decide how columns become numbers, which rows can be used and how these depend on each other, and note the rest.

    The source is read once and kept where it fits in memory; beyond that it is read again for each pass.

    Args:
        source: the data.
        drop: columns to leave out.
        log: which columns to take logarithms of; "auto" by the rule of the encoding.
        missing: "fill" lets a value of another row stand in for a missing one, "drop" leaves rows with gaps out.
        told: what the user says of how rows depend; the columns named say nothing else.
        outcomes: columns that are targets.
        seed: of the sample of rows in the first look, and of values that stand in for missing ones.
        progress: told what is being done, the number of rows read and, where it is known, the share of all.
    """
    if missing not in ("fill", "drop"):
        raise ParameterError(f"missing is 'fill' or 'drop'; got {missing!r}")
    kept = KeptSource(source, KEPT_BYTES)
    _check_names(kept, drop, told)
    tell = progress or (lambda what, rows, fraction: None)
    profile = profiled(kept, seed=seed, progress=lambda rows, fraction: tell("Reading", rows, fraction))
    if profile.rows == 0:
        raise DataError(f"{source.name} has a header but no rows: there is nothing to analyse")
    if profile.rows < FEWEST_ROWS:
        raise too_few(source.name, profile.rows, profile.rows)
    aside = dict.fromkeys(drop, "left out on request") | told.columns
    aside |= unusable(profile, set(aside), missing)
    mostly = mostly_missing(profile)
    encoding = Encoding.of(kept.schema, profile.stats, log=log, drop=tuple(aside))
    undrawn = not_drawn(encoding, profile.rows, _numbers_bytes(), outcomes, seed)
    if undrawn:
        aside |= dict.fromkeys(undrawn, NOT_DRAWN)
        encoding = Encoding.of(kept.schema, profile.stats, log=log, drop=tuple(aside))
    aside |= {c.name: c.note for c in encoding.columns if not c.used and c.name not in aside}
    numbers = _numbers(kept, encoding, profile.rows)
    profile = profile.among(numbers) if isinstance(numbers, Here) else profile
    lacking = any(name in aside for name in mostly)
    used, tally, copies = varying(
        source.name, numbers, encoding, aside, missing, profile.rows, maybe_none=lacking,
        progress=lambda done: tell("Looking for gaps", kept.rows_read, kept.fraction_read),
    )  # fmt: skip
    holed, groups = tally.numbered(picked(numbers, used), missing), encoding.groups[used]
    blocks = completed(holed, groups, tally.mean, seed)
    labels, mask, rows, first = None, None, None, holed
    if isinstance(numbers, Here):
        first = Here([next(iter(holed))])
        rows = np.concatenate([block for _, block in holed])
        mask = rows_in_use(picked(numbers, used), missing) if kept.in_memory and len(used) else None
        numbers = holed = blocks = Here([])  # the rows are held once
    if not len(used):
        depend = independent_rows(profile.rows)
    elif rows is None or mask is None:
        depend = unknown_rows(tally.rows, filled_by_means(next(iter(first))[1], tally.mean), told)
    else:
        tell("How rows depend on each other", None, None)
        labels = Labels(kept, encoding.fields, profile.columns, mask)
        owner = tuple(encoding.source_column(int(j)) for j in used)
        depend = rows_depend(
            filled_by_means(rows, tally.mean), owner, labels, told, outcomes, seed,
            copied=bool(copies.notes()), sparse=mostly,
        )  # fmt: skip
    # what tells how rows depend is no column like the others
    stay = np.array([encoding.source_column(int(j)) not in depend.by for j in used], dtype=bool)
    stay = stay if stay.any() and rows is not None else np.ones(len(used), dtype=bool)
    aside |= {name: "tells how rows depend" for name in depend.by if name not in aside and not stay.all()}
    used, groups, mean = used[stay], groups[stay], tally.mean[stay]
    gaps = None
    if rows is not None:
        rows = rows if stay.all() else rows[:, stay]
        gaps = np.isnan(rows) if tally.lacking[stay].any() else None
        rows = stood_in(rows, groups, mean, np.random.default_rng(seed), in_place=True)
    look = first_look(profile, encoding.fields, log=encoding.logged)
    look = replace(look, among_used=_among_used(look, mask, whole=tally.rows == profile.rows))
    card = _card(source, kept, profile, look, encoding, aside, tally, missing, mostly)
    order, seen = filter(None, [depend.sentence]), copies.notes() if depend.how != "copies" else []
    sparse = np.array([encoding.source_column(int(j)) in mostly for j in used], dtype=bool)
    table = Table(
        card=replace(card, notes=(*order, *card.notes, *seen)),
        look=look,
        columns=tuple(label_of(encoding, int(j)) for j in used),
        groups=groups,
        measured=measured(encoding)[used],
        origins=_origins(encoding, used),
        rows=rows,
        blocks=blocks if rows is None else held_blocks(rows),
        levels=_levels(encoding, used),
        depends=depend.design,
        in_use=None if mask is None or mask.all() else np.flatnonzero(mask),
        beside={} if labels is None else _beside(labels, encoding, used),
        gaps=gaps,
        gapped=holed if rows is None and tally.lacking.any() else None,
        sparse=sparse if sparse.any() else None,
        names=row_names(source, kept, encoding.fields, mask, tally.rows),
        texts=texts_in(source, kept, {*drop, *told.columns, *outcomes}, mask),
    )
    return table, depend


def _among_used(look: FirstLook, mask: NDArray[np.bool_] | None, *, whole: bool) -> Indices | None:
    """(m,) numbers of the rows of the first look among those in use, from 1, and 0 for others; None if not known."""
    if whole:
        return look.rows
    if mask is None:
        return None
    return np.where(mask, np.cumsum(mask), 0)[look.rows - 1]


def _check_names(source: Source, drop: Sequence[str], told: Told) -> None:
    """Refuse columns that do not exist."""
    names = [field.name for field in source.schema]
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise ParameterError(f"there is no column {unknown[0]!r} to drop; there are {a_few(names)}")
    told.check(tuple(names))


def label_of(encoding: Encoding, j: int) -> str:
    """How a number is called: by its column alone where it is the only one and rises with it.

    Args:
        encoding: what columns became.
        j: the number.
    """
    column = encoding.source_column(j)
    return column if column in encoding.logged else encoding.label(j)


def _fits(rows: int, encoding: Encoding) -> bool:
    return rows * len(encoding.names) * 8 <= _numbers_bytes()


def _numbers_bytes() -> int:
    """Bytes of numbers that are held, less than of rows as they came: a study has copies of them, 1.5 GB with all."""
    return 3 * KEPT_BYTES // 4


def _numbers(source: KeptSource, encoding: Encoding, rows: int) -> NumberedBlocks:
    """Encoded blocks; encoded once where the numbers fit in memory."""
    if not _fits(rows, encoding):
        return numbered_floats(EncodedSource(source, encoding))
    if source.portable and not is_local():  # rows that the workers read, but few enough for this process
        for _ in source.blocks():
            pass
    return Here(list(EncodedSource(source, encoding).numbered_floats()))


def measured(encoding: Encoding) -> NDArray[np.bool_]:
    """(D,) numbers that are one with their column.

    Args:
        encoding: what columns became.
    """
    alone = np.zeros(len(encoding.names), dtype=bool)
    for column, span in zip(encoding.columns, encoding.spans, strict=True):
        alone[span] = column.kind in ("number", "count", "ordered")
    return alone


def _levels(encoding: Encoding, used: NDArray[np.intp]) -> dict[str, tuple[str, ...]]:
    """By column, the levels that its numbers in use stand for; of two levels one number tells both."""
    found = {}
    for column, span in zip(encoding.columns, encoding.spans, strict=True):
        told = encoding.levels(column.name)
        if not told:
            continue
        here = used[slice(*np.searchsorted(used, (span.start, span.stop)))] - span.start
        if not len(here):
            continue
        found[column.name] = told if len(here) == 1 else tuple(told[j] for j in here)
    return found


def _beside(labels: Labels, encoding: Encoding, used: NDArray[np.intp]) -> dict[str, Array]:
    """What the numbers of a column in use do not tell: levels that share one, and how long a text is."""
    here = {encoding.source_column(int(j)) for j in used}
    found = {}
    for column, codec in zip(encoding.columns, encoding.codecs, strict=True):
        if column.name in here and getattr(codec, "rare", None) is not None:
            found[column.name] = labels.codes(column.name).astype(np.float64)
        elif column.name in here and column.kind == "text":
            found[column.name] = labels.lengths(column.name)
    return found


def _origins(encoding: Encoding, used: NDArray[np.intp]) -> dict[int, tuple[str, str]]:
    """Name and kind of the column behind each group of numbers."""
    kinds = {column.name: column.kind for column in encoding.columns}
    names = {int(encoding.groups[j]): encoding.source_column(int(j)) for j in used}
    return {label: (name, kinds[name]) for label, name in names.items()}


def _card(
    source: Source,
    kept: KeptSource,
    profile: Profile,
    look: FirstLook,
    encoding: Encoding,
    aside: dict[str, str],
    tally: CompleteTally,
    missing: Missing,
    mostly: frozenset[str],
) -> DataCard:
    columns = described(profile, look, encoding, aside, datetime.now(UTC).date())
    problems = [problem.sentence() for problem in kept.problems]
    problems += [problem.sentence() for problem in encoding.problems(profile.stats, kept)]
    gaps = _gap_notes(profile.rows, tally, columns, missing, mostly)
    lost = ["Rows are counted among those that could be read."] if any(p.shown for p in kept.problems) else []
    notes = (*source.notes, *lost, *_drawn_notes(columns, aside), *gaps, *_log_notes(encoding))
    used = tally.rows if any(column.used for column in columns) else 0
    return DataCard(source.name, profile.rows, used, columns, notes, tuple(problems), duplicates=profile.seen.counted())


def _gap_notes(
    rows: int, tally: CompleteTally, columns: tuple[Column, ...], missing: Missing, mostly: frozenset[str]
) -> list[str]:
    if not any(column.used for column in columns):
        return ["Too much is missing for any column to be used: only what is missing was looked at."]
    notes = []
    if tally.empty:
        notes.append(f"{tally.empty:,} of {rows:,} rows hold no value in any column in use and were left out.")
    gaps = tally.gaps - tally.empty
    sparse = [column.name for column in columns if column.used and column.name in mostly]
    if gaps and len(sparse) < sum(column.used for column in columns):
        worst = max((c for c in columns if c.used), key=lambda c: c.missing)
        if missing == "drop":
            why = "because a value in use is missing or infinite"
            notes.append(
                f"{gaps:,} of {rows:,} rows were left out {why}; {worst.name} lacks the most, {worst.missing:,}."
            )
        else:
            alone = sum(column.used and column.missing > 0 for column in columns) == 1
            most = f"all in {worst.name}" if alone else f"most in {worst.name} ({worst.missing:,})"
            notes.append(
                f"{gaps:,} of {rows:,} rows have gaps, {most}. Pairs of columns are taken by the rows that have both; "
                "elsewhere a value of another row, drawn at random, stands in, so structure seems weaker than it is."
            )
    if sparse:
        few = "lacks more than half of its values" if len(sparse) == 1 else "lack more than half of their values"
        asked = "only what is missing and which columns go together was asked of"
        notes.append(f"{listed(sparse)} {few}: {asked} {'it' if len(sparse) == 1 else 'them'}.")
    return notes


def _drawn_notes(columns: tuple[Column, ...], aside: dict[str, str]) -> list[str]:
    out = sum(why == NOT_DRAWN for why in aside.values())
    if not out:
        return []
    asked = sum(column.used for column in columns)
    return [
        f"The columns are too many to hold their rows: {asked:,} of {asked + out:,} were drawn fairly for the "
        "questions below, and the others are only described. To choose them yourself, leave others out by --drop."
    ]


def _log_notes(encoding: Encoding) -> list[str]:
    logged = [column.name for column in encoding.columns if column.name in encoding.logged]
    if not logged:
        return []
    names = ", ".join(logged[:6]) + (f" and {len(logged) - 6} more" if len(logged) > 6 else "")
    return [f"Skewed columns enter as log(1 + x): {names}. To keep them as they are, use --log never."]
