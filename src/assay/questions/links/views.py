"""Missing links, surprising links, and how well each score tells links."""

from __future__ import annotations

from assay.models.network.link_prediction.prediction import CALLED
from assay.questions.links.answer import LinksTold
from assay.views.elements import name_cell, table
from assay.views.numbers import count, number, percent, probability
from assay.views.view import View

_SHOWN = 30


def views(told: LinksTold) -> list[View]:
    """Tables; where links cannot be told, only how well each score does.

    Args:
        told: the numbers behind the findings.
    """
    made = []
    if told.told and told.missing:
        made.append(_missing(told))
    if told.told and told.surprising:
        made.append(_surprising(told))
    return [*made, _scores(told)]


def _missing(told: LinksTold) -> View:
    rows = [
        [name_cell(one.source), name_cell(one.target), number(one.score), count(one.common), percent(one.chance)]
        for one in told.missing
    ]
    heads = ["From" if told.directed else "Node", "To" if told.directed else "Node", "Score",
             "On the way" if told.directed else "In common", "Would be a link"]  # fmt: skip
    right = sum(one.chance for one in told.missing)
    caption = (
        f'The {len(rows)} pairs that are not linked and look most like links, by {CALLED[told.found.score]}. "Would be '
        f'a link" is the share of pairs with such a score that were hidden links, when {percent(told.found.hidden)} of '
        f"all were hidden: about {right:.0f} of these {len(rows)}. Where fewer are missing, fewer of these are. Of the "
        f"20 best pairs of such a test {percent(told.found.precision)} were hidden links, of the 20 best by numbers of "
        f"links alone {percent(told.found.precision_degrees)}."
    )
    caption = " ".join([caption, *told.found.limits()])
    return View("missing-links", "Links that may be missing", None, (), caption,
                table("Links that may be missing", heads, rows, numeric=(2, 3, 4)), "table")  # fmt: skip


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
    heads = ["From" if told.directed else "Node", "To" if told.directed else "Node", "In common", "By chance", "q"]
    some = "" if many == told.surprising else f" The first {many} of {count(told.surprising)}."
    caption = (
        "Links whose ends share fewer neighbours than nodes with as many links do in random graphs, all links "
        f"counted.{some} A link has no part in the neighbours its ends share."
    )
    return View("surprising-links", "Surprising links", None, (), caption,
                table("Surprising links", heads, rows, numeric=(2, 3, 4)), "table")  # fmt: skip


def _scores(told: LinksTold) -> View:
    rows = [[CALLED[name], percent(like), percent(every)] for name, (like, every) in told.found.by_score().items()]
    chosen = len({fold.chosen for fold in told.found.folds})
    caption = (
        "How often an unseen link scores above a pair that is not linked, in five folds of links: pairs whose ends "
        "have like numbers of links, and pairs drawn from all alike, which numbers of links alone tell already. "
        f"Weights are not used. {'One score was' if chosen == 1 else f'{chosen} scores were'} chosen in the folds."
    )
    heads = ["Score", "Against pairs of like degrees", "Against any pair"]
    return View("link-scores", "What tells links", None, (), caption,
                table("What tells links", heads, rows, numeric=(1, 2)), "table")  # fmt: skip
