"""How evidence is spoken of: verdicts, chances, and the words of each kind of structure.

Every number of a finding is written by `assay.views.axes.numbers`, in its sentence, on its card and in the JSON alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from assay.asking.beyond import beyond, times
from assay.evidence.evidence import Evidence, Verdict
from assay.shown import shortened
from assay.views.axes.numbers import MISSING, count, counted, fraction, number, probability

BADGES: dict[Verdict, tuple[str, str]] = {
    "supported": ("✓", "Supported"),
    "suggestive": ("≈", "Suggestive"),
    "not distinguishable from chance": ("○", "Not distinguishable from chance"),
    "not testable here": ("–", "Not testable here"),
}
EXAMINED = ("structure examined", "structures examined")  # what a look of the ledger is called
LINE = 100  # letters of a finding's line
SURVIVED: tuple[Verdict, ...] = ("supported", "suggestive")
_NAMED = 4
_NAMES = (60, 40, 30, 26, 22, 19, 16, 14, 12, 10, 8, 5)  # letters of a name in a line, the first that fit
_SMALL = 0.05  # a p that a reader takes for something


@dataclass(frozen=True, slots=True)
class Words:
    """The words for one kind of structure.

    Attributes:
        noun: one of them.
        plural: several.
        statistic: what was measured.
        unseen: on what the effect was measured that was not used to find it.
        held_out: what the value there is of.
        held_out_format: how to write that value.
        statistic_format: how to write what was measured.
        units: one and several of what the evidence counts.
        stability: what stability means here.
        stability_format: how to write it.
        reading: how to read it, one or two sentences for the page's glossary.
        more: further terms of the card and what is said of them.
    """

    noun: str
    plural: str
    statistic: str = "statistic"
    unseen: str = "On unseen rows"
    held_out: str = ""
    held_out_format: Callable[[float | None], str] = number
    statistic_format: Callable[[float | None], str] = number
    units: tuple[str, str] = ("row", "rows")
    stability: str = "Comes back"
    stability_format: Callable[[float | None], str] = fraction
    reading: str = ""
    more: tuple[tuple[str, str], ...] = ()

    def several(self, many: int, of: int | None = None) -> str:
        """So many of them, of how many that could have been.

        >>> Words("component", "components").several(2, 8), Words("group", "groups").several(1)
        ('2 components of 8', '1 group')
        """
        return counted(many, self.noun, self.plural) + ("" if of is None else f" of {count(of)}")


def chances(evidence: Evidence) -> tuple[str, str]:
    """Write p and q; where no simulated draw did as well, both are bounds.

    >>> from assay.evidence.evidence import Null
    >>> chances(Evidence(statistic=3.1, p=.01, q=.02, held_out=None, interval=None, n=99, looks=8,
    ...                  method="permutation", verdict="suggestive", null=Null("shuffled", 1.0, 2.0, draws=99)))
    ('≤ .01', '≤ .02')
    """
    draws = evidence.null.draws if evidence.null else 0
    bound = draws > 0 and evidence.p is not None and evidence.p * (draws + 1) < 1 + 1e-9
    return probability(evidence.p, bound=bound), probability(evidence.q, bound=bound)


def chance(evidence: Evidence) -> str:
    """The p of a sentence; beside it q, where a small p falls by the number of tests.

    >>> chance(Evidence(1.0, p=.0312)), chance(Evidence(1.0))
    ('p = .031', 'no p')
    >>> chance(Evidence(1.0, p=.0312, q=.1872, verdict="not distinguishable from chance"))
    'p = .031, but .19 once every test is counted'
    """
    if evidence.p is None:
        return "no p"
    p, q = chances(evidence)
    fell = evidence.verdict == "not distinguishable from chance" and evidence.q is not None
    if fell and evidence.p <= _SMALL < (evidence.q or 0.0):
        return f"p {p}, but {q.removeprefix('= ')} once every test is counted"
    return f"p {p}"


def odds(evidence: Evidence) -> str:
    """How often chance does as well, every test counted, in few words; empty where nothing was tested.

    >>> [odds(Evidence(1.0, p=q, q=q)) for q in (1e-9, .0017, .046, .6, None)]
    ['below 1 in 10,000 by chance', '1 in 590 by chance', '1 in 22 by chance', 'usual by chance', '']
    """
    q = evidence.p if evidence.q is None else evidence.q
    if q is None:
        return ""
    if q > 0.4:
        return "usual by chance"
    said = chances(evidence)[1 if evidence.q is not None else 0]
    if said.startswith("<"):
        return "below 1 in 10,000 by chance"
    one_in = 1.0 / q
    digits = max(0, math.floor(math.log10(one_in)) - 1)
    bound = "at most " if said.startswith("≤") else ""
    return f"{bound}1 in {count(round(round(one_in, -digits)))} by chance"


def shown(evidence: Evidence, words: Words) -> list[tuple[str, str]]:
    """The evidence in terms and numbers, as they stand behind a finding."""
    p, q = chances(evidence)
    pairs = [("p, this test alone", p.removeprefix("= ")), ("q, every test counted", q.removeprefix("= "))]
    if evidence.held_out is not None:
        pairs.append((words.unseen, _held_out(evidence, words)))
    if evidence.stability is not None:
        pairs.append((words.stability, words.stability_format(evidence.stability)))
    if evidence.limit:
        pairs.append(
            ("Why at most suggestive" if evidence.verdict in SURVIVED else "What limits every test", evidence.limit)
        )
    return [
        *pairs,
        (words.units[1].capitalize(), count(evidence.n)),
        ("Structures examined", count(evidence.looks)),
        *words.more,
        ("How it was tested", evidence.method),
    ]


def evidence_line(evidence: Evidence) -> str:
    """How often chance does as well, and how far beyond it a finding lies; empty where nothing was tested.

    >>> evidence_line(Evidence(statistic=3.1, p=.01, q=.02, n=99, looks=8, verdict="suggestive"))
    "1 in 50 by chance (q = .02), 1.2 times chance's reach"
    """
    _, q = chances(evidence)
    found = beyond(evidence)
    parts = [] if q == MISSING else [f"{odds(evidence)} (q {q})"]
    if found is not None and found >= 1.0 and evidence.verdict in SURVIVED:
        parts.append(f"{times(found)} times chance's reach")
    return ", ".join(parts)


def one_line(say: Callable[[Callable[[str], str]], str]) -> str:
    """A line whose names are as long as fit: they lose their middle before the line loses its end.

    Args:
        say: writes the line with what shortens a name.

    >>> one_line(lambda short: f"{short('a' * 90)} and {short('b')} go together")
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaaaaaaaaaaaaaaaaaa and b go together'
    """
    line = ""
    for limit in _NAMES:
        line = say(partial(shortened, limit=limit))
        if len(line) <= LINE:
            break
    return line


def _held_out(evidence: Evidence, words: Words) -> str:
    said = f"{words.held_out_format(evidence.held_out)} {words.held_out}".strip()
    if evidence.interval is None:
        return said
    low, high = (words.held_out_format(end) for end in evidence.interval)
    return f"{said} ({low} to {high})"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, the first few where there are many.

    >>> listed(["a", "b"]), listed(list("abcdef"))
    ('a and b', 'a, b, c and 3 more')
    """
    if len(names) > _NAMED:
        return ", ".join(names[: _NAMED - 1]) + f" and {count(len(names) - _NAMED + 1)} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
