"""The links in the order of the communities, and the communities one by one."""

from __future__ import annotations

import numpy as np

from assay.asking.words import SURVIVED, listed
from assay.questions.communities.answer import Clustered
from assay.questions.communities.words import back
from assay.views.axes.numbers import count, percent
from assay.views.html.elements import name_cell, table
from assay.views.html.escape import escaped
from assay.views.html.view import View
from assay.views.network.drawn_links import DrawnLinks
from assay.views.network.matrix import ordered_matrix

_ROWS = 40


def views(found: Clustered) -> list[View]:
    """The matrix of the links and the table of communities; nothing where none stand out.

    Args:
        found: the numbers behind the finding.
    """
    if found.evidence.verdict not in SURVIVED or found.left is None:
        return []
    return [
        View(
            "communities", "The links, nodes in the order of their communities", _matrix(found), (),
            "A cell stands out where links are many. Inside communities, along the diagonal, there are more than "
            "elsewhere; lines part them. Nodes without a community of three or more come last.",
            _table(found), "rows",
        )
    ]  # fmt: skip


def _matrix(found: Clustered) -> object:
    """Nodes by community, in each the best linked first."""
    labels = found.labels
    a, b, w = found.links.ends.sources, found.links.ends.targets, found.links.weights
    strength = np.bincount(a, w, minlength=found.links.n) + np.bincount(b, w, minlength=found.links.n)
    order = np.lexsort((-strength, labels))
    called = [found.called(c) for c in range(found.k)]
    groups = [called[label] if label < found.k else "" for label in labels]
    names = [found.node_name(i) for i in range(found.links.n)]
    return ordered_matrix(DrawnLinks(a, b, w, order), names=names, groups=groups)


def _table(found: Clustered) -> str:
    left = found.left
    if left is None:
        return ""
    heads = [
        "Community",
        "Nodes",
        "Best linked",
        "Links inside",
        "Unseen links inside",
        "By chance",
        "Comes back",
    ]
    rows = [
        [
            count(c + 1),
            count(int(found.sizes[c])),
            name_cell(listed(found.central(c))),
            percent(found.inside(c)),
            _share(float(left.own_inside[c])),
            _share(float(left.own_expected[c])),
            escaped(back(found, c)),
        ]
        for c in range(min(found.k, _ROWS))
    ]
    scope = f"; the {_ROWS} largest of {count(found.k)}" if found.k > _ROWS else ""
    caption = (
        "The communities; links inside: of those of its nodes; comes back: what each has in common with the nearest "
        f"community found without a fifth of the links{scope}"
    )
    return table(caption, heads, rows, numeric=(1, 3, 4, 5))


def _share(value: float) -> str:
    return percent(value) if np.isfinite(value) else "none known"
