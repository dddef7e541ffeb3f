"""Tables hold all rows where these are known; where they hold a sample they say so. Gaps are told column by column."""

import json

import numpy as np
import pyarrow.parquet
import pytest

import assay
from assay.report.findings_json import document
from assay.study.findings import sample_of

N = 2500  # more rows than a page draws


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 1)) + 0.7 * rng.standard_normal((N, 4))
    X[::10, 1] = np.nan
    X[::20, 2] = np.nan
    return X


@pytest.fixture(scope="module")
def study(data):
    return assay.study(data, only=["components", "anomalies", "stringing"])


def test_scores_and_distances_are_of_all_rows_and_those_drawn_are_the_same(study):
    tables = study.tables()
    for name in ("components_scores", "anomalies_distances"):
        assert tables[name].num_rows == N and sample_of(tables[name]) is None
    found = study["components"]
    whole = tables["components_scores"].column("component_1").to_numpy()
    np.testing.assert_allclose(whole[found.score_rows], found.scores[:, 0], rtol=1e-12, atol=1e-12)
    assert whole.std() == pytest.approx(1.0, abs=0.01)


def test_a_table_that_holds_a_sample_says_of_how_many_rows(study, tmp_path):
    assert study.sampled() == ("stringing_rows",)
    study.write_tables(tmp_path)
    written = pyarrow.parquet.read_table(tmp_path / "stringing_rows.parquet")
    assert written.num_rows < N and sample_of(written) == N
    listed = pyarrow.parquet.read_table(tmp_path / "tables.parquet").to_pylist()
    assert {row["table"]: row["sample_of"] for row in listed if row["sample_of"]} == {"stringing_rows": N}
    assert {row["table"] for row in listed} == {path.stem for path in tmp_path.iterdir()} - {"tables"}


def test_json_says_which_of_its_tables_are_cut_and_which_are_samples(study):
    answers = document(study)["answers"]
    scores, order = answers["components"]["tables"]["scores"], answers["stringing"]["tables"]["rows"]
    assert scores["rows"] == 2000 and scores["of"] == N and "sample_of" not in scores
    assert order["sample_of"] == N


def test_columns_that_are_missing_together_are_told_for_each_of_them(data):
    found = assay.study(data[:500], only="correlations")
    told = document(found)["data"]["gaps"]
    assert told["rows_looked_at"] == 500
    assert told["patterns"] == [
        {"missing": [], "rows": 450},
        {"missing": ["column 2"], "rows": 25},
        {"missing": ["column 2", "column 3"], "rows": 25},
    ]
    assert told["columns"]["column 3"] == [{"column": "column 2", "rows": 25, "share": 1.0}]
    assert told["columns"]["column 2"] == [{"column": "column 3", "rows": 25, "share": 0.5}]
    assert found.tables()["gaps"].to_pylist()[0] == {"column": "column 2", "with": "column 3", "rows": 25, "share": 0.5}
    json.dumps(told, allow_nan=False)


def test_where_nothing_is_missing_there_is_no_such_table():
    found = assay.study(np.random.default_rng(0).standard_normal((40, 2)), only="correlations")
    assert found.gaps is None and "gaps" not in found.tables() and document(found)["data"]["gaps"] is None
