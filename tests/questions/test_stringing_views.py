"""The reordered view: its words follow from the numbers, its picture holds the same cells in another order."""

from dataclasses import replace

import numpy as np
import sample_study

from assay.questions.stringing.test import reordered_table
from assay.report.first_look import array_views
from assay.report.page import render


def planted(gaps=False, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.permutation(80) / 80
    wave = {f"w{j}": ("number", np.sin(3 * t + j / 3) + 0.05 * rng.standard_normal(80)) for j in range(6)}
    if gaps:
        wave["w0"][1][[3, 7]] = np.nan
    return sample_study.first_look({**wave, "ward": ("category", rng.integers(0, 3, 80))})


def view_of(look):
    (view,) = reordered_table(look).views()
    return view


def test_the_picture_holds_the_cells_of_the_first_in_another_order():
    look = planted(gaps=True)
    first, view = array_views(look)[0], view_of(look)
    _, names, _, rows, told = view.figure.tags
    _, names0, _, rows0, told0 = first.figure.tags
    assert sorted(rows) == rows0 and sorted(names) == sorted(set(names0) - {"ward"}) and told == told0
    shades = {v.name: v.figure.renderers[0].data_source.data["image"][0] for v in (first, view)}
    columns = [names0.index(name) for name in names]
    np.testing.assert_array_equal(shades["array-reordered"], shades["array"][np.array(rows) - 1][:, columns])


def test_structure_is_called_smoother_than_chance_with_its_numbers():
    caption = view_of(planted()).caption
    assert caption.startswith("The same 80 rows with 6 of 7 columns, ordered so that")
    assert caption.count("smoother than chance (p ") == 2 and "no smoother" not in caption
    assert "missing" not in caption
    assert (
        "For the order only, a value of another row stands in for a missing one." in view_of(planted(gaps=True)).caption
    )


def noise(name="x{}"):
    rng = np.random.default_rng(3)
    return sample_study.first_look({name.format(j): ("number", rng.standard_normal(50)) for j in range(8)})


def test_noise_is_not_drawn_and_that_is_said():
    view = view_of(noise())
    assert (
        view.figure is None
        and view.caption == "The table is not drawn reordered: shuffled columns have orders as smooth."
    )


def test_an_axis_that_chance_orders_as_well_is_said_to_say_nothing():
    found = reordered_table(noise())
    smooth = replace(found.by_row, evidence=replace(found.by_row.evidence, verdict="supported"))
    (view,) = replace(found, by_row=smooth).views()
    assert "so the order of columns says nothing" in view.caption
    assert "so the order of rows says nothing" not in view.caption


def test_the_table_beside_it_has_every_column_in_its_place():
    view = view_of(planted())
    names = view.figure.tags[1]
    assert [view.numbers.index(f"<bdi>{name}</bdi>") for name in names] == sorted(
        view.numbers.index(f"<bdi>{name}</bdi>") for name in names
    )


def test_a_name_from_the_data_cannot_break_out_of_the_view():
    look = planted()
    hostile = replace(look, columns=tuple(f"<script>{name}" for name in look.columns))
    assert "<script>" not in view_of(hostile).numbers and "&lt;script&gt;" in view_of(hostile).numbers


def test_the_same_study_gives_the_same_page():
    look = planted(gaps=True)
    study = replace(sample_study.looked_at(look, "a.csv"), answers={"stringing": reordered_table(look)})
    page = render(study)
    assert page == render(study)
    assert "The same table, reordered" in page
