"""The strung view: its words follow from the numbers, its picture holds the same cells in another order."""

import numpy as np
import pytest
import sample_study

from assay.report.first_look import array_views
from assay.report.page import render


def planted(gaps=False, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.permutation(80) / 80
    wave = {f"w{j}": ("number", np.sin(3 * t + j / 3) + 0.05 * rng.standard_normal(80)) for j in range(6)}
    if gaps:
        wave["w0"][1][[3, 7]] = np.nan
    return sample_study.first_look({**wave, "ward": ("category", rng.integers(0, 3, 80))})


def view_of(look, **options):
    return next((v for v in array_views(look, **options) if v.name == "array-strung"), None)


def test_the_picture_holds_the_cells_of_the_first_in_another_order():
    look = planted(gaps=True)
    first, view = array_views(look)[0], view_of(look)
    _, names, _, rows, told = view.figure.tags
    _, names0, _, rows0, told0 = first.figure.tags
    assert sorted(rows) == rows0 and sorted(names) == sorted(set(names0) - {"ward"}) and told == told0
    shades = {v.name: v.figure.renderers[0].data_source.data["image"][0] for v in (first, view)}
    columns = [names0.index(name) for name in names]
    np.testing.assert_array_equal(shades["array-strung"], shades["array"][np.array(rows) - 1][:, columns])


def test_structure_is_called_smoother_than_chance_with_its_numbers():
    caption = view_of(planted()).caption
    assert caption.startswith("The same 80 rows, without 1 column of other kinds or without spread, ordered so that")
    assert caption.count("smoother than chance (p ≤ .025)") == 2 and "no smoother" not in caption
    assert "missing" not in caption
    assert "A missing value counts as the mean, for the order only." in view_of(planted(gaps=True)).caption


def test_noise_is_called_no_smoother_than_chance():
    rng = np.random.default_rng(3)
    look = sample_study.first_look({f"x{j}": ("number", rng.standard_normal(50)) for j in range(8)})
    caption = view_of(look).caption
    assert caption.count("no smoother than chance (p = ") == 2
    assert "so the order of rows says nothing" in caption and "so the order of columns says nothing" in caption


def test_the_order_asked_for_changes_the_first_picture_only():
    look = planted()
    plain, asked = array_views(look), array_views(look, order=("w5", "w3"))
    assert asked[0].figure.tags[1][:2] == ["w5", "w3"]
    assert asked[-1].figure.tags == plain[-1].figure.tags and asked[-1].caption == plain[-1].caption


@pytest.mark.parametrize("rows", [1, 2])
def test_there_is_no_string_of_one_or_two_rows(rows):
    look = sample_study.first_look({f"x{j}": ("number", np.arange(rows) + 1.0 * j) for j in range(3)})
    assert view_of(look) is None


def test_the_table_beside_it_has_every_column_in_its_place():
    view = view_of(planted())
    names = view.figure.tags[1]
    assert [view.numbers.index(f"<bdi>{name}</bdi>") for name in names] == sorted(
        view.numbers.index(f"<bdi>{name}</bdi>") for name in names
    )


def test_a_name_from_the_data_cannot_break_out_of_the_view():
    rng = np.random.default_rng(0)
    look = sample_study.first_look({f"<script>{j}": ("number", rng.standard_normal(9)) for j in range(3)})
    assert "<script>" not in view_of(look).numbers


def test_the_same_study_gives_the_same_page():
    study = sample_study.looked_at(planted(gaps=True), "a.csv")
    page = render(study)
    assert page == render(study)
    assert "The same table, strung" in page
