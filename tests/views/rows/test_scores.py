"""Maps of rows and columns: true to the numbers, one source for all."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import BoxSelectTool, PlainText
from bokeh.models.annotations.arrows import Arrow
from bokeh.models.annotations.labels import Label

from assay.errors import ParameterError
from assay.views.rows.scores import ARROWS, biplot, score_by_row, score_pair, score_source, score_strip

RNG = np.random.default_rng(0)
SCORES = RNG.standard_normal((50, 3))
SHARE = np.array([0.5, 0.3, 0.2])
LOADINGS = RNG.uniform(-1, 1, (30, 3))
NAMES = [f"column {j}" for j in range(30)]


def source():
    return score_source(SCORES, np.arange(1, 51))


def arrows(plot):
    (drawn,) = [a for a in plot.center if isinstance(a, Arrow)]
    return drawn.source.data


def test_points_lie_where_the_scores_are():
    rows = source()
    np.testing.assert_array_equal(np.stack([rows.data[f"c{j}"] for j in (1, 2, 3)], axis=1), SCORES)
    np.testing.assert_array_equal(rows.data["row"], np.arange(1, 51))
    marks = score_pair(rows, 1, 3, SHARE).renderers[0]
    assert (marks.glyph.x, marks.glyph.y) == ("c1", "c3")


def test_the_longest_arrows_are_drawn_all_stretched_alike():
    data = arrows(biplot(source(), LOADINGS, NAMES, SHARE))
    length = np.linalg.norm(LOADINGS[:, :2], axis=1)
    expected = {NAMES[i] for i in np.argsort(length)[-ARROWS:]}
    assert set(data["name"]) == expected
    rows = [NAMES.index(name) for name in data["name"]]
    stretch = np.stack([data["x"], data["y"]], axis=1) / LOADINGS[rows, :2]
    np.testing.assert_allclose(stretch, stretch[0, 0])
    assert stretch[0, 0] > 0


def test_names_are_written_beside_arrows_and_never_read_as_mathematics():
    plot = biplot(source(), LOADINGS[:3], ["$$x^2$$", "\\(y\\)", "a name that is much too long for a figure"], SHARE)
    labels = [a.text for a in plot.center if isinstance(a, Label)]
    assert all(isinstance(text, PlainText) for text in labels)
    assert {"$$x^2$$", "\\(y\\)"} < {text.text for text in labels}
    assert max(len(text.text) for text in labels) <= 18
    assert "a name that is much too long for a figure" in arrows(plot)["name"]


def test_columns_that_have_no_part_in_the_components_get_no_arrow():
    plot = biplot(source(), np.zeros((4, 2)), list("abcd"), SHARE)
    assert not [a for a in plot.center if isinstance(a, Arrow)]


def test_every_figure_draws_rows_from_the_one_source():
    rows = source()
    plots = [
        biplot(rows, LOADINGS, NAMES, SHARE), score_pair(rows, 1, 3, SHARE), score_by_row(rows, 1, SHARE),
        score_strip(rows, SHARE),
    ]  # fmt: skip
    for plot in plots:
        assert plot.renderers[0].data_source is rows
        assert isinstance(plot.toolbar.active_drag, BoxSelectTool)
        assert plot.toolbar.active_scroll is None


@pytest.mark.parametrize("scores", [np.zeros((5, 2)), np.full((1, 2), 3.0), np.empty((0, 2))])
def test_degenerate_scores_can_be_drawn(scores):
    rows = score_source(scores, np.arange(len(scores)))
    data = arrows(biplot(rows, LOADINGS, NAMES, SHARE))
    assert np.all(np.isfinite(data["x"]))
    score_strip(rows, SHARE)
    score_by_row(rows, 1, SHARE)


def test_mismatched_input_is_refused():
    with pytest.raises(ParameterError, match=r"got shape \(50, 3\) and row numbers \(3,\)"):
        score_source(SCORES, [1, 2, 3])
    with pytest.raises(ParameterError, match="names are one per column; got 2 for 30 columns"):
        biplot(source(), LOADINGS, ["a", "b"], SHARE)


def test_a_name_is_written_nearer_to_its_own_arrow_than_to_any_other_or_not_at_all():
    rng = np.random.default_rng(3)
    for _ in range(5):
        turn = rng.uniform(0, 2 * np.pi, ARROWS)
        loadings = np.stack([np.cos(turn), np.sin(turn)], axis=1) * rng.uniform(0.3, 1, (ARROWS, 1))
        plot = biplot(source(), loadings, [f"a long column {j}" for j in range(ARROWS)], SHARE)
        data = arrows(plot)
        tips = np.stack([data["x"], data["y"]], axis=1)
        written = [part for part in plot.center if isinstance(part, Label)]
        assert len(written) >= 4
        spans = [plot.renderers[-1].data_source.data[k] for k in ("x", "y")]
        pixels = min(
            380 / np.ptp(np.r_[spans[0], tips[:, 0], SCORES[:, 0]]),
            330 / np.ptp(np.r_[spans[1], tips[:, 1], SCORES[:, 1]]),
        )
        for name in written:
            middle = np.array([name.x, name.y]) * pixels + (name.x_offset, name.y_offset)
            half = np.array([8.0 * len(name.text.text), 17.0]) / 2
            far = np.linalg.norm(np.maximum(np.abs(middle - tips * pixels) - half, 0), axis=1)
            own = np.argmin(np.hypot(tips[:, 0] - name.x, tips[:, 1] - name.y))
            assert far[own] <= far.min() + 10


def test_levels_of_one_column_are_told_apart_by_their_names():
    names = ["education = primary school", "education = secondary school", "Milk"]
    plot = biplot(source(), [[0.9, 0.0, 0], [-0.9, 0.1, 0], [0.0, 0.9, 0]], names, SHARE)
    shown = {part.text.text for part in plot.center if isinstance(part, Label)}
    assert shown == {"…primary school", "…secondary school", "Milk"}


def test_the_unit_of_a_long_name_is_left_out_where_names_stay_different():
    names = ["sold (days since 2007-01-09)", "sold: weekday (Monday = 1)", "length of wing (mm)", "length of wing (cm)"]
    plot = biplot(
        score_source(np.eye(4)[:, :2], range(4)), [[0.9, 0], [0, 0.9], [-0.9, 0], [0, -0.9]], names, [0.5, 0.5]
    )
    labels = [words.text for words in plot.center if isinstance(words, Label)]
    written = {words.text if isinstance(words, PlainText) else words for words in labels}
    assert written == {"sold", "sold: weekday", "length of…ing (mm)", "length of…ing (cm)"}
