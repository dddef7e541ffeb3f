"""The data section and the first look: everything said once, safe, bounded, and usable with thousands of columns."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import sample_study

from assay.asking.card import Column, DataCard
from assay.report.data_section import data_section
from assay.report.first_look import array_views
from assay.report.histograms import HISTOGRAMS, histograms
from assay.report.page import render
from assay.study.findings import Ledger, Study
from assay.views.columns import array_plot
from assay.views.html import searchable as searchable_module
from assay.views.html.escape import visible
from assay.views.html.searchable import PLAIN, searchable


class Words(HTMLParser):
    """The words and tags of a piece of a page, and the text of its templates."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.kept, self.tags, self._inside = "", "", [], False
        self.labels: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.labels += [value or "" for name, value in attrs if name == "aria-label"]
        self._inside = self._inside or tag == "template"

    def handle_endtag(self, tag):
        self._inside = self._inside and tag != "template"

    def handle_data(self, data):
        if self._inside:
            self.kept += data
        else:
            self.words += data


def rows_of(text: str) -> list[list[str]]:
    """The rows that the page's script finds."""
    columns = json.loads(Words(text).kept)["columns"]
    return list(map(list, zip(*([c[0][i] for i in c[1]] if len(c) == 2 else c[0] for c in columns), strict=True)))


def card_of(*columns: Column, **known) -> Study:
    return Study(DataCard("a.csv", 200, 200, columns, **known), (), Ledger(), "0")


def test_everything_known_of_a_column_is_said():
    found = Words(data_section(sample_study.mixed())).words
    for column in sample_study.mixed().data.columns:
        for said in (column.name, column.kind, column.unit, column.role, column.encoded, column.typical, column.note,
                     column.suspicious, column.why):  # fmt: skip
            assert (said or "") in found
    assert "21,323 (10.8%)" in found
    assert "6 numbers, 2 counts, 1 identifier" in found
    assert "12 of 16" in found


def test_problems_keep_their_lines_and_the_header_leads_to_them():
    text = render(sample_study.mixed())
    found = Words(text).words
    for problem in sample_study.mixed().data.problems:
        assert found.count(problem) == 1
    assert '<a href="#problems">2 problems while reading</a>' in text
    assert "problems" not in data_section(card_of())


def test_many_problems_are_folded_and_the_rest_is_counted():
    text = data_section(card_of(problems=tuple(f"problem {j} {'x' * 9000}" for j in range(1000))))
    assert "<summary>992 more</summary>" in text
    assert "800 more are in the JSON." in text
    assert len(text) < 200_000


def test_what_no_column_has_is_not_a_column_of_the_table():
    text = data_section(card_of(Column("a", "number", used=True)))
    assert re.findall(r"<th scope=col[^>]*>([^<]+)", text) == ["Column", "Kind", "Use", "Missing"]


def test_forty_columns_are_a_plain_table_and_more_can_be_searched():
    columns = [Column(f"c{j}", "number", used=True) for j in range(41)]
    assert "template" not in Words(data_section(card_of(*columns[:40]))).tags
    found = data_section(card_of(*columns))
    assert "template" in Words(found).tags
    assert [row[0] for row in rows_of(found)] == [c.name for c in columns]


def test_columns_with_a_remark_come_first_and_numbers_tell_their_place():
    study = sample_study.broad()
    rows = rows_of(data_section(study))
    assert len(rows) == 5000
    remarked = [i + 1 for i, c in enumerate(study.data.columns) if c.note or c.suspicious]
    assert [int(row[1].replace(",", "")) for row in rows[: len(remarked)]] == remarked
    assert sorted(int(row[1].replace(",", "")) for row in rows) == list(range(1, 5001))


def test_five_thousand_columns_take_less_than_a_megabyte():
    assert len(data_section(sample_study.broad()).encode()) < 1e6


def test_the_first_hundred_rows_stand_in_the_page_without_scripts():
    text = searchable("t", "All", ["Column"], [[f"name {j}"] for j in range(300)])
    assert Words(text).tags.count("tr") == PLAIN + 1
    assert "The first 100 of 300" in text
    assert "The first 100" not in searchable("t", "All", ["Column"], [["a"]])


def test_rows_beyond_the_budget_are_left_out_and_counted(monkeypatch):
    monkeypatch.setattr(searchable_module, "BUDGET", 1000)
    text = searchable("t", "All", ["Column", "Kind"], [[f"name {j:04d} 🦆", "number"] for j in range(300)])
    kept = rows_of(text)
    assert 0 < len(kept) < 100
    assert f"All: the first {len(kept)} of 300, the rest are in the JSON" in text
    assert len(Words(text).kept.encode()) < 1100


def test_texts_that_recur_cost_next_to_nothing():
    rows = [[f"name {j}", "the same long remark " * 7] for j in range(5000)]
    text = searchable("t", "All", ["Column", "Remark"], rows)
    assert len(rows_of(text)) == 5000
    assert len(Words(text).kept.encode()) < 150_000


def test_whatever_the_cells_hold_the_rows_come_back_as_they_were():
    cells = [*sample_study.HOSTILE, "</template>", "<!--", '"\\', "", "\u2028", "🦆"]
    rows = [[a, b] for a in cells for b in cells]
    text = searchable("t", "All", ["A", "B"], rows)
    assert rows_of(text) == [[visible(a), visible(b)] for a, b in rows]
    assert not {"script", "img", "b"} & set(Words(text).tags)


def test_narrowing_offers_the_first_words_with_their_counts():
    rows = [["a", "number, kg", "x"], ["b", "number", ""], ["c", "text", ""]]
    text = searchable("t", "All", ["Column", "Kind", "Remark"], rows, choices=[1], only=[2])
    assert '<option value="number">number (2)</option><option value="text">text (1)</option>' in text
    assert "only with a remark" in text
    assert "only with" not in searchable("t", "All", ["Column", "Remark"], [["a", ""]], only=[1])


@pytest.mark.parametrize("name", ["mixed", "broad", "single_column", "single_row", "hostile_look"])
def test_pages_of_every_shape_are_small_whole_and_free_of_nan(name):
    text = render(getattr(sample_study, name)())
    assert len(text.encode()) < 5e6
    found = Words(re.sub(r"<(script|style)>.*?</\1>", "", text, flags=re.DOTALL))
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", found.words + " ".join(found.labels))
    assert found.tags.count("script") == 0
    assert "A first look at the data" in found.words


def test_all_views_of_five_thousand_columns_together_stay_under_five_megabytes():
    broad, huge = sample_study.broad(), sample_study.huge()
    assert len(render(replace(broad, findings=huge.findings, answers=huge.answers)).encode()) < 5e6


def test_endless_names_and_levels_stay_under_five_megabytes():
    rng = np.random.default_rng(3)
    table = {"🦆" * 1000 + str(j): ("category", rng.integers(0, 4, 9)) for j in range(400)}
    table |= {"é" * 1000 + str(j): ("number", rng.standard_normal(9)) for j in range(400)}
    look = sample_study.first_look(table, units=("u" * 9000,) * 800, levels=dict.fromkeys(table, ("🦆" * 9000,) * 4))
    text = render(sample_study.looked_at(look, "a.csv"))
    assert len(text.encode()) < 3e6


def test_the_caption_says_which_rows_and_columns_are_drawn():
    mixed, broad = (array_views(s().look)[0].caption for s in (sample_study.mixed, sample_study.broad))
    assert mixed.startswith("400 of 12,345 rows, drawn fairly, in their order. Every column is drawn, ordered by kind.")
    assert "most in old code (100%), white cells (31.5%), weight (13.8%)." in mixed
    scope = "300 of 5,000 columns are drawn, ordered by kind: the 135 that lack most values and 165 evenly spread over"
    assert scope in broad
    single = array_views(sample_study.single_column().look)
    assert len(single) == 1
    assert single[0].caption.startswith("All 60 rows, in their order.")


def test_lack_of_scaling_is_said_in_words():
    look = sample_study.mixed().look
    caption = array_views(look)[1].caption
    scale = dict(zip(look.columns, look.scale, strict=True))
    assert "(temperature) to" in caption and "(charges)" in caption
    assert float(re.search(r"([\d,]+) times", caption)[1].replace(",", "")) == pytest.approx(
        scale["charges"] / scale["temperature"], rel=0.05
    )
    equal = sample_study.first_look({"a": ("number", [1.0, 2.0]), "b": ("count", [5.0, 7.0])})
    assert "of similar scale" in array_views(equal)[1].caption


def test_the_user_may_order_the_columns():
    look = sample_study.mixed().look
    view = array_views(look, order=("ward", "age"))[0]
    assert view.figure.tags[1][:3] == ["ward", "age", "weight"]
    assert "those asked for first, the others by kind" in view.caption


def test_numbers_behind_the_picture_tell_gaps_outliers_and_trends():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(100)
    x[[3, 4]] = np.nan
    x[50] = 50.0
    look = sample_study.first_look({"drift": ("number", np.arange(100.0)), "spike": ("number", x)})
    rows = re.findall(r"<tr><th scope=row>(.*)\n", array_views(look)[0].numbers)
    assert re.sub(r"<[^>]*>", "|", rows[0]) == "|drift||number|0%|0|1.00"
    assert re.sub(r"<[^>]*>", "|", rows[1]).startswith("|spike||number|2.0%|1|")


def test_few_columns_are_all_drawn_and_of_many_the_urgent_ones():
    assert histograms(sample_study.mixed().look, sample_study.mixed().data).count("<li>") == 12
    rng = np.random.default_rng(1)
    table = {f"c{j}": ("number", rng.standard_normal(60)) for j in range(60)}
    table |= {f"skewed {j}": ("number", np.exp(2 * rng.standard_normal(60))) for j in range(30)}
    table |= {f"level {j}": ("category", rng.integers(0, 2, 60)) for j in range(10)}
    look = sample_study.first_look(table)
    study = sample_study.looked_at(look, "a.csv")
    columns = [
        replace(c, suspicious="odd" if c.name == "c7" else "", missing=30 if c.name == "c9" else 0)
        for c in study.data.columns
    ]
    text = histograms(look, replace(study.data, columns=tuple(columns)))
    names = re.findall(r"<h4><bdi>(.*?)</bdi>", text)
    assert len(names) == HISTOGRAMS
    assert names[:2] == ["c7", "c9"]
    assert all(name.startswith("skewed") for name in names[2:18])
    assert names[18:] == [f"level {j}" for j in range(6)]
    assert "24 of 100 columns are drawn" in text


def test_each_histogram_says_what_is_missing_and_which_take_the_logarithm():
    study = sample_study.mixed()
    items = histograms(study.look, study.data).split("<li>")[1:]
    said = {re.search(r"<bdi>(.*?)</bdi>", item)[1]: Words(item) for item in items}
    assert "31.5% missing" in said["white cells"].words
    assert [name for name, found in said.items() if "the analysis uses the logarithm" in found.words] == ["charges"]
    assert "negative values have no log(1 + x)" in said["balance"].words
    assert any("half of them between" in label for label in said["weight"].labels)
    assert said["ward"].labels[0].startswith("ward: surgery ")
    assert "4 others" in said["ward"].words


def test_no_value_of_the_sample_is_told_beyond_two_digits():
    rng = np.random.default_rng(2)
    look = sample_study.first_look({c: ("number", 1e5 * rng.standard_normal(300) + 4e5) for c in "ab"}, total=9000)
    study = sample_study.looked_at(look, "a.csv")
    text = "".join(v.caption + v.numbers + str(v.key) for v in array_views(look)) + histograms(look, study.data)
    told = {float(n.replace(",", "")) for n in re.findall(r"\d[\d,]{4,}", text)}
    cells = {float(round(x)) for x in look.values.ravel()}
    assert told
    assert not told & cells


def test_a_study_without_a_first_look_has_no_such_section():
    assert 'id="first-look"' not in render(sample_study.wholesale())


def test_a_look_at_no_rows_is_no_picture():
    look = sample_study.first_look({"a": ("number", np.empty(0))}, total=5)
    assert array_views(look) == []
    assert histograms(look, DataCard("a", 5, 0, ())) == ""


def test_the_key_of_the_picture_has_the_colours_of_the_picture():
    text = render(sample_study.mixed())
    for name, color in (("gap", array_plot.MISSING), ("low", array_plot.LOW), ("middle", array_plot.MIDDLE),
                        ("high", array_plot.HIGH)):  # fmt: skip
        assert f"--{name}: {color};" in text


def test_extreme_values_are_drawn_without_a_warning():
    table = {
        "huge": [1e308, -1e308, 3.0, np.nan], "tiny": [5e-324, 0.0, 1e-310, 2e-320],
        "far": [1e16, 1e16 + 2, 1e16, 1e16],
        "endless": [np.inf, -np.inf, 1.0, 2.0], "shifted": [1e8, 1e8 + 1, 1e8 + 2, 1e8 + 3],
    }  # fmt: skip
    look = sample_study.first_look({name: ("number", np.ones(4)) for name in table})
    values = np.array(list(table.values())).T
    centre, scale = np.array([-1e308, 0, 1e16, 1, 1e8]), np.array([1e300, 1e-320, 1, 1, 1])
    look = replace(look, values=values, centre=centre, scale=scale)
    times = sample_study.first_look({"never": ("time", [1e150, -1e150]), "once": ("time", [1e4, 1e4])})
    for seen in (look, times):
        text = histograms(seen, DataCard("a", 4, 4, ())) + "".join(v.caption + v.numbers for v in array_views(seen))
        assert not re.search(r"\bnan\b", text)


def test_an_order_of_many_levels_is_drawn_as_ranks_and_levels_without_names_are_numbered():
    look = sample_study.first_look({"o": ("ordered", np.arange(30)), "c": ("category", [0.0, 1, 1] * 10)})
    text = histograms(look, DataCard("a", 30, 30, ()))
    assert "30 values from 0 to 29" in text
    assert "level 1" in text and "level 2" in text


def test_a_table_says_where_the_rows_are_that_do_not_fit(monkeypatch):
    monkeypatch.setattr(searchable_module, "BUDGET", 3_000)
    monkeypatch.setattr("assay.report.profile.LISTED", 500)
    columns = [Column(f"x{j}", "number", used=True, typical=f"{j} to {2 * j}") for j in range(2000)]
    for many, where in ((400, "the JSON"), (2000, "the files that --tables writes")):
        text = data_section(card_of(*columns[:many]))
        shown = len(rows_of(text))
        assert 0 < shown < many
        assert f"the first {shown} of {many:,}, the rest are in {where}" in Words(text).words


def test_no_more_rows_are_made_than_a_page_may_hold(monkeypatch):
    monkeypatch.setattr(searchable_module, "BUDGET", 3_000)
    fits = len(rows_of(searchable("t", "All", ["A", "B"], ([str(j % 3), ""] for j in range(9000)))))
    assert fits < searchable_module.most_rows(2)


def test_columns_that_are_missing_in_the_same_rows_are_told_with_how_many():
    gone = np.arange(40) < 10
    table = {
        "<b>dose</b>": ("number", np.where(gone, np.nan, np.arange(40.0))),
        "effect": ("number", np.where(gone & (np.arange(40) < 5), np.nan, np.arange(40.0))),
        "age": ("number", np.arange(40.0)),
    }
    look = sample_study.first_look(table)
    text = data_section(sample_study.looked_at(look, "gaps.csv"))
    told = Words(text).words.partition("Columns missing in the same rows")[2]
    assert re.search(r"<b>dose</b>\s*effect \(5, 50\.0%\)", told)
    assert re.search(r"effect\s*<b>dose</b> \(5, 100%\)", told)
    assert "age" not in told
    alone = sample_study.first_look({"dose": table["<b>dose</b>"], "age": table["age"]})
    assert "missing in the same rows" not in data_section(sample_study.looked_at(alone, "alone.csv"))


def test_steps_without_names_are_called_by_their_own_numbers():
    look = sample_study.first_look({"errors": ("ordered", [0.0, 1, 2] * 10), "score": ("ordered", [3.0, 4, 4] * 10)})
    errors, score = histograms(look, DataCard("a", 30, 30, ())).split("<li>")[1:]
    assert [re.search(f">{step}</text>", errors) is not None for step in (0, 1, 2, 3)] == [True, True, True, False]
    assert [re.search(f">{step}</text>", score) is not None for step in (0, 2, 3, 4, 5)] == [
        False,
        False,
        True,
        True,
        False,
    ]
    assert "level" not in errors + score
