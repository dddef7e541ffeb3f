"""Which columns enter the pairs of a study, and as what."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.read import read
from assay.questions.correlations.columns import columns_of
from assay.study.table import prepare

N = 400


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    days = rng.permutation(N)
    words = rng.integers(3, 30, size=N)
    ends = ("ge", "nd", "rum", "mit", "za", "pel")
    known = np.array([start + end for start in ("bri", "sto", "lan", "mer", "kol", "tes") for end in ends])
    x, y = rng.standard_normal((2, N))
    x[rng.random(N) < 0.3] = np.nan
    frame = pd.DataFrame(
        {
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"),
            "price": days + 60 * rng.standard_normal(N),
            "note": [" ".join(rng.choice(known, k)) for k in words],
            "effort": words + 4 * rng.standard_normal(N),
            "x": x,
            "y": np.where(np.isnan(x), np.nan, y),
        }
    )
    return assay.study(frame).answers["correlations"]


def pair(found, first, second):
    pairs, names = found.found.pairs, found.found.columns
    at = [{names[a], names[b]} for a, b in zip(pairs.first, pairs.second, strict=True)].index({first, second})
    return pairs.taken(np.array([at]))


def test_a_date_enters_by_its_day(found):
    one = pair(found, "day", "price")
    assert one.rank[0] > 0.7 and one.q[0] < 1e-6


def test_a_text_enters_by_its_length_and_is_called_so(found):
    one = pair(found, "length of note", "effort")
    assert one.rank[0] > 0.8 and one.q[0] < 1e-6


def test_levels_that_share_a_number_elsewhere_are_all_told_apart():
    rng = np.random.default_rng(1)
    town = rng.integers(40, size=N)
    columns = {name: rng.standard_normal(N) for name in "abcdef"}
    source = read(pd.DataFrame({"town": np.char.add("town ", town.astype(str)), **columns}))
    table, _ = prepare(source)
    assert (table.groups == table.groups[0]).sum() < 40  # what other questions see
    label = next(label for label, (name, _) in table.origins.items() if name == "town")
    block = columns_of(table, [label]).X
    levels = np.unique(town, return_inverse=True)[1]
    assert block.shape[1] == 40 and len({(a, int(b)) for a, b in zip(levels, block.argmax(axis=1), strict=True)}) == 40


def test_very_many_levels_are_told_apart_as_far_as_they_are_frequent():
    codes = np.concatenate([np.repeat(np.arange(10), 20), np.arange(10, 400), [-1]])
    rng = np.random.default_rng(2)
    source = read(pd.DataFrame({name: rng.standard_normal(len(codes)) for name in "ab"}))
    table, _ = prepare(source)
    origins = {**table.origins, 7: ("many", "category")}
    block = columns_of(replace(table, origins=origins, beside={"many": codes.astype(float)}), [7]).X
    assert block.shape[1] == 201 and np.isnan(block[-1]).all()
    assert (block[:-1].sum(axis=1) == 1.0).all() and block[:200, :10].sum() == 200


def test_values_missing_in_the_same_rows_are_no_pair(found):
    assert pair(found, "x", "y").q[0] > 0.05


def test_two_categories_of_which_one_has_two_levels_are_told_by_cramers_v():
    rng = np.random.default_rng(0)
    who = rng.permutation(np.repeat(np.arange(30), 10))
    table = pd.DataFrame({"subject": [f"s{k}" for k in who], "arm": np.where(who % 2, "treated", "control")})
    found = assay.study(table.assign(x=rng.standard_normal(300), y=rng.standard_normal(300)))
    told = next(finding.sentence for finding in found.findings if finding.kind == "correlations")
    assert "subject and arm (Cramér's V" in told
    pair = found.answers["correlations"].numbers()["pairs"][0]
    # each subject has one arm, so V of all rows is 1
    assert pair["strength_name"] == "V" and pair["strength"] == pytest.approx(1.0)
