"""Documents and the words that pull them: every word in its direction, none acts, none without a place."""

import numpy as np
import pytest
from bokeh.models.annotations.labels import Label

from assay.errors import ParameterError
from assay.views.rows.documents import documents_map


def test_words_stand_where_they_pull_and_within_reach_of_the_documents():
    places = np.random.default_rng(0).uniform(-2, 2, (50, 2))
    pulls = np.array([[0.1, 0.0], [0.0, -0.2], [-0.1, 0.1]])
    plot = documents_map(places, np.arange(1, 51), ["east", "south", "\x1b[31m"], pulls, axes=("a", "b"))
    (marks,) = (r for r in plot.renderers if len(r.data_source.data.get("x", ())) == 3)
    x, y = np.asarray(marks.data_source.data["x"]), np.asarray(marks.data_source.data["y"])
    np.testing.assert_array_equal(np.sign(np.stack([x, y], axis=1)), np.sign(pulls))
    assert np.abs(x).max() <= np.abs(places[:, 0]).max() and np.abs(y).max() <= np.abs(places[:, 1]).max()
    written = {label.text.text for label in plot.select({"type": Label})}
    assert {"east", "south"} <= written and not any("\x1b" in str(text) for text in written)


def test_words_without_a_place_are_refused_and_none_are_needed():
    with pytest.raises(ParameterError, match="each word pulls somewhere; got 1 words and 0 places"):
        documents_map([[0.0, 1.0]], [1], ["tea"], np.empty((0, 2)), axes=("a", "b"))
    assert documents_map([[0.0, 1.0], [1.0, 2.0]], [1, 2], [], np.empty((0, 2)), axes=("a", "b")).renderers
