"""How rows depend on each other: as the user says, or as the rows betray.

Asked before every other question, in this order: what the user says; copies; levels that explain too much; places;
times; neighbours in the file. The first that is found decides: rows that are alike for one reason look alike for the
next.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.arrays import Array
from assay.errors import ParameterError
from assay.evidence.design import Design, Grouped, Independent, Serial
from assay.evidence.evidence import Evidence, verdict_of
from assay.linalg.ranks import average_ranks
from assay.shown import a_few
from assay.study.row_dependence.answer import RowDependence, counted_as
from assay.study.row_dependence.labels import Labels
from assay.study.row_dependence.levels import LEVEL, levels_look
from assay.study.row_dependence.near_copies import copies_look
from assay.study.row_dependence.place import coordinates, depends, place_look
from assay.study.row_dependence.serial import serial_look
from assay.views.axes.numbers import count, fraction

# below, a law of chance rests on too little; a shift over a map has seams all along two of its sides
FEWEST_EFFECTIVE = {"time": 12.0, "groups": 12.0, "place": 30.0}
_LOOKED = 200  # columns by which effective rows are counted
_METHOD = "lags of neighbours, levels, places and copies, each against rows in any order"


@dataclass(frozen=True, slots=True)
class Told:
    """What the user says about rows.

    Attributes:
        time: the column that orders them.
        by: the column that names what several rows were taken from.
        place: the two columns that say where.
    """

    time: str | None = None
    by: str | None = None
    place: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, str]:
        """The columns named, and why they are set aside."""
        why = dict.fromkeys(self.place, "the place of rows")
        why |= {} if self.time is None else {self.time: "the order of rows"}
        return why | ({} if self.by is None else {self.by: "what rows were taken from"})

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse columns that do not exist, and places that are not two columns."""
        for said, column in (("time", self.time), ("by", self.by), *(("place", one) for one in self.place)):
            if column is not None and column not in names:
                raise ParameterError(f"there is no column {column!r} for --{said}; there are {a_few(names)}")
        if self.place and len(self.place) != 2:
            raise ParameterError(f"--place takes two columns, such as x,y; got {', '.join(self.place)}")


def rows_depend(
    X: Array,
    owner: tuple[str, ...],
    labels: Labels,
    told: Told,
    outcomes: frozenset[str],
    seed: int,
    *,
    copied: bool,
    sparse: frozenset[str] = frozenset(),
) -> RowDependence:
    """Ask how rows depend.

    Args:
        X: (n, D) rows in use.
        owner: (D,) the column that each number was made from.
        labels: columns as they came.
        told: what the user says.
        outcomes: columns that are targets, which name no subjects.
        seed: of rows looked at where they are many.
        copied: whether rows may be copies: a look at all of them has shown that.
        sparse: columns that mostly lack their value, in which rows are alike by what they lack.
    """
    said = _as_declared(X, labels, told, seed)
    found = said if said is not None else _seen(X, owner, labels, outcomes, seed, copied, sparse)
    if found is None:
        return independent_rows(len(X), _if_time(X, owner, labels.times(outcomes)))
    others = np.array([own not in found.by for own in owner])
    return _limited(found, X[:, others] if others.any() and not others.all() else X)


def independent_rows(n: int, hint: str = "") -> RowDependence:
    """Rows of which nothing shows that they depend.

    Args:
        n: how many.
        hint: what is to be said all the same.
    """
    nothing = verdict_of(1.0, effect_holds=False)
    evidence = Evidence(0.0, p=None, q=None, n=n, looks=4, method=_METHOD, verdict=nothing)
    return RowDependence("independent", (), False, hint, float(n), n, None, evidence)


def unknown_rows(n: int, first: Array, told: Told) -> RowDependence:
    """How rows depend that do not fit in memory: neighbours are looked at, and no chance is known that keeps them.

    Args:
        n: how many rows there are.
        first: (b, D) the first of them.
        told: what the user says.
    """
    look = serial_look(first)
    nothing = verdict_of(1.0, effect_holds=False)
    alike = look is not None and look.design is not None
    evidence = Evidence(1.0, p=None if look is None else look.p, n=n, method=_METHOD, verdict=nothing)
    if not alike and not told.columns:
        return RowDependence("independent", (), False, "", float(n), n, None, evidence)
    limit = "the rows do not fit in memory, where their dependence could be heeded"
    said = "Neighbouring rows are alike, as in time" if alike else "Rows depend on each other, as you say"
    sentence = f"{said}; {limit}, so nothing is called supported."
    how, by, design = "time" if alike else "groups", tuple(told.columns), Independent(n, limit=limit)
    return RowDependence(how, by, bool(by), sentence, float(n), n, design, evidence)


def _as_declared(X: Array, labels: Labels, told: Told, seed: int) -> RowDependence | None:
    n = len(X)
    if told.by is not None:
        label = labels.codes(told.by)
        missing = label < 0
        label = np.unique(np.where(missing, label.max() + 1 + np.arange(n), label), return_inverse=True)[1]
        groups = int(label.max()) + 1
        said = f"Rows of one {told.by} belong together, {count(groups)} in all"
        return _answer("groups", (told.by,), said, Grouped(n, label), None, told=True)
    if told.place:
        at = np.stack([labels.numbers_of(name, "a place") for name in told.place], axis=1)
        look = place_look(X, at, (told.place[0], told.place[1]))
        if look is None:
            raise ParameterError(f"places in {' and '.join(told.place)} do not vary: there is nothing near or far")
        said = f"Rows lie at places ({' and '.join(told.place)}), near ones alike ({fraction(look.alike)})"
        return _answer("place", told.place, said, look.design, look.p, told=True)
    if told.time is not None:
        return _in_time(X, labels.numbers_of(told.time, "the time"), told.time, told=True)
    return None


def _in_time(X: Array, time: Array, name: str, *, told: bool) -> RowDependence:
    place = np.argsort(np.argsort(time, kind="stable"), kind="stable")
    look = serial_look(X, given=place)
    design = look.design if look is not None and look.design is not None else Serial(len(X), place, 1)
    if 2 * len(np.unique(time)) < len(time):
        design = replace(
            design,
            limit=f"several rows share one {name}, and no chance is known that keeps both; say --by what they are from",
        )
    alike = f", neighbours alike ({fraction(look.alike)} from row to row)" if look is not None else ""
    said, p = f"Rows are in the order of {name}{alike}", None if look is None else look.p
    return _answer("time", (name,), said, design, p, told=told)


def _seen(
    X: Array,
    owner: tuple[str, ...],
    labels: Labels,
    outcomes: frozenset[str],
    seed: int,
    copied: bool,
    sparse: frozenset[str],
) -> RowDependence | None:
    n = len(X)
    dense = [own not in sparse for own in owner]
    copies = copies_look(X if all(dense) else X[:, dense], seed, exact=copied)
    if copies is not None:
        jitter = "" if copies.exact else ", but for a little jitter,"
        said = f"{count(copies.copies)} of {count(n)} rows are copies of others{jitter} and count with them as one"
        return _answer("copies", (), said, copies.design, None)
    levels = levels_look(X, owner, labels.candidates(outcomes))
    if levels is not None:
        said = (
            f"Rows of one {levels.column} are alike (intraclass correlation {fraction(levels.shared)} in a typical "
            f"column), so they are taken together"
        )
        return _answer("groups", (levels.column,), said, levels.design, levels.p)
    named = coordinates([name for name in dict.fromkeys(owner) if name not in outcomes])
    if named is not None:
        at = np.stack([labels.values(name) for name in named], axis=1)
        if np.isfinite(at).all():
            look = place_look(X[:, [own not in named for own in owner]], at, named)
            if look is not None and depends(look):
                said = f"Rows at near places ({' and '.join(named)}) are alike ({fraction(look.alike)})"
                return _answer("place", named, said, look.design, look.p)
    timed = _by_times(X, owner, labels.times(outcomes))
    if timed is not None:
        return timed
    serial = serial_look(X)
    if serial is None or serial.design is None:
        return None
    level = ", jumps of level left out" if serial.parts > 1 else ""
    most = f"{fraction(serial.alike)} from row to row in {owner[serial.column]}{level}"
    if serial.design.kind == "place":
        said = f"Rows look like the lines of a grid, neighbours alike ({most})"
        return _answer("place", (), said, serial.design, serial.p)
    if isinstance(serial.design, Grouped):
        said = f"Every {count(int(serial.design.sizes[0]))} rows in turn are alike ({most}), as if of one subject"
        return _answer("groups", (), said, serial.design, serial.p)
    return _answer("time", (), f"Neighbouring rows are alike ({most}), as in time", serial.design, serial.p)


def _by_times(X: Array, owner: tuple[str, ...], times: dict[str, Array]) -> RowDependence | None:
    """The column of times along which neighbours are most alike, where they are in several columns.

    One column that goes with a date is a pair of columns, several that remember are a series.
    """
    best, least = None, 1.0
    for name, time in times.items():
        order = np.argsort(time, kind="stable")
        others = np.flatnonzero([own != name for own in owner])
        look = serial_look(X[np.ix_(order, others)])
        if look is None or look.design is None or look.p * len(times) > LEVEL or look.left >= least:
            continue
        rest = others[np.array([owner[j] != owner[others[look.column]] for j in others], dtype=bool)]
        again = serial_look(X[np.ix_(order, rest)])
        if again is not None and again.design is not None:
            best, least = _in_time(X[:, others], time, name, told=False), look.left
    return best


def _if_time(X: Array, owner: tuple[str, ...], times: dict[str, Array]) -> str:
    """A hint where columns change level along a column of times, as they do in a drift: that is no series by itself."""
    for name, time in times.items():
        others = np.flatnonzero([own != name for own in owner])
        look = serial_look(X[np.ix_(np.argsort(time, kind="stable"), others)])
        if look is not None and look.parts > 1:
            told = f"if they are a series, --time {name} makes verdicts heed it"
            return f"Columns change level along {name}, and rows are taken as independent; {told}."
    return ""


def _answer(
    how: str, by: tuple[str, ...], said: str, design: Design, p: float | None, *, told: bool = False
) -> RowDependence:
    n = design.n
    evidence = Evidence(
        statistic=1.0,
        p=p,
        q=None if p is None else min(4.0 * p, 1.0),
        n=n,
        looks=1 if told else 4,
        method="as the user says" if told else _METHOD,
        verdict="not testable here" if p is None else verdict_of(p, effect_holds=p <= LEVEL),
    )
    return RowDependence(how, by, told, said, float(n), n, design, evidence)


def _effective(X: Array, design: Design) -> tuple[float, float]:
    """Effective rows of the typical pair of columns, and of the pair that has fewest."""
    looked = np.flatnonzero(X.min(axis=0) < X.max(axis=0))[:_LOOKED]
    Z = np.empty((len(X), len(looked)))
    for k, j in enumerate(looked):  # ranks of all columns at once would be held several times
        centred = average_ranks(X[:, j]) - 0.5 * (len(X) + 1.0)
        Z[:, k] = centred / np.linalg.norm(centred)
    every = design.effective(Z)
    pairs = every[np.triu_indices(len(every), 1)] if len(every) > 1 else every.ravel()
    return float(np.median(pairs)), float(np.quantile(pairs, 0.1))


def _limited(rows: RowDependence, X: Array) -> RowDependence:
    """With the number of rows that count, a limit where they are too few, and the sentence that ends accordingly."""
    design = rows.design or Independent(rows.n)
    effective, least = _effective(X, design)
    limit = because = design.limit
    if not limit and least < FEWEST_EFFECTIVE.get(design.kind, 0.0):
        few = "too few to tell structure from chance"
        alike = round(least) == round(effective)  # then the number stands in the sentence already
        who = "the rows" if alike else "the columns that change most slowly"
        limit = f"{who} tell only as much as about {count(round(least))} independent rows, {few}"
        because = few if alike else limit
    design = replace(design, limit=limit)
    end = f"; {because}, so nothing is called supported." if limit else ". Splits and chance go by that."
    evidence = replace(rows.evidence, statistic=rows.n / effective)
    sentence = f"{rows.sentence}: {counted_as(effective, rows.n)}{end}"
    return replace(rows, design=design, effective=effective, evidence=evidence, sentence=sentence)
