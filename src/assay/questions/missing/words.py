"""Missing values in plain words."""

from __future__ import annotations

from collections.abc import Callable

from assay.asking.words import SURVIVED, Words, chance, listed, one_line
from assay.questions.missing.answer import Family, GapPair, MissingValues
from assay.questions.missing.patterns import Run
from assay.views.axes.numbers import count, counted, percent

_READING = (
    "Gaps that go with other columns: the rows that have a value are then no fair sample of all rows. Whether a value "
    "is missing because of what it would have been, no data can tell."
)
_TOLD = 3  # columns whose gaps are told in a sentence
WORDS = {
    "values": Words(
        "column whose gaps go with others",
        "columns whose gaps go with others",
        statistic="Difference in the share missing",
        statistic_format=percent,
        held_out="difference in the share missing, between halves of the rows",
        held_out_format=percent,
        reading=_READING,
    ),
    "together": Words(
        "pair of columns missing together",
        "pairs of columns missing together",
        statistic="Difference in the share missing",
        statistic_format=percent,
        held_out="difference in the share missing, between rows that lack and that have the other",
        held_out_format=percent,
    ),
}


def subject(found: MissingValues, family: Family) -> str:
    """The columns whose gaps go with something, or that of the strongest pair."""
    pairs = family.standing(found.level) or family.pairs[:1]
    return f"gaps in {listed(list(dict.fromkeys(pair.lacking for pair in pairs)))}"


def values_line(found: MissingValues) -> str:
    """Where a column is missing more often."""
    if found.values is None:
        return ""
    pair, verdict = found.values.pairs[0], found.values.evidence.verdict
    if verdict not in SURVIVED:
        return f"Gaps go with nothing else: {counted(found.values.evidence.looks, 'pair')} of columns were compared"
    sides = " against ".join(percent(share) for share in sorted((pair.upper, pair.lower), reverse=True))
    other = "" if verdict == "supported" else " perhaps"
    return one_line(lambda short: f"{_more(pair, short)}{other} ({sides})")


def together_line(found: MissingValues) -> str:
    """Which columns are missing in the same rows."""
    if found.together is None:
        return ""
    pair, verdict = found.together.pairs[0], found.together.evidence.verdict
    if verdict not in SURVIVED:
        return "No two columns are missing together more often than by chance"
    many = len(found.together.standing(found.level))
    how = "together" if pair.upper > pair.lower else "by turns"
    others = f", and {counted(many - 1, 'more pair')}" if many > 1 else ""
    are = "are" if verdict == "supported" else "may be"
    return one_line(lambda short: f"{short(pair.lacking)} and {short(pair.column)} {are} missing {how}{others}")


def values_sentence(found: MissingValues) -> str:
    """Where columns are missing more often, and what that means."""
    family = found.values
    if family is None:
        return ""
    pair, verdict = family.pairs[0], family.evidence.verdict
    tested = f"{chance(family.evidence)} for {counted(found.looks, 'pair')}{_sampled(found)}"
    if verdict == "supported":
        first = _first_of_each(family.standing(found.level))
        clauses = [f"{_more(one)} ({_shares(one)})" for one in first[:_TOLD]]
        runs = "".join(f" {run_sentence(found, run)}" for one in first[:_TOLD] for run in found.runs_of(one))
        names = listed([one.lacking for one in first])
        return (
            f"{'; '.join(clauses)}: {tested}.{runs}{_others(found, family, min(len(first), _TOLD))} So the rows that "
            f"have {names} are no fair sample of all rows: what is said of {'it' if len(first) == 1 else 'these'} "
            "holds for rows like them."
        )
    if verdict == "suggestive":
        return f"{_more(pair).replace(' is missing', ' may be missing', 1)}: {_shares(pair)} ({tested})."
    return (
        f"Gaps go with nothing else that was examined. The nearest: {_more(pair)}, {_shares(pair)} ({tested}). "
        "Whether they go with the missing values themselves, no data can tell."
    )


def together_sentence(found: MissingValues) -> str:
    """Which columns are missing in the same rows, or in different ones."""
    family = found.together
    if family is None:
        return ""
    pair, verdict = family.pairs[0], family.evidence.verdict
    more = pair.upper > pair.lower
    how = f"{pair.lacking} and {pair.column} are missing {'together' if more else 'by turns'}"
    rows = (
        f"{pair.lacking} is missing in {percent(pair.upper)} of the rows that lack {pair.column}, and in "
        f"{percent(pair.lower)} of those that have it "
        f"({chance(family.evidence)} for {counted(found.looks, 'pair')}{_sampled(found)})"
    )
    if verdict == "supported":
        return f"{how}: {rows}.{_others(found, family)}"
    if verdict == "suggestive":
        return f"{how.replace(' are missing', ' may be missing', 1)}: {rows}."
    return f"No two columns are missing together more often than by chance. The nearest: {rows}."


def _sampled(found: MissingValues) -> str:
    """Of how many rows shares are, where they are not of all."""
    return f", in {count(found.rows)} rows drawn fairly" if found.rows < found.total else ""


def untested(found: MissingValues) -> str:
    """How much is missing, where nothing can be compared."""
    most = int(found.share.argmax())
    lacking = f"{found.columns[most]} lacks the most, {percent(float(found.share[most]))}"
    columns = counted(len(found.columns), "column")
    verb = "has" if len(found.columns) == 1 else "have"
    return f"{columns} {verb} gaps ({lacking}), too few, or too few values beside them, to say what these go with."


def _more(pair: GapPair, short: Callable[[str], str] = str) -> str:
    """Where a column is missing more often."""
    more, column = pair.upper > pair.lower, short(pair.column)
    if pair.side.way == "level":
        other = {"yes": "no", "no": "yes"}.get(pair.side.level, f"not {short(pair.side.level)}")
        where = f"where {column} is {short(pair.side.level) if more else other}"
    elif pair.side.way == "far":
        where = f"where {column} is {'far from' if more else 'near'} its middle"
    elif pair.side.way == "order":
        where = f"in {'later' if more else 'earlier'} rows of the data"
    else:
        where = f"where {column} is {'high' if more else 'low'}"
    return f"{short(pair.lacking)} is missing more often {where}"


def _shares(pair: GapPair) -> str:
    """The share missing on both sides, the larger first."""
    column = pair.column
    names = {
        "level": ("there", "elsewhere"),
        "far": (f"of the half of rows farthest from the middle of {column}", "of the other half"),
        "order": ("of the last quarter of the rows", "of the first"),
    }.get(pair.side.way, (f"of the quarter of rows with the highest {column}", "of that with the lowest"))
    upper, lower = percent(pair.upper), percent(pair.lower)
    if pair.upper >= pair.lower:
        return f"{upper} {names[0]}, {lower} {names[1]}"
    turned = {
        "level": ("there", "elsewhere"),
        "far": (f"of the half of rows nearest to the middle of {column}", "of the other half"),
        "order": ("of the first quarter of the rows", "of the last"),
    }.get(pair.side.way, (f"of the quarter of rows with the lowest {column}", "of that with the highest"))
    return f"{lower} {turned[0]}, {upper} {turned[1]}"


def untested_line(found: MissingValues) -> str:
    """How many columns have gaps, where nothing can be compared."""
    return f"{counted(len(found.columns), 'column')} with gaps: too few to say what these go with"


def run_sentence(found: MissingValues, run: Run) -> str:
    """Rows in a row that lack a column."""
    drawn = "" if found.rows == found.total else ", of those drawn"
    return f"Rows {count(run.first)} to {count(run.last)}{drawn} all lack {run.column}."


def _first_of_each(pairs: tuple[GapPair, ...]) -> list[GapPair]:
    """For each column that lacks values, the pair that is least likely by chance."""
    first: dict[str, GapPair] = {}
    for pair in pairs:
        first.setdefault(pair.lacking, pair)
    return list(first.values())


def _others(found: MissingValues, family: Family, told: int = 1) -> str:
    more = len(family.standing(found.level)) - told
    return f" {counted(more, 'more pair')} {'is' if more == 1 else 'are'} listed on the page." if more > 0 else ""
