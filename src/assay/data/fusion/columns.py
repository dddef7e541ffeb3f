"""What becomes of the same column of several sources: one type, one unit, or a conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import pyarrow as pa

from assay.data.columns.cells import is_text
from assay.data.columns.units import factor_offset, unit_in_name
from assay.data.field import DECLARED, Kind
from assay.data.fusion.match import Conflict, Group, Member
from assay.data.source import is_numeric

Resolution: TypeAlias = Literal["first", "drop"] | Kind
Family: TypeAlias = Literal["number", "time", "boolean", "text", "other"]

# what a user may say about a conflict; constant, empty and other are no kinds to ask for
RESOLUTIONS = ("first", "drop", *(kind for kind in get_args(Kind) if kind not in ("constant", "empty", "other")))
_FAMILY_OF_KIND: dict[str, Family] = {"number": "number", "count": "number", "time": "time"}


@dataclass(frozen=True, slots=True)
class Fused:
    """A column of the fusion.

    Attributes:
        name, type, unit, role: of the result.
        family: what all values become.
        kind: as a source declared or a resolution says, else None.
        members: the columns it comes from, by source.
        scales: factor and offset for sources in another unit.
        settled: conflicts that the user resolved.
    """

    name: str
    type: pa.DataType
    family: Family
    unit: str | None
    kind: Kind | None
    role: str | None
    members: Mapping[int, Member]
    scales: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    settled: tuple[str, ...] = ()


def judged(
    group: Group, sources: Sequence[str], unit: str | None, resolution: Resolution | None
) -> tuple[Fused | None, list[Conflict]]:
    """What becomes of the same column of several sources.

    Args:
        group: the columns.
        sources: names of the sources.
        unit: that the result shall have, or None for the first one stated.
        resolution: what the user says to conflicts.

    Returns:
        The column of the result, None if it is dropped or in conflict; and the conflicts that are left.
    """
    if resolution == "drop":
        return None, []
    filled = [member for member in group.members if not _empty(member)] or list(group.members)
    family, differ = _family(filled, sources, resolution)
    type_, mixes_zones = _type(family, filled)
    target, scales, units_differ = _scales(group, family, sources, unit)
    zones = f"times with and without a zone: {_listed(filled, sources, lambda m: str(m.type))}" if mixes_zones else None
    said = f"resolve={{{group.name!r}: "
    conflicts = []
    if differ and resolution is None:
        remedy = f"{said}'first'}} for the first source's kind, or 'text', 'drop' or another kind"
        conflicts.append(Conflict(group.name, differ, remedy))
    if zones and resolution != "first":
        conflicts.append(Conflict(group.name, zones, f"{said}'first'}} takes those without as UTC"))
    if units_differ is not None and resolution != "first":
        conflicts.append(units_differ)
    if conflicts:
        return None, conflicts
    settled = (differ, zones, units_differ.what if units_differ is not None else None)
    fused = Fused(
        group.name,
        type_ if all(scale == (1.0, 0.0) for scale in scales.values()) else pa.float64(),
        family,
        target,
        _kind(filled, differ, resolution),
        next((member.field.role for member in group.members if member.field.role is not None), None),
        {member.source: member for member in group.members},
        scales,
        tuple(text for text in settled if text),
    )
    return _renamed(fused), []


def _renamed(fused: Fused) -> Fused:
    """Without a unit in its name that is no longer its own."""
    plain, unit = unit_in_name(fused.name)
    return replace(fused, name=plain) if None not in (unit, fused.unit) and unit != fused.unit else fused


def _empty(member: Member) -> bool:
    return member.field.kind == "empty" or pa.types.is_null(member.type)


def stored_family(type_: pa.DataType) -> Family:
    """What values of an Arrow type are, before anybody looks at them.

    >>> stored_family(pa.int8()), stored_family(pa.dictionary(pa.int8(), pa.string())), stored_family(pa.date32())
    ('number', 'text', 'time')
    """
    is_ = pa.types
    if is_.is_dictionary(type_):
        return stored_family(type_.value_type)
    if is_text(type_) or is_.is_null(type_):
        return "text"
    if is_numeric(type_):
        return "number"
    if is_.is_date(type_) or is_.is_timestamp(type_):
        return "time"
    return "boolean" if is_.is_boolean(type_) else "other"


def _meant(member: Member) -> Family:
    """Text may hold numbers or times; stored numbers are numbers whatever they stand for, unless declared."""
    stored = stored_family(member.type)
    if stored == "text" or (stored == "number" and member.field.why == DECLARED):
        return _FAMILY_OF_KIND.get(member.field.kind, "text")
    return stored


def _family(
    filled: Sequence[Member], sources: Sequence[str], resolution: Resolution | None
) -> tuple[Family, str | None]:
    """What all values become, and how the columns differ if that is a conflict."""
    stored = {stored_family(member.type) for member in filled}
    # a column with one value in all rows goes with any that is stored like it
    telling = {stored_family(member.type) for member in filled if member.field.kind != "constant"}
    meant = {
        _meant(member)
        for member in filled
        if member.field.kind != "constant" or stored_family(member.type) not in telling
    }
    differ = None
    if len(meant) > 1 and not _go_together(filled, meant):
        differ = _listed(filled, sources, lambda m: f"{m.field.kind} stored as {m.type}")
    elif "other" in stored and len({member.type for member in filled}) > 1:
        differ = _listed(filled, sources, lambda m: str(m.type))
    if resolution == "first" and differ:
        return stored_family(filled[0].type), differ
    if resolution is not None and resolution != "first":
        return _FAMILY_OF_KIND.get(resolution, stored.pop() if len(stored) == 1 else "text"), differ
    if len(stored) == 1:
        return stored.pop(), differ
    return ("number" if meant == {"boolean", "number"} else meant.pop() if len(meant) == 1 else "text"), differ


def _go_together(filled: Sequence[Member], meant: set[Family]) -> bool:
    # true and false go with words such as yes and no, and with 0 and 1
    if meant == {"boolean", "text"}:
        return True
    return meant == {"boolean", "number"} and all(member.field.kind == "boolean" for member in filled)


def _type(family: Family, filled: Sequence[Member]) -> tuple[pa.DataType, bool]:
    """The type for all values, and whether it mixes times with and without a zone."""
    is_ = pa.types
    types = [_plain(member.type) for member in filled]
    own = [type_ for type_ in types if stored_family(type_) == family]
    if len(set(types)) == 1 and own:
        return types[0], False
    if family == "text":
        return (pa.large_string() if any(map(is_.is_large_string, types)) else pa.string()), False
    if family == "number":
        whole = len(own) == len(types) and all(is_.is_integer(type_) and type_ != pa.uint64() for type_ in own)
        return (pa.int64() if whole else pa.float64()), False
    if family == "time":
        if len(own) == len(types) and all(is_.is_date(type_) for type_ in own):
            return pa.date32(), False
        zoned = {is_.is_timestamp(type_) and type_.tz is not None for type_ in own}
        finest = "ns" if any(is_.is_timestamp(type_) and type_.unit == "ns" for type_ in own) else "us"
        return pa.timestamp(finest, "UTC" if True in zoned else None), len(zoned) > 1
    return (pa.bool_() if family == "boolean" else types[0]), False


def _plain(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type_):
        return _plain(type_.value_type)
    return pa.string() if pa.types.is_string_view(type_) else type_


def _kind(filled: Sequence[Member], differ: str | None, resolution: Resolution | None) -> Kind | None:
    if resolution == "first" and differ:
        return filled[0].field.kind
    if resolution is not None and resolution != "first" and resolution != "drop":
        return resolution
    return next((member.field.kind for member in filled if member.field.why == DECLARED), None)


def _scales(
    group: Group, family: Family, sources: Sequence[str], wanted: str | None
) -> tuple[str | None, dict[int, tuple[float, float]], Conflict | None]:
    """The unit of the result, factor and offset by source, and the conflict if units do not go together."""
    members = [member for member in group.members if not pa.types.is_null(member.type)]
    stated = {member.source: member.field.unit for member in members}
    target = wanted or next((unit for unit in stated.values() if unit is not None), None)
    if family != "number" or target is None:
        return None, {}, None
    scales = {
        source: scale
        for source, unit in stated.items()
        if unit is not None and (scale := factor_offset(unit, target)) is not None
    }
    if len(scales) == len(stated) or not any(stated.values()):
        return target, scales, None
    what = _listed(members, sources, lambda m: m.field.unit or "no unit")
    remedy = (
        f"say the unit where it is read, as in assay.read(..., units={{{group.name!r}: {target!r}}}), "
        f"or resolve={{{group.name!r}: 'first'}} takes the others as {target}, or 'drop'"
    )
    asked = f", asked for in {wanted}" if wanted is not None else ""
    return target, scales, Conflict(group.name, what + asked, remedy)


def _listed(members: Iterable[Member], sources: Sequence[str], of: Callable[[Member], str]) -> str:
    return ", ".join(f"{of(member)} in {sources[member.source]}" for member in members)
