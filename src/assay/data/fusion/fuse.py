"""Several sources as one: columns matched by name and kind, units converted, the origin of each row kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa

from assay.data.columns.kinds import understood
from assay.data.field import Declared, Field, Kind
from assay.data.fitting import add_misfits
from assay.data.fusion.account import Converted, Fusion
from assay.data.fusion.columns import RESOLUTIONS, Fused, Resolution, judged
from assay.data.fusion.match import Conflict, Group, Member, folded_name, groups_of
from assay.data.fusion.values import Bringer
from assay.data.names import unique_names
from assay.data.problems import Problems
from assay.data.read import read
from assay.data.source import BLOCK_ROWS, Source
from assay.data.streams import OnePassSource
from assay.errors import DataError, ParameterError
from assay.shown import a_few

# conflicts that a message lists
_LISTED = 20


def fuse(
    sources: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    match: Mapping[str, str | Sequence[str]] | None = None,
    units: Mapping[str, str] | None = None,
    resolve: Mapping[str, Resolution] | None = None,
    columns: Literal["common", "all"] = "all",
    origin: str = "origin",
    kinds: Mapping[str, Kind] | None = None,
    roles: Mapping[str, str] | None = None,
    sensitive: Iterable[str] = (),
    **options: Any,
) -> FusedSource:
    """Put several sources together as one, row below row.

    Columns are the same if their names are, but for case, blanks, punctuation, accents and a unit in brackets, and if
    they hold the same sort of values. Values in another unit are converted to the unit of the first source that states
    one. What does not go together stops with a list: differing kinds, units that cannot be converted or are stated by
    some sources only, two columns of a source with the same name, times with and without a zone.

    Args:
        sources: anything that `assay.read` takes, at least two.
        names: of the sources, for the origin column; their own by default.
        match: for a column of the result, the names that mean it in the sources.
        units: the unit that a column of the result shall have.
        resolve: what to do about the conflict of a column: "first" (as in the first source; values without a unit are
            in its unit), "drop", "text", or another kind to read all values as.
        columns: "all" of any source, missing in the others, or only those "common" to all.
        origin: name of the column that tells where a row comes from.
        kinds: what columns of the result are, as in `resolve`.
        roles: of columns of the result, such as "target".
        sensitive: columns that are not read from any source; what one source declares sensitive is so in all.
        options: for `assay.read`, the same for all sources.

    >>> a = pa.table({"Mass [kg]": [1.5]})
    >>> b = pa.table({"mass [g]": [500.0]})
    >>> fuse([a, b], names=["a", "b"]).to_arrow().to_pylist()
    [{'Mass [kg]': 1.5, 'origin': 'a'}, {'Mass [kg]': 0.5, 'origin': 'b'}]
    """
    if isinstance(sources, (str, bytes)) or len(sources) < 2:
        raise ParameterError("fuse takes a list of at least two sources")
    if columns not in ("common", "all"):
        raise ParameterError(f"columns is 'common' or 'all'; got {columns!r}")
    said = {**(kinds or {}), **(resolve or {})}
    for column, how in said.items():
        if how not in RESOLUTIONS:
            raise ParameterError(f"resolve says one of {', '.join(RESOLUTIONS)}; got {how!r} for {column!r}")
    opened = [read(source, **options) for source in sources]
    called = _source_names(opened, names)
    same = {new: (old,) if isinstance(old, str) else tuple(old) for new, old in (match or {}).items()}
    secret = _secret_columns(opened, same, frozenset({sensitive} if isinstance(sensitive, str) else sensitive))
    for i, source in enumerate(sources):
        # opened anew, so that not even a message of its reader can tell a value; what comes once cannot be
        if secret[i] and opened[i] is not source and not isinstance(opened[i], OnePassSource):
            opened[i] = read(source, **options, sensitive=sorted(secret[i]))
    members = [
        Member(i, field, type_)
        for i, source in enumerate(opened)
        for field, type_ in zip(source.schema, source.arrow_schema.types, strict=True)
        if not Declared(sensitive=secret[i]).hides(field.name)
    ]
    hidden = tuple(sorted({name for columns_ in secret for name in columns_}))
    chosen = _Chosen(same, dict(units or {}), said, dict(roles or {}), columns, hidden)
    fused, account = _planned(members, called, [source.rows for source in opened], chosen)
    return FusedSource(opened, fused, account, origin, secret)


class FusedSource(Source):
    """Several sources as one; made by `fuse`.

    Attributes:
        account: what was matched, converted, resolved and left out.
        origin: name of the column that tells where a row comes from.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        fused: Sequence[Fused],
        account: Fusion,
        origin: str,
        secret: Sequence[frozenset[str]],
    ) -> None:
        names, changed = unique_names([*(column.name for column in fused), origin])
        self._columns = [replace(column, name=name) for column, name in zip(fused, names[:-1], strict=True)]
        self.origin = names[-1]
        self.account = account
        self._sources = sources
        self._secret = secret
        declared = Declared(
            {column.name: column.kind for column in self._columns if column.kind is not None}
            | {self.origin: "category"},
            {column.name: column.unit for column in self._columns if column.unit is not None},
            {column.name: column.role for column in self._columns if column.role is not None} | {self.origin: "origin"},
        )
        super().__init__(" + ".join(account.sources) if len(sources) < 4 else f"{len(sources)} sources", declared)
        if all(rows is not None for rows in account.rows):
            self.rows = sum(rows or 0 for rows in account.rows)
        parts = (f"{name}: {note}" for name, s in zip(account.sources, sources, strict=True) for note in s.notes)
        self.notes = (*account.sentences(), *([changed] if changed else []), *parts)

    def _arrow_schema(self) -> pa.Schema:
        return pa.schema([*((column.name, column.type) for column in self._columns), (self.origin, pa.string())])

    @cached_property
    def schema(self) -> tuple[Field, ...]:
        """The columns with their kinds, as understood from the first rows of each source."""
        share = max(1, BLOCK_ROWS // len(self._sources))
        firsts = [next(self._part(i, Problems()), None) for i in range(len(self._sources))]
        blocks = [block.slice(0, share) for block in firsts if block is not None]
        empty = self.arrow_schema.empty_table().to_batches()[:1]
        return understood(self.arrow_schema, blocks or empty, self.declared)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        counted = []
        for i in range(len(self._sources)):
            before = self.rows_read
            yield from self._part(i, self.problems)
            counted.append(self.rows_read - before)
        self.rows = self.rows_read
        self.account = replace(self.account, rows=tuple(counted))

    def _part(self, i: int, problems: Problems) -> Iterator[pa.RecordBatch]:
        """The rows of one source, in the columns of all."""
        source, name = self._sources[i], self.account.sources[i]
        bringers = [Bringer(column, i) for column in self._columns]
        found = Problems()
        row = 0
        try:
            for block in source.blocks():
                brought = []
                for column, bringer in zip(self._columns, bringers, strict=True):
                    values, lost = bringer.bring(block)
                    places = ((source.place_of(row + int(j)), bringer.cell(block, int(j))) for j in lost)
                    add_misfits(found, column.name, column.type, places, shown=not any(self._secret))
                    brought.append(values)
                row += block.num_rows
                origin = pa.repeat(pa.scalar(name, pa.string()), block.num_rows)
                yield pa.RecordBatch.from_arrays([*brought, origin], schema=self.arrow_schema)
        finally:
            found.extend(source.problems)
            self._tell(found, i, problems)

    def _tell(self, found: Problems, i: int, problems: Problems) -> None:
        """Problems of one source with its name, and without values of sensitive columns."""
        called = {column.members[i].field.name: column.name for column in self._columns if i in column.members}
        for problem in found:
            hidden = problem.column is not None and Declared(sensitive=self._secret[i]).hides(problem.column)
            column = None if problem.column is None else called.get(problem.column, problem.column)
            examples = problem.examples or (("", None),)
            for k, (place, value) in enumerate(examples):
                where = ", ".join(filter(None, (self.account.sources[i], place)))
                count = problem.count - len(examples) + 1 if k == 0 else 1
                problems.add(problem.what, column=column, place=where, value=None if hidden else value, count=count)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What the user said about columns of the result."""

    match: Mapping[str, tuple[str, ...]]
    units: Mapping[str, str]
    resolve: Mapping[str, Resolution]
    roles: Mapping[str, str]
    columns: str
    sensitive: tuple[str, ...]


def _planned(
    members: Sequence[Member], sources: tuple[str, ...], rows: Sequence[int | None], chosen: _Chosen
) -> tuple[list[Fused], Fusion]:
    """The columns of the result and the account of them; conflicts that are left stop here."""
    groups, ambiguous = groups_of(members, chosen.match, sources)
    _check_names(members, chosen)
    units = {folded_name(name): unit for name, unit in chosen.units.items()}
    resolve = {folded_name(name): how for name, how in chosen.resolve.items()}
    roles = {folded_name(name): role for name, role in chosen.roles.items()}
    conflicts = [conflict for conflict in ambiguous if resolve.get(folded_name(conflict.column)) != "drop"]
    partial = [group for group in groups if len(group.members) < len(sources)]
    left_out = [group.name for group in partial] if chosen.columns == "common" else []
    fused: list[Fused] = []
    resolved = [(conflict.column, "drop", conflict.what) for conflict in ambiguous]
    for group in groups:
        if group.name in left_out:
            continue
        unit, how = _said(group, units), _said(group, resolve)
        column, found = judged(group, sources, unit, how)
        conflicts += found
        if column is None:
            resolved += [(group.name, "drop", "left out")] if how == "drop" else []
            continue
        fused.append(replace(column, role=_said(group, roles) or column.role))
        resolved += [(column.name, str(how), what) for what in column.settled]
    if conflicts:
        raise DataError(_refusal(conflicts, sources))
    if chosen.columns == "common" and not fused:
        raise DataError(f"cannot fuse {', '.join(sources)}: no column is common to all; say which are by match=")
    converted = tuple(
        Converted(column.name, sources[i], column.members[i].field.unit or "", column.unit or "", *scale)
        for column in fused
        for i, scale in column.scales.items()
        if scale != (1.0, 0.0)
    )
    matched = tuple(
        (column.name, tuple((sources[i], member.field.name) for i, member in column.members.items()))
        for column in fused
        if len(column.members) > 1
    )
    only_in = tuple((group.name, tuple(sources[member.source] for member in group.members)) for group in partial)
    account = Fusion(
        sources, tuple(rows), matched, converted, tuple(resolved), only_in, tuple(left_out), chosen.sensitive
    )
    return fused, account


def _said(group: Group, about: Mapping[str, Any]) -> Any:
    keys = (folded_name(name) for name in (group.name, *(member.field.name for member in group.members)))
    return next((about[key] for key in keys if key in about), None)


def _check_names(members: Sequence[Member], chosen: _Chosen) -> None:
    present = {folded_name(name) for name in (*(member.field.name for member in members), *chosen.sensitive)}
    for option, said in (
        ("match", [name for names in chosen.match.values() for name in names]),
        ("units", [name for name in chosen.units if name not in chosen.match]),
        ("resolve", [name for name in chosen.resolve if name not in chosen.match]),
        ("roles", [name for name in chosen.roles if name not in chosen.match]),
    ):
        for name in said:
            if folded_name(name) not in present:
                listed = a_few(dict.fromkeys(member.field.name for member in members))
                raise ParameterError(f"{option}= names column {name!r}, which no source has; there are {listed}")


def _refusal(conflicts: Sequence[Conflict], sources: Sequence[str]) -> str:
    told = "; ".join(str(conflict) for conflict in conflicts[:_LISTED])
    more = f"; and {len(conflicts) - _LISTED:,} more" if len(conflicts) > _LISTED else ""
    return f"cannot fuse {', '.join(sources)}, as {_counted(len(conflicts))}: {told}{more}"


def _counted(conflicts: int) -> str:
    return "1 column conflicts" if conflicts == 1 else f"{conflicts:,} columns conflict"


def _source_names(sources: Sequence[Source], names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(unique_names([source.name for source in sources])[0])
    if isinstance(names, str) or len(names) != len(sources) or len(set(names)) < len(names):
        raise ParameterError(f"names are {len(sources)} different names, one for each source; got {names!r}")
    return tuple(names)


def _secret_columns(
    sources: Sequence[Source], match: Mapping[str, tuple[str, ...]], sensitive: frozenset[str]
) -> list[frozenset[str]]:
    """Of each source the columns that must not be read: what is sensitive in one is so in all."""
    declared = frozenset(name for source in sources for name in source.declared.sensitive)
    folds = {folded_name(name) for name in sensitive | declared}
    for new, olds in match.items():
        if not folds.isdisjoint(same := {folded_name(name) for name in (new, *olds)}):
            folds |= same
    names = [(*source.arrow_schema.names, *source.declared.sensitive) for source in sources]
    present = {folded_name(name) for found in names for name in found}
    unknown = sorted(name for name in sensitive if folded_name(name) not in present)
    if unknown:
        raise ParameterError(f"column {unknown[0]!r} was declared sensitive, but no source has it; check its spelling")
    return [frozenset(name for name in found if folded_name(name) in folds) for found in names]
