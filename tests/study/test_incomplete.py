"""Very incomplete tables: a study comes out, says what is missing, and claims nothing that gaps made."""

import numpy as np
import pandas as pd
import pytest

import assay
from assay.data.read import read
from assay.errors import DataError
from assay.study.gather import gathered
from assay.study.table import prepare


def lacking(share, seed=0, n=400, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[rng.random(X.shape) < share] = np.nan
    return pd.DataFrame(X, columns=[f"c{j + 1}" for j in range(d)])


def supported(study):
    return {f.kind for f in study.findings if f.evidence.verdict == "supported"}


@pytest.mark.parametrize("share", [0.7, 0.8, 0.92])
def test_mostly_missing_columns_are_asked_about_pairs_and_gaps_alone(share):
    found = assay.study(lacking(share))
    assert {"correlations", "missing"} >= set(found.answers) >= {"missing"}
    assert supported(found) == set()
    assert all(entry.why for entry in found.ledger.not_asked) and len(found.ledger.not_asked) >= 5
    assert "lack more than half of their values" in " ".join(found.data.notes)


def test_a_pair_is_found_in_the_rows_that_have_both():
    data = lacking(0.0, n=600)
    data["c2"] = data["c1"] + 0.3 * data["c2"]
    rng = np.random.default_rng(1)
    data = data.mask(rng.random(data.shape) < 0.7)
    found = assay.study(data)
    assert supported(found) == {"correlations"}
    assert found.answers["correlations"].numbers()["pairs"][0]["columns"] == ["c1", "c2"]


def test_where_nothing_can_be_used_what_is_missing_is_still_said():
    found = assay.study(lacking(0.9, n=60))
    assert set(found.answers) == {"missing"} and found.data.rows_used == 0
    assert "Too much is missing" in found.data.notes[0]
    assert {entry.why for entry in found.ledger.not_asked} >= {"every column lacks more than half of its values"}


def test_a_table_of_empty_columns_is_refused():
    with pytest.raises(DataError, match="no column that can be used"):
        assay.study(pd.DataFrame({"a": [None] * 9, "b": [None] * 9}))


def test_questions_on_whole_rows_leave_mostly_missing_columns_out():
    data = lacking(0.1, n=80)
    data.loc[data.index[:50], "c6"] = np.nan
    table, _ = prepare(read(data))
    tables = gathered(table, frozenset(), 0)
    assert "c6" in tables.every.columns and "c6" not in tables.others.columns
    assert not np.isnan(tables.others.rows).any() and np.isnan(tables.others.present()).any()
    means = tables.others.with_means()
    np.testing.assert_allclose(means.mean(axis=0), np.nanmean(tables.others.present(), axis=0), rtol=1e-9)
    dropped, _ = prepare(read(data), missing="drop")
    assert "c6" not in dropped.columns and dropped.gaps is None


def test_gaps_of_the_table_are_those_of_the_data_in_memory_and_beyond(monkeypatch):
    data = lacking(0.3, n=120)
    data["kind"] = np.where(np.arange(120) % 5 == 0, None, np.where(np.arange(120) % 2, "a", "b"))
    kept = gathered(prepare(read(data))[0], frozenset(), 0).every
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", 1)
    read_again = gathered(prepare(read(data))[0], frozenset(), 0).every
    assert read_again.rows is None and read_again.folds is None
    for table in (kept, read_again):
        np.testing.assert_array_equal(np.isnan(table.present()[:, :6]), data.iloc[:, :6].isna())
        assert not np.isnan(table.at_hand).any()
        assert set(np.unique(table.at_hand[:, 6])) == {0.0, 1.0}  # a level stands in, no share of one
    first = np.concatenate([block for _, block in read_again.as_found])
    np.testing.assert_array_equal(np.isnan(first[:, :6]), data.iloc[:, :6].isna())


@pytest.mark.calibrate
@pytest.mark.parametrize("together", [True, False])
def test_gaps_shared_or_made_by_another_column_invent_nothing(together):
    # more than 4 of 30 has a chance of .02 at 5%; means in place of gaps made a claim in half of the tables
    claims = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((400, 6))
        if together:
            X[np.repeat(rng.random((400, 3)) < 0.45, 2, axis=1)] = np.nan
        else:
            X[:, :3][(rng.random((400, 3)) < 1.0 / (1.0 + np.exp(-4.0 * X[:, 5:]))).nonzero()] = np.nan
        found = assay.study(pd.DataFrame(X, columns=list("abcdef")), random_state=seed)
        assert "missing" in supported(found)
        claims += bool(supported(found) - {"missing"})
    assert claims <= 4
