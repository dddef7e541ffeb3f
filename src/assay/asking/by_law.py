"""What a law of chance says of a summary alone: one finding in words and numbers, with no rows to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.page import Page
from assay.asking.words import Words
from assay.data.as_frames import table_of
from assay.evidence.evidence import Evidence, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

    from assay.views.html.view import View


_SHORT = 20  # rows of a table that needs no search


@dataclass(frozen=True, slots=True)
class Listing:
    """Numbers behind a finding, as a table.

    Attributes:
        name: used in ids.
        title: what it is about.
        caption: what the numbers are.
        heads: of its columns.
        rows: cells as plain text; the first names the row, the others are numbers.
    """

    name: str
    title: str
    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def view(self) -> View:
        """As part of a page."""
        from assay.views.html.elements import NAME, table
        from assay.views.html.escape import escaped, visible
        from assay.views.html.searchable import searchable
        from assay.views.html.view import View

        numeric = range(1, len(self.heads))
        if len(self.rows) > _SHORT:
            return View(
                self.name,
                self.title,
                numbers=searchable(self.name, self.caption, self.heads, self.rows, numeric=numeric, of="a row"),
            )
        cells = [[escaped(visible(cell, NAME)) for cell in row] for row in self.rows]
        return View(self.name, self.title, numbers=table(self.caption, self.heads, cells, numeric=numeric))


@dataclass(frozen=True, slots=True, eq=False)
class ByLaw(Answer):
    """An answer from moments.

    Attributes:
        kind: of its finding.
        subject: what it is about.
        line: of the finding, by the verdict and what other questions cost.
        say: the sentence, likewise.
        listed: the numbers behind it, by what other questions cost.
        many: how many structures the finding counts, by what other questions cost.
        words: how its evidence is spoken of.
        correction: how looks are corrected for.
        holds: whether the effect is there on unseen rows, as far as moments tell.
        evidence: of the finding.
        factor: what every q was multiplied with, for the other questions of the study.
        listings: the numbers that a reader may want, by what other questions cost.
    """

    kind: str
    subject: str
    line: Callable[[Verdict, float], str]
    say: Callable[[Verdict, float], str]
    listed: Callable[[float], dict[str, Any]]
    many: Callable[[float], int]
    words: Words
    correction: str
    holds: bool
    evidence: Evidence
    factor: float = 1.0
    listings: Callable[[float], Sequence[Listing]] = lambda factor: ()

    @property
    def rule(self) -> str:
        """How looks are corrected for."""
        return self.correction

    def stricter(self, factor: float, level: float) -> ByLaw:
        """The same where other questions were asked too."""
        evidence = self.evidence.stricter(factor, level, effect_holds=self.holds)
        return replace(self, evidence=evidence, factor=self.factor * factor)

    def findings(self) -> tuple[Finding, ...]:
        """One."""
        sentence = self.say(self.evidence.verdict, self.factor)
        line = self.line(self.evidence.verdict, self.factor)
        return (Finding(self.kind, self.kind, self.subject, sentence, self.evidence, self.words, line=line),)

    def headline(self, verdict: Verdict) -> str:
        """What it counts, by its name."""
        return self.words.several(self.many(self.factor)) if verdict == self.evidence.verdict else ""

    def views(self, page: Page | None = None) -> Sequence[View]:
        """Tables: there are no rows to draw."""
        return [listing.view() for listing in self.listings(self.factor) if listing.rows]

    def numbers(self) -> dict[str, Any]:
        """The numbers behind the finding."""
        return self.listed(self.factor)

    def tables(self) -> dict[str, pa.Table]:
        """Lists of records, and numbers by the names of columns, among those numbers."""
        found = {}
        for name, value in self.numbers().items():
            if isinstance(value, dict) and value:
                found[name] = _spread([{"column": own, "value": each} for own, each in value.items()])
            elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
                found[name] = _spread(value)
        return found


def _spread(records: Sequence[dict[str, Any]]) -> pa.Table:
    """Records as a table; what holds several values becomes as many columns, numbered from 1."""
    flat = []
    for record in records:
        own: dict[str, Any] = {}
        for name, value in record.items():
            several = list(value.values()) if isinstance(value, dict) else value
            if isinstance(several, (list, tuple)):
                own |= {f"{name}_{k}": one for k, one in enumerate(several, 1)}
            else:
                own[name] = several
        flat.append(own)
    names = dict.fromkeys(name for own in flat for name in own)
    return table_of({name: [own.get(name) for own in flat] for name in names})
