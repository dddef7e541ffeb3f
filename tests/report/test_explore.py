"""Exploring: what the page holds of the rows is coarse, bounded, safe, and what the study said of pairs is told."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pyarrow as pa
import pytest
import sample_study

import assay
from assay.asking.coarse import FEWEST, STEPS
from assay.asking.page import Page, PairsTold, PairTold
from assay.asking.table import ROWS_SHOWN, rows_shown
from assay.report.explore import COLUMNS, explorable, explore_section
from assay.report.page import render
from assay.study.run import study

MOST_BYTES = 5_000_000


def held_by(text: str) -> dict:
    return json.loads(re.search(r'<template id="explore-data">(.*?)</template>', text, re.DOTALL).group(1))


def numbers_in(text: str) -> set[float]:
    """Every number of the page that has many digits: as text, and in the arrays of its figures and of the rows."""
    found = {float(word) for word in re.findall(r"-?\d+\.\d{4,}(?:e-?\d+)?", text)}
    for packed in re.findall(r'"([A-Za-z0-9+/]{40,}={0,2})"', text):
        raw = base64.b64decode(packed + "=" * (-len(packed) % 4))
        for kind in ("<f8", "<f4"):
            if len(raw) % int(kind[-1]) == 0:
                with np.errstate(all="ignore"):
                    found |= set(np.frombuffer(raw, kind).astype(np.float64).tolist())
    return found


@pytest.fixture(scope="module")
def people() -> tuple[dict, assay.Study]:
    """300 rows with a name, a text, a secret, rare levels, and numbers that say something of each other."""
    rng = np.random.default_rng(3)
    n = 300
    age = rng.normal(50, 15, n)
    rare = np.array(["Vaduz"] * 2 + ["Andorra"] * (FEWEST - 1))
    table = {
        "person": [f"id-{k:05d}-{'qx'[k % 2]}" for k in rng.permutation(n)],
        "age": age,
        "pressure": 90 + 0.6 * age + rng.normal(0, 6, n),
        "income": np.exp(rng.normal(10, 1, n)),
        "salary": rng.normal(4e4, 5e3, n),
        "city": np.r_[rare, rng.choice(["Rome", "Oslo", "Lima"], n - len(rare))],
        "remark": [f"remark number {k} which nobody {'but we ' * (k % 7)}should see anywhere" for k in range(n)],
    }
    return table, study(assay.read(pa.table(table), sensitive=["salary"]), target="pressure", effort="quick")


def test_without_asking_for_rows_the_page_holds_no_value_no_rare_level_no_identifier_and_no_text(people):
    table, found = people
    text = render(found)
    seen = numbers_in(text)
    for name in ("age", "pressure", "income", "salary"):
        assert not seen & set(np.asarray(table[name], dtype=np.float64).tolist()), name
        assert not seen & set(np.asarray(table[name], dtype=np.float32).astype(np.float64).tolist()), name
    logged = set(np.log1p(table["income"]).tolist())
    assert not seen & logged
    assert "Vaduz" not in text
    assert "Rome" in text
    # a level that the study makes a column of is named where it speaks of that column, and nowhere else
    assert "Andorra" not in text.replace("city = Andorra", "")
    assert not any(person in text for person in table["person"])
    assert not any(remark in text for remark in table["remark"])
    assert "salary" not in {column["name"] for column in held_by(text)["columns"]}
    assert "holds no rows of the data" in text


def test_rows_that_are_asked_for_are_there_as_they_came_but_sensitive_ones_never(people):
    table, found = people
    text = render(found, include_rows=True)
    held = held_by(text)
    assert held["exact"]
    columns = {column["name"]: column for column in held["columns"]}
    age = np.frombuffer(base64.b64decode(columns["age"]["exact"]), "<f8")
    np.testing.assert_array_equal(age, table["age"])
    assert {"Vaduz", "Andorra"} <= set(columns["city"]["levels"])
    texts = {column["name"]: column["cells"] for column in held["texts"]}
    assert texts["person"] == table["person"]
    assert "salary" not in {*columns, *texts}
    assert not numbers_in(text) & set(table["salary"].tolist())
    assert "rows of the data as they came" in text


def test_steps_and_levels_are_few_and_pairs_have_their_verdicts(people):
    _, found = people
    held = held_by(render(found))
    for column in held["columns"]:
        codes = np.frombuffer(base64.b64decode(column["codes"]), np.uint8)
        assert len(codes) == len(held["rows"])
        kinds = column.get("levels") or column["low"]
        assert len(kinds) <= STEPS
        assert codes[codes != 255].max() < len(kinds)
    names = [column["name"] for column in held["columns"]]
    told = {frozenset((names[a], names[b])): held["slugs"][verdict] for a, b, verdict, *_ in held["pairs"]}
    assert told[frozenset(("age", "pressure"))] == "supported"
    assert told[frozenset(("income", "city"))] == "chance"
    assert set(names[:2]) == {"age", "pressure"}
    assert held["tested"] == [name in {"age", "pressure", "income", "city"} for name in names]


def test_hostile_names_and_levels_cannot_leave_the_template():
    found = sample_study.hostile_look()
    text = explore_section(explorable(found, Page()), "", found.data.units)
    assert "<script" not in text
    assert "<img" not in text
    inside = re.search(r'<template id="explore-data">(.*?)</template>', text, re.DOTALL).group(1)
    assert not set("<>&") & set(inside)
    assert any(column["name"] == sample_study.HOSTILE[0] for column in json.loads(inside)["columns"])


@pytest.mark.parametrize("include_rows", [False, True])
def test_a_page_of_many_rows_and_columns_stays_small(include_rows):
    rng = np.random.default_rng(8)
    m, d = ROWS_SHOWN, 900
    table = {f"{'a long name of a column ' * 4}{j}": ("number", rng.standard_normal(m)) for j in range(d)}
    table |= {f"category {j}": ("category", rng.integers(0, 1500, m)) for j in range(40)}
    long = {f"category {j}": tuple(f"{'level of a long name ' * 9}{k}" for k in range(1500)) for j in range(40)}
    look = sample_study.first_look(table, total=10**6, levels=long)
    texts = {f"text {j}": ("a long remark " * 8,) * m for j in range(30)}
    look = sample_study.replace(look, texts=texts)
    found = sample_study.looked_at(look, "large.parquet")
    page = render(found, include_rows=include_rows)
    assert len(page.encode()) < MOST_BYTES
    assert len(held_by(page)["columns"]) == COLUMNS if not include_rows else len(held_by(page)["columns"]) >= 20


def test_columns_of_pairs_that_stand_come_first_and_all_pairs_that_are_held_are_told():
    look = sample_study.first_look({f"x{j}": ("number", np.arange(30.0) ** j) for j in range(1, 6)})
    page = Page()
    stands, falls = (
        PairTold("rank correlation", 0.9, 1e-9, 1e-8, "supported"),
        PairTold("V", 0.1, 0.5, 1.0, "suggestive"),
    )
    page.pairs = PairsTold(frozenset(look.columns), {("x4", "x5"): stands, ("x1", "x2"): falls})
    held = json.loads(explorable(sample_study.looked_at(look, "a.csv"), page).held)
    assert [column["name"] for column in held["columns"]][:4] == ["x4", "x5", "x1", "x2"]
    assert held["pairs"][0][:5] == [0, 1, 0, "rank correlation", 0.9]


def test_rows_of_the_first_look_are_those_drawn_in_other_views():
    n = 40_000
    look = sample_study.first_look({"x": ("number", np.zeros(1990))}, total=n)
    look = sample_study.replace(look, among_used=np.where(np.arange(1990) < 10, 0, look.rows))
    drawn = rows_shown(n, 0, look)
    assert len(drawn) == ROWS_SHOWN == len(set(drawn.tolist()))
    assert set((look.rows[10:] - 1).tolist()) <= set(drawn.tolist())
    assert drawn.max() < n
    assert np.all(np.diff(drawn) > 0)


def test_nothing_is_explored_where_there_are_no_rows():
    assert explorable(sample_study.wholesale(), Page()) is None
    assert explorable(sample_study.single_row(), Page()) is None
    assert 'id="explore"' not in render(sample_study.wholesale())


def test_other_views_are_spoken_of_only_where_there_are_any():
    found = explorable(sample_study.hostile_look(), Page())
    assert "in every view of rows above" in explore_section(found, "", ("row", "rows"))
    alone = explore_section(found, "", ("row", "rows"), above=False)
    assert "above" not in alone and 'data-where="here"' in alone
