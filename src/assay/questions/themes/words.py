"""Themes in plain words: how many, which words make each, on unseen texts, against chance."""

from __future__ import annotations

from collections.abc import Callable

from assay.asking.words import BADGES, SURVIVED, Words, chance, chances, one_line
from assay.evidence.evidence import Verdict
from assay.questions.themes.answer import ColumnThemes, TextThemes, Theme
from assay.views.axes.numbers import count, counted, percent
from assay.views.html.elements import table
from assay.views.html.escape import escaped

WORDS = Words(
    "theme",
    "themes",
    statistic="Strength of the weakest, where 1 is the strongest that chance usually gives,",
    unseen="On texts that were not used to find it",
    held_out="more spread along it than chance gives",
    held_out_format=percent,
    units=("text", "texts"),
    reading="A theme is a direction along which texts differ by words that are used together, and others that are "
    "used instead. Chance exchanges words between texts, where each text keeps how many different words it has and "
    "each word in how many texts it is; so neither long texts, nor common words, nor a word that one text uses again "
    "and again make a theme. Texts that repeat others count once.",
)
_NAMED, _WORDS = 3, 4


def line(found: ColumnThemes) -> str:
    """How many themes, and the words of the first."""
    verdict, which = found.best, found.having(found.best)
    if verdict == "not testable here":
        return one_line(lambda short: f"Too few texts in {short(found.column)} to tell whether they share themes")
    if verdict not in SURVIVED:
        return one_line(lambda short: f"The texts in {short(found.column)} share no theme beyond chance")
    many = "one theme" if len(which) == 1 else f"{len(which)} themes"
    share = "share" if verdict == "supported" else "may share"
    ends = [words[:2] for words in (which[0].towards, which[0].away) if words]

    def said(short: Callable[[str], str]) -> str:
        made = " against ".join(", ".join(map(short, words)) for words in ends)
        return f"The texts in {short(found.column)} {share} {many}, the first {made}"

    return one_line(said)


def sentence(found: ColumnThemes) -> str:
    """How many themes there are, of which words, on unseen texts, and what was left out."""
    evidence, which = found.evidence, found.having(found.best)
    if evidence.verdict == "not testable here":
        return (
            f"Whether the texts in {found.column} share themes cannot be told: {counted(found.looked, 'text')} with "
            f"{counted(found.terms, 'word')} that five texts share {'is' if found.looked == 1 else 'are'} too few."
        )
    if evidence.verdict not in SURVIVED:
        return (
            f"The texts in {found.column} share no theme that shows: the strongest is {_times(which[0])} what chance "
            f"gives ({chance(which[0].evidence)}).{_left_out(found)}"
        )
    sure = evidence.verdict == "supported"
    weakest = " for the weakest" if len(which) > 1 else ""
    many = "one theme" if len(which) == 1 else f"{len(which)} themes"
    made = "; ".join(described(theme) for theme in which[:_NAMED])
    more = f"; {counted(len(which) - _NAMED, 'other')} below" if len(which) > _NAMED else ""
    held = "" if evidence.held_out is None else _unseen(len(which), evidence.held_out)
    return (
        f"The texts in {found.column} {'share' if sure else 'may share'} {many} ({chance(evidence)}{weakest}): "
        f"{made}{more}.{held}{_left_out(found)}"
    )


def described(theme: Theme) -> str:
    """The first words of a theme, and those that are used instead."""
    towards, away = ", ".join(theme.towards[:_WORDS]), ", ".join(theme.away[:_WORDS])
    return f"{towards} against {away}" if towards and away else towards or away


def headline(found: TextThemes, verdict: Verdict) -> str:
    """How many themes have this verdict."""
    many = sum(len(column.having(verdict)) for column in found.columns) if verdict in SURVIVED else 0
    return f"{WORDS.several(many)} of the texts" if many else ""


def inside(found: ColumnThemes) -> str:
    """The table of tested themes, as HTML."""
    rows = [
        [
            str(j + 1),
            f"<bdi>{escaped(', '.join(theme.towards))}</bdi>",
            f"<bdi>{escaped(', '.join(theme.away))}</bdi>",
            percent(theme.evidence.held_out),
            *(said.removeprefix("= ") for said in chances(theme.evidence)),
            BADGES[theme.evidence.verdict][1],
        ]
        for j, theme in enumerate(found.tested)
    ]
    heads = ["Theme", "Words", "Instead of", "Unseen texts, beyond chance", "p", "q", "Verdict"]
    return table("Every theme tested", heads, rows, numeric=(0, 3, 4, 5))


def _times(theme: Theme) -> str:
    return percent(theme.evidence.statistic)


def _unseen(many: int, held_out: float) -> str:
    them, along = ("it", "along it") if many == 1 else ("them", "along the weakest of them")
    return f" Texts that were not used to find {them} spread {percent(held_out)} more {along} than chance gives."


def _left_out(found: ColumnThemes) -> str:
    read = "" if found.drawn == found.texts else f" {count(found.drawn)} of {count(found.texts)} texts were read."
    few, again = found.drawn - found.looked - found.repeated, found.repeated
    out = []
    if again:
        out.append(f"{counted(again, 'text')} that {'repeats' if again == 1 else 'repeat'} others")
    if few:
        out.append(f"{count(few)} with fewer than two words that others use too")
    return f"{read} Left out: {' and '.join(out)}." if out else read
