"""Figures in a page: one document, the same text each time, nothing that ends the script."""

from __future__ import annotations

import json

import numpy as np

from assay.views.columns.spectrum import scree
from assay.views.html.embed import embed, library
from assay.views.rows.embedding import embedding_map
from assay.views.rows.scores import biplot, score_by_row, score_source


def figures(names=("a", "b")):
    rows = score_source(np.arange(8.0).reshape(4, 2), [1, 2, 3, 4])
    return {
        "scree": scree([1.5, 0.5], share=[0.75, 0.25], n_real=1),
        "biplot": biplot(rows, np.eye(2), names, [0.75, 0.25]),
        "order": score_by_row(rows, 1, [0.75, 0.25]),
    }


def parts(script):
    text = script.removeprefix("globalThis.assayViews = Bokeh.embed.embed_items(").removesuffix(");")
    documents, end = json.JSONDecoder().raw_decode(text)
    return documents["assay"], json.loads(text[end + 2 :])


def identifiers(value):
    if isinstance(value, dict):
        found = {value["id"]} if isinstance(value.get("id"), str) else set()
        return found.union(*map(identifiers, value.values()))
    return set().union(*map(identifiers, value)) if isinstance(value, list) else set()


def test_the_same_figures_give_the_same_text():
    first = embed(figures())
    assert embed(figures()) == first


def test_figures_share_one_document_and_one_source():
    script, places = embed(figures())
    document, items = parts(script)
    assert list(places) == ["scree", "biplot", "order"]
    assert list(items[0]["roots"].values()) == ["view-scree", "view-biplot", "view-order"]
    assert [root["id"] for root in document["roots"]] == items[0]["root_ids"]
    assert script.count('"name":"rows"') == 1


def test_a_figure_can_be_embedded_again():
    once = figures()
    assert embed(once) == embed(once)


def test_every_identifier_is_renumbered_and_data_that_look_like_one_are_not():
    names = ("p1001", "p1002")
    script, _ = embed(figures(names))
    document, _ = parts(script)
    assert all(identifier.startswith("m") for identifier in identifiers(document))
    assert all(name in script for name in names)


def test_nothing_in_the_data_ends_the_script():
    script, _ = embed(figures(("</script><script>1", "<!-- ]]> &amp; \u2028")))
    assert not set("<>&\u2028") & set(script)
    document, _ = parts(script)
    assert "</script><script>1" in json.dumps(document)


def test_the_library_is_the_core_alone_and_fits_in_a_script():
    text = library()
    assert len(text) < 2e6
    assert "</script" not in text.lower()
    assert "<!--" not in text


def test_a_still_figure_has_no_tools_and_the_figure_itself_keeps_them():
    plot = embedding_map([[0.0, 1.0], [1.0, 0.0]])
    assert '"toolbar_location":null' in embed({"a": plot}, still=True)[0]
    assert '"toolbar_location":null' not in embed({"a": plot})[0]
    assert plot.toolbar_location == "above"
