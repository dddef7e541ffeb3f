"""The views behind the findings on components: what is drawn, said under it, and tabled for those who do not see it."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.asking.page import Page, Plane
from assay.asking.words import BADGES, chances
from assay.questions.components.answer import Components
from assay.views.axes.numbers import MISSING, count, counted, fraction, number, percent, told_apart
from assay.views.columns.spectrum import SHOWN, cumulative, scree
from assay.views.html.elements import details, heat_cell, name_cell, table
from assay.views.html.escape import visible
from assay.views.html.searchable import searchable
from assay.views.html.view import View
from assay.views.rows.scores import ARROWS, biplot, score_by_row, score_pair, score_source, score_strip

COLUMNS = 40
_SEARCHABLE = 5000
_COMPONENTS = 6
_EXTREME = 10


def views(result: Components, page: Page) -> list[View]:
    """Spectrum, loadings, and the rows along what is real.

    Args:
        result: the numbers behind the findings.
        page: what figures share.
    """
    if len(result.columns) == 1:  # the one component is the column itself
        return []
    return [
        *spectrum_views(result), *_made_of(result), *score_views(result, page.source), *_not_drawn(result)
    ]  # fmt: skip


def _made_of(result: Components) -> list[View]:
    if not result.n_told:
        return []
    heat, every = loading_tables(result)
    more = details(f"Find any of the {count(len(result.columns))} columns", every) if every else ""
    return [View("loadings", "What the components are made of", numbers=f'<div class="heats">{heat}</div>{more}')]


def _not_drawn(result: Components) -> list[View]:
    if not result.n_told:
        why = "which directions these have cannot be told" if result.n_real else "their axes would be noise"
    elif not len(result.scores):
        why = "they were summarised, not kept"
    else:
        return []
    return [View("no-scores", caption=f"The rows are not drawn along components: {why}.", about="rows")]


def spectrum_views(result: Components) -> list[View]:
    """How many components stand above chance, and how much they carry.

    Args:
        result: the numbers behind the findings on components.
    """
    drawn = scree(
        result.values,
        share=result.share,
        n_real=result.n_real,
        chance_median=result.chance_median,
        chance_upper=result.chance_upper,
        p=[np.nan if e.p is None else e.p for e in result.tested],
        law=(float(result.law.lower), float(result.law.upper)),
    )
    total = cumulative(result.share, held_out=result.held_out, n_real=result.n_real)
    return [
        View(
            "scree",
            "Components against chance",
            drawn,
            (
                *((("dot filled", "above chance"),) if result.n_real else ()),
                ("dot hollow", "not above chance"),
                ("bar", "what chance reaches: half of the time, one time in twenty"),
                ("band", "where noise alone would lie"),
            ),
            _scree_words(result),
            _scree_table(result),
        ),
        View(
            "cumulative",
            "Variance carried together",
            total,
            (("line solid", "on these rows"), *((("line dashed", "on unseen rows"),) if len(result.held_out) else ())),
            _cumulative_words(result),
            _cumulative_table(result),
        ),
    ]


def offers(result: Components, page: Page) -> None:
    """Offer the rows drawn, held once for every figure of them, where a direction is known and rows were kept."""
    if result.n_told == 0 or not len(result.scores):
        return
    page.source = score_source(result.scores, np.asarray(result.score_rows) + 1)
    if result.scores.shape[1] > 1:
        axes = [f"component {j + 1} ({percent(float(result.share[j]))} of variance)" for j in range(2)]
        page.plane = Plane(result.scores[:, :2], (axes[0], axes[1]))


def score_views(result: Components, source: Any) -> list[View]:
    """Where the rows lie along the components whose directions are known; none are drawn along noise.

    Args:
        result: the numbers behind the findings on components.
        source: of the rows drawn; None where no direction is known or no rows were kept.
    """
    if result.n_told == 0 or source is None:
        return []
    share = np.asarray(result.share)
    kept = min(result.n_told, result.scores.shape[1])
    names = [visible(name) for name in result.columns]
    views: list[tuple[str, str, Any, tuple[tuple[str, str], ...], str]] = []
    if kept >= 2:
        arrows = min(ARROWS, len(result.columns))
        which = "every column" if arrows == len(result.columns) else f"the {arrows} columns that weigh most"
        views.append((
            "biplot", "Rows and columns on components 1 and 2",
            biplot(source, result.loadings, names, share),
            (("dot soft", "a row"), ("arrow", "a column, pointing where it grows")),
            f"Arrows for {which}: arrows close together mean columns that go together.",
        ))  # fmt: skip
    if kept >= 3:
        views.append((
            "pair", "Rows on components 1 and 3", score_pair(source, 1, 3, share), (("dot soft", "a row"),),
            "The same rows seen along the third component.",
        ))  # fmt: skip
    if kept == 1:
        views.append((
            "strip", "Rows on component 1", score_strip(source, share), (("dot soft", "a row"),),
            "The strip is thick where rows are many; only one direction is known, so there is no second axis.",
        ))  # fmt: skip
    views.append((
        "order", "Component 1 in the order of the rows", score_by_row(source, 1, share), (("dot soft", "a row"),),
        "A drift, waves or steps would mean that rows depend on their order.",
    ))  # fmt: skip
    tables = {views[0][0]: _extreme_table(result, kept), "order": _order_table(result)}
    return [View(*view, numbers=tables.get(view[0], ""), about="rows") for view in views]


def loading_tables(result: Components) -> tuple[str, str]:
    """Correlations of columns with known directions: the largest as a heat table, and all in a searchable one.

    Args:
        result: the numbers behind the findings on components.

    Returns:
        The heat table, and the searchable table where there are more columns than the first one shows; else "".
    """
    loadings = np.asarray(result.loadings)[:, : min(result.n_told, _COMPONENTS)]
    size, leading = np.abs(loadings).max(axis=1), np.abs(loadings).argmax(axis=1)
    largest = np.argsort(-size, kind="stable")
    # below the columns that make a component, in its order, those that make none
    makes = size >= 0.5 * np.abs(loadings).max(axis=0)[leading]
    shown = sorted(largest[:COLUMNS], key=lambda i: (not makes[i], leading[i] if makes[i] else 0, -size[i]))
    heads = ["Column", *(f"Component {j + 1}" for j in range(loadings.shape[1]))]
    numeric = range(1, len(heads))
    caption = "Correlation of each column with the components"
    if result.n_told > loadings.shape[1]:
        caption += f" (the first {loadings.shape[1]} of {result.n_told})"
    if len(result.columns) > COLUMNS:
        caption += f"; the {COLUMNS} columns with the largest of {count(len(result.columns))}"
    heat = table(
        caption, heads, [[name_cell(result.columns[i]), *map(heat_cell, loadings[i])] for i in shown], numeric=numeric
    )
    if len(result.columns) <= COLUMNS:
        return heat, ""
    every = largest[:_SEARCHABLE]
    scope = (
        "All columns"
        if len(every) == len(result.columns)
        else f"The {count(len(every))} columns with the largest correlations"
    )
    rows = ([result.columns[i], *map(fraction, loadings[i])] for i in every)
    return heat, searchable("all-columns", f"{scope}, by size", heads, rows, numeric=numeric)


def _scree_words(result: Components) -> str:
    law = f"Noise of {count(result.n)} rows and {counted(result.d, 'column')} alone would lie between "
    law += f"{number(float(result.law.lower))} and {number(float(result.law.upper))}."
    bent = f"bends after component {result.knee}" if result.knee else "has no bend"
    bend = f"The curve {bent}; that is what the eye goes by, not a test."
    tested = [e for e in result.tested if e.null is not None]
    if not tested:
        return f"{law} {bend}"
    pairs = [told_apart(number, [e.statistic, e.null.upper], 3) for e in tested[:4] if e.null]
    parts = [f"{size} against {reach}" for size, reach in pairs]
    more = ", and so on" if len(tested) > len(parts) else ""
    return f"Eigenvalues against what chance reaches, in order: {'; '.join(parts)}{more}. {law} {bend}"


def _scree_table(result: Components) -> str:
    rows = []
    for j in range(min(len(result.values), SHOWN)):
        tested = result.tested[j] if j < len(result.tested) else None
        rows.append([
            str(j + 1), number(float(result.values[j])), percent(float(result.share[j])),
            *(
                number(float(x[j])) if j < len(x) else MISSING
                for x in (result.chance_median, result.chance_upper)
            ),
            chances(tested)[0].removeprefix("= ") if tested else MISSING,
            BADGES[tested.verdict][1] if tested else "Not tested: below one that fell",
        ])  # fmt: skip
    heads = ["Component", "Eigenvalue", "Share", "Chance, median", "Chance, 95% point", "p", "Verdict"]
    return table("Eigenvalues and chance", heads, rows, numeric=range(6))


def _cumulative_words(result: Components) -> str:
    k = min(max(result.n_real, 1), len(result.held_out))
    if not k:
        return ""
    who = {0: "The largest component carries", 1: "The one component above chance carries"}.get(
        result.n_real, f"The first {k} components carry"
    )
    inside, unseen = float(result.share[:k].sum()), float(result.held_out[:k].sum())
    return f"{who} {percent(inside)} of the variance on the rows at hand and {percent(unseen)} on unseen rows."


def _cumulative_table(result: Components) -> str:
    inside, unseen = np.cumsum(result.share), np.cumsum(result.held_out)
    rows = []
    for j in range(min(len(inside), SHOWN)):
        own, span = MISSING, MISSING
        if j < len(unseen):
            own = percent(float(result.held_out[j]))
            span = " to ".join(percent(float(end)) for end in result.held_out_interval[j])
        rows.append([
            str(j + 1), percent(float(result.share[j])), percent(float(inside[j])), own, span,
            percent(float(unseen[j])) if j < len(unseen) else MISSING,
        ])  # fmt: skip
    heads = [
        "Components", "Share of the last", "All together",
        "Share of the last, unseen rows", "95% interval", "All together, unseen rows",
    ]  # fmt: skip
    return table("Variance carried, on these rows and on unseen ones", heads, rows, numeric=range(6))


def _extreme_table(result: Components, kept: int) -> str:
    scores, rows = np.asarray(result.scores)[:, : min(kept, 3)], np.asarray(result.score_rows) + 1
    far = np.argsort(-(scores**2).sum(axis=1), kind="stable")[:_EXTREME]
    heads = ["Row", *(f"Component {j + 1}" for j in range(scores.shape[1]))]
    cells = [[str(rows[i]), *(number(float(score)) for score in scores[i])] for i in far]
    caption = f"The {len(far)} rows farthest from the middle, in standard deviations"
    return table(caption, heads, cells, numeric=range(len(heads)))


def _order_table(result: Components) -> str:
    rows, scores = np.asarray(result.score_rows) + 1, np.asarray(result.scores)[:, 0]
    parts = np.array_split(np.arange(len(rows)), min(10, len(rows)))
    cells = [
        [
            f"{rows[part[0]]:,} to {rows[part[-1]]:,}",
            number(float(scores[part].mean())),
            number(float(scores[part].std())),
        ]
        for part in parts
    ]
    heads = ["Rows", "Mean", "Standard deviation"]
    return table("Component 1 in ten parts of the data", heads, cells, numeric=(1, 2))
