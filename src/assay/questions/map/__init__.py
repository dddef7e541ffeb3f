"""Does a map of the rows show more than chance?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Option, Question

if TYPE_CHECKING:
    from assay.asking.table import Table
    from assay.questions.map.answer import RowMap


class _Map(Question):
    name = "map"
    wording = "Does a map of the rows show more than chance?"
    reading = (
        "The map puts rows that are alike near each other; it is as good as the share of nearest rows that it "
        "keeps. Sizes of clusters and distances between far ones mean little on it."
    )
    guide = "guide/embeddings.md"
    priority = 70
    costly = True
    options = (
        Option(
            "map_method",
            "How the map of the rows is drawn: tsne, pca, isomap, mds, classical-mds, diffusion or kernel-pca.",
        ),
    )

    def asked_for(self, context: Context) -> bool:
        if (method := context.options["map_method"]) is not None:
            from assay.models.row_maps import map_method

            map_method(method)  # refused before anything is read
        return True

    def why_not(self, table: Table, context: Context) -> str:
        from assay.questions.map.test import FEWEST_COLUMNS, FEWEST_ROWS

        if len(table.sample) < FEWEST_ROWS:
            return f"it takes {FEWEST_ROWS} rows"
        return "" if len(set(table.groups.tolist())) >= FEWEST_COLUMNS else f"it takes {FEWEST_COLUMNS} columns"

    def ask(self, table: Table, context: Context) -> RowMap | None:
        from assay.questions.map.test import DRAWS, row_map

        return row_map(
            table.sample,
            table.numbers,
            groups=table.groups,
            design=table.sample_design,
            level=context.level,
            seed=context.seed,
            draws=context.by_effort(DRAWS, DRAWS, 2 * DRAWS + 1),
            method=context.options["map_method"] or "tsne",
            progress=context.told("Map of the rows"),
        )


QUESTION = _Map()
