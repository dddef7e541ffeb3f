"""Missing links, surprising links, and how well each score tells links."""

from __future__ import annotations

from collections.abc import Sequence

from assay.models.network.link_prediction.prediction import CALLED, SHORT
from assay.questions.links.answer import LinksTold
from assay.views.axes.numbers import count, number, percent, probability
from assay.views.html.elements import name_cell, table
from assay.views.html.escape import escaped
from assay.views.html.view import View
from assay.views.network.link_scores import link_scores

_SHOWN = 30


def views(told: LinksTold) -> list[View]:
    """How well each score does; where links can be told, tables of missing and of surprising ones.

    Args:
        told: the numbers behind the findings.
    """
    made = [_scores(told)]
    if told.told and told.missing:
        made.append(_missing(told))
    if told.told and told.surprising:
        made.append(_surprising(told))
    return made


def _block(name: str, title: str, words: str, heads: Sequence[str], rows: list[list[str]]) -> View:
    """A table with words above it, which a block of the page has no other place for."""
    numbers = table(title, heads, rows, numeric=range(2, len(heads)))
    return View(name, title, None, (), words, f'<p class="aside">{escaped(words)}</p>{numbers}')


def _ends(told: LinksTold) -> list[str]:
    return ["From", "To"] if told.directed else ["Node", "Other node"]


def _missing(told: LinksTold) -> View:
    rows = [
        [name_cell(one.source), name_cell(one.target), number(one.score), percent(one.chance), count(one.common)]
        for one in told.missing
    ]
    heads = [*_ends(told), "Score", "Would be a link", "Nodes between" if told.directed else "In common"]
    if not any(one.common for one in told.missing):  # a score may know links of nodes that share nobody
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    right = sum(one.chance for one in told.missing)
    caption = (
        f'The {len(rows)} pairs that are not linked and look most like links, by {CALLED[told.found.score]}. "Would be '
        f'a link" is the share of pairs with such a score that were hidden links, when {percent(told.found.hidden)} of '
        f"all were hidden: about {right:.0f} of these {len(rows)}. Where fewer are missing, fewer of these are. Of the "
        f"20 best pairs of such a test {percent(told.found.precision)} were hidden links, of the 20 best by numbers of "
        f"links alone {percent(told.found.precision_degrees)}."
    )
    return _block("missing-links", "Links that may be missing", caption, heads, rows)


def _surprising(told: LinksTold) -> View:
    assert told.odd is not None
    odd = told.odd
    many = min(told.surprising, _SHOWN)
    rows = [
        [
            name_cell(told.found.name(int(odd.sources[i]))), name_cell(told.found.name(int(odd.targets[i]))),
            count(int(odd.common[i])), number(float(odd.expected[i])),
            probability(float(told.odd_q[i])).removeprefix("= "),
        ]
        for i in range(many)
    ]  # fmt: skip
    heads = [*_ends(told), "In common", "By chance", "q"]
    some = "" if many == told.surprising else f" The first {many} of {count(told.surprising)}."
    caption = (
        "Links whose ends share fewer neighbours than nodes with as many links do in random networks, all links "
        f"counted.{some} A link has no part in the neighbours its ends share."
    )
    return _block("surprising-links", "Surprising links", caption, heads, rows)


def _scores(told: LinksTold) -> View:
    by_score = told.found.by_score()
    rows = [[CALLED[name], percent(like), percent(every)] for name, (like, every) in by_score.items()]
    chosen = len({fold.chosen for fold in told.found.folds})
    drawn = link_scores(
        [SHORT[name] for name in by_score], [like for like, _ in by_score.values()],
        [every for _, every in by_score.values()], by_chance=told.chance.tolist(),
    )  # fmt: skip
    caption = (
        "How often an unseen link scores above a pair that is not linked, in five folds of links. Pairs are drawn in "
        "two ways: their ends have like numbers of links, which is what the finding is about; or each is as likely, "
        "and then numbers of links alone tell most. In random networks with the same numbers of links the score is "
        "chosen anew. "
        f"Weights are not used. {'One score was' if chosen == 1 else f'{chosen} scores were'} chosen in the five folds."
    )
    heads = ["Score", "Above a pair with as many links", "Above any pair"]
    numbers = table("How well links are told", heads, rows, numeric=(1, 2))
    return View("link-scores", "How well links are told", drawn, (), " ".join([caption, *told.found.limits()]), numbers)
