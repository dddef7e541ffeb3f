"""What the report says and draws of the pairs it names: shapes, third columns, and what chance alone gives."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import assay
from assay.asking.page import Page
from assay.asking.question import Context
from assay.asking.words import shown
from assay.data.read import read
from assay.questions.correlations import QUESTION
from assay.questions.correlations.answer import Correlations
from assay.questions.correlations.columns import columns_of
from assay.questions.correlations.levels import level_names
from assay.study.gather import gathered
from assay.study.table import prepare


def tabled(frame):
    return gathered(prepare(read(frame))[0], frozenset(), 0).every


def asked(frame) -> Correlations:
    """The answer as a study gets it, without the other questions."""
    return QUESTION.ask(tabled(frame), Context())


@pytest.fixture(scope="module")
def departments():
    rng = np.random.default_rng(0)
    level = rng.integers(4, size=200)
    z = rng.multivariate_normal([10, 5], [[1, -0.9], [-0.9, 1]], 200) + 2.2 * level[:, None]
    names = np.array(["sales", "research", "repair", "stores"])
    return asked(
        pd.DataFrame({"hours": z[:, 0], "errors": z[:, 1], "department": names[level], "age": rng.normal(40, 9, 200)})
    )


def test_the_sentence_says_what_a_third_column_turns_round(departments):
    (finding,) = departments.findings()
    (one,) = departments.turned()
    assert f"Overall errors rises with hours (+{one.overall:.2f}".replace("0.", ".") in finding.sentence
    assert "but within each department it falls (−.8" in finding.sentence
    assert finding.evidence.verdict == "supported"


def test_programs_are_told_too(departments):
    (given,) = departments.as_dict()["numbers"]["given"]
    assert given["columns"] == ["hours", "errors"] and given["given"] == "department"
    assert given["turned"] == "round" and given["in_each_level"] and given["within"] < -0.8 < 0.6 < given["overall"]
    words = [shape["words"] for shape in departments.numbers()["shapes"]]
    assert "hours is highest where department is stores and lowest where it is sales" in words
    assert "errors rises with hours" in words


def test_looks_at_third_columns_are_counted_and_corrected_for(departments):
    line = departments.ledger_line("", 1.0)
    assert departments.closer.looks == 2 * 3 and line.tests == line.looks + 6
    assert "pairs with a third column by Bonferroni over 6" in line.correction
    assert departments.stricter(1e100, 0.05).turned() == ()


def test_the_pair_is_drawn_with_its_departments_apart(departments):
    pictures = {view.title: view for view in departments.views() if view.figure is not None}
    figure = pictures["hours and errors"].figure
    assert [item.label.value.split()[0] for item in figure.above[-1].items][:4] == [
        "repair", "research", "sales", "stores",
    ]  # fmt: skip
    assert "but within each department it falls" in pictures["hours and errors"].caption
    assert set(assay.plot(departments).figures) == set(pictures)


def test_the_card_says_how_many_pairs_of_unrelated_columns_look_alike():
    rng = np.random.default_rng(1)
    found = asked(pd.DataFrame(rng.standard_normal((100, 8)), columns=list("abcdefgh")))
    below = int((found.found.pairs.p <= 0.05).sum())
    verb = "has" if below == 1 else "have"
    said = f"1.4 of 28 pairs of unrelated columns would have p below .05; here {below} {verb}"
    (finding,) = found.findings()
    assert dict(shown(finding.evidence, finding.spoken))["By chance alone"] == said
    assert not found.turned() and not found.views()


def test_two_categories_are_shown_as_shares_and_a_number_by_its_levels():
    rng = np.random.default_rng(2)
    ward = rng.choice(["north", "south", "west"], 300)
    drug = np.where(rng.random(300) < 0.7, np.where(ward == "west", "x", "y"), rng.choice(["x", "y", "z"], 300))
    found = asked(pd.DataFrame({"ward": ward, "drug": drug, "dose": (drug == "x") * 2 + rng.standard_normal(300)}))
    views = {view.title: view for view in found.views()}
    shares = next(view for title, view in views.items() if {"ward", "drug"} == set(title.split(" and ")))
    assert shares.figure is None and "%" in shares.numbers
    boxes = next(view for title, view in views.items() if "dose" in title)
    assert "Each box holds the middle half of the rows of a level." in boxes.caption


def test_a_pair_that_bends_is_told_and_drawn_by_its_shape():
    rng = np.random.default_rng(3)
    dose = rng.standard_normal(300)
    found = asked(
        pd.DataFrame({"dose": dose, "effect": 0.5 * rng.standard_normal(300) - dose**2, "x": rng.random(300)})
    )
    sentence = found.findings()[0].sentence
    assert "goes together: dose and effect (correlation along a curve ." in sentence
    assert "In shape: effect is highest at middling dose." in sentence
    (shape,) = found.numbers()["shapes"]
    assert (shape["of"], shape["along"], shape["signs"]) == ("effect", "dose", [1, -1])
    assert found.views()[1].caption.startswith("effect is highest at middling dose.")


def test_intervals_of_pairs_that_stand_are_those_of_benjamini_and_yekutieli():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 6))
    X[:, 1] += X[:, 0]
    X[:, 3] += 0.5 * X[:, 2]
    found = asked(pd.DataFrame(X, columns=list("abcdef")))
    assert found.n_pairs == 2
    pairs, (low, high) = found.found.pairs, found.intervals
    error = np.sqrt((1 + pairs.strength[1] ** 2 / 2) / 297)  # of Fisher's z of ranks, Bonett and Wright
    ends = np.tanh(np.arctanh(pairs.strength[1]) + error * norm.ppf([0.025 * 2 / 15, 1 - 0.025 * 2 / 15]))
    np.testing.assert_allclose([low[1], high[1]], ends, rtol=1e-9)
    assert (low[0], high[0]) == found.strongest_interval and np.isnan(low[2:]).all()


def test_levels_are_named_where_rare_ones_share_a_number():
    rng = np.random.default_rng(5)
    site = rng.choice([f"s{k:02d}" for k in range(30)], 400, p=np.r_[np.full(10, 0.08), np.full(20, 0.01)])
    table = tabled(pd.DataFrame({"site": site, "y": rng.random(400)}))
    given = columns_of(table, [label for label, (name, _) in table.origins.items() if name == "site"])
    assert "site" in table.beside and given.X.shape[1] == len(np.unique(site))
    assert [level_names(table, given)[0][k] for k in given.X.argmax(axis=1)] == site.tolist()


def test_gaps_tell_nothing_and_dates_and_lengths_of_texts_are_drawn():
    rng = np.random.default_rng(6)
    day = rng.permutation(300)
    price = day / 30 + rng.standard_normal(300)
    price[:40] = np.nan
    words = ["quiet", "loud", "small", "wide", "bitter", "sweet"]
    note = [
        " ".join(rng.choice(words, 2)) + " " + "m" * int(9 + 3 * np.nan_to_num(p)) + f" {k}"
        for k, p in enumerate(price)
    ]
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D")
    found = asked(pd.DataFrame({"day": when, "price": price, "note": note}))
    views = {view.title: view for view in found.views()}
    assert views["day and price"].caption == "price rises with day. 260 rows as they came."
    assert any("length of note" in title for title in views)
    assert "2020" in " ".join(t.text for t in views["day and price"].figure.xaxis[0].major_label_overrides.values())


def test_a_pair_that_bends_is_drawn_though_others_are_stronger():
    rng = np.random.default_rng(7)
    a, u = rng.standard_normal((2, 300))
    alike = {name: a + 0.1 * rng.standard_normal(300) for name in "abcd"}
    found = asked(pd.DataFrame({**alike, "u": u, "v": u**2 + 0.7 * rng.standard_normal(300)}))
    captions = {view.title: view.caption for view in found.views()}
    assert captions["u and v"].startswith("v is lowest at middling u")


@pytest.mark.parametrize(("smooth", "sign"), [("edible", "−"), ("poisonous", "")])
def test_a_sign_between_columns_of_two_levels_is_said_by_their_levels(smooth, sign):
    rng = np.random.default_rng(0)
    kind = np.array(["edible", "poisonous"])[rng.integers(2, size=200)]
    other = rng.random(200) < 0.15
    skin = np.where((kind == smooth) != other, "smooth", "rough")  # "rough" comes first
    found = asked(pd.DataFrame({"kind": kind, "skin": skin, "place": np.array(list("uvw"))[rng.integers(3, size=200)]}))
    caption = found.views(Page([found]))[0].caption
    told = (
        "below 0 where the first level of one goes with the second of the other: kind (edible, poisonous), skin (rough"
    )
    assert (told in caption) == bool(sign)
    assert np.sign(found.found.pearson[0, 1]) == (-1 if sign else 1)


def test_a_pair_that_is_the_only_one_is_not_counted():
    x = np.random.default_rng(1).normal(size=(100, 1))
    found = asked(pd.DataFrame(np.hstack([x, x + np.random.default_rng(2).normal(size=(100, 1))]), columns=["a", "b"]))
    assert found.findings()[0].sentence.startswith("The only pair of columns goes together: a and b (rank correlation")
