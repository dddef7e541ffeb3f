"""Rows that are the same are counted, none included, on the page, in the JSON and on the terminal."""

import json

import numpy as np
import pandas as pd
import pytest

from assay.data.read import read
from assay.report.data_section import data_section
from assay.report.findings_json import dumps
from assay.report.text import render
from assay.study import duplicates
from assay.study.duplicates import HashedRows
from assay.study.findings import Ledger, Study
from assay.study.profile import profiled
from assay.study.table import prepare


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.standard_normal(n), "y": rng.integers(0, 9, n), "z": rng.choice(["a", "b"], n)})


def counted(data):
    return profiled(read(data)).seen.counted()


def test_copies_are_rows_beyond_the_first_of_their_kind():
    data = table()
    assert counted(data).copies == 0
    assert counted(pd.concat([data, data.iloc[:7], data.iloc[:3]])).copies == 10


def test_rows_that_differ_in_their_name_alone_are_counted_apart():
    data = pd.concat([table(), table().iloc[:5]], ignore_index=True)
    data.insert(0, "id", [f"p{k:04d}" for k in range(len(data))])
    found = counted(data)
    assert (found.copies, found.unnamed, found.names) == (0, 5, ("id",))
    assert found.sentence() == "No two rows are the same; 5 are copies of others but for id."


def test_rows_without_any_value_are_no_copies():
    data = table()
    data.loc[:9] = None
    assert counted(data).copies == 0


def test_of_very_many_rows_a_fair_part_is_compared(monkeypatch):
    monkeypatch.setattr(duplicates, "MOST", 2000)
    rng = np.random.default_rng(0)
    values = np.concatenate([np.arange(8000), np.arange(8000, 10_000).repeat(2)]).astype(np.uint64)
    hashes = rng.permutation(rng.integers(0, 2**63, 10_000, dtype=np.uint64)[values])
    whole = HashedRows.of(hashes[:3000]) + HashedRows.of(hashes[3000:9000]) + HashedRows.of(hashes[9000:])
    assert not whole.exact and len(whole.kept) <= 2000 and whole.rows == 12_000
    assert whole.copies == pytest.approx(2000, rel=0.25)  # of 1,500 rows kept, the share is known to a tenth


@pytest.mark.parametrize(("copies", "said"), [(0, "No two rows are the same"), (2, "2 rows are copies of others")])
def test_page_json_and_terminal_say_how_many(copies, said):
    data = table()
    prepared, _ = prepare(read(pd.concat([data, data.iloc[:copies]])))
    found = Study(prepared.card, (), Ledger(), "0")
    assert said in data_section(found) and said in render(found)
    assert json.loads(dumps(found))["data"]["duplicates"]["copies"] == copies
