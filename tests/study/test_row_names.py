"""Rows in tables are the rows of the data: numbers and identifiers follow what was left out."""

import numpy as np
import pyarrow as pa
import pytest

import assay

N = 200


def planted() -> pa.Table:
    """Three groups of rows, one row far out, an identifier, rows without a target and rows with a gap."""
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(0, 8, (2, 4)), N // 2, axis=0) + rng.standard_normal((N, 4))
    X[151] += [60.0, -60.0, 60.0, -60.0]
    y = X[:, 0] + rng.standard_normal(N)
    y[[3, 40, 150]] = np.nan
    X[[10, 152], 1] = np.nan
    columns = {f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(4)}
    ids = [f"P{7 * i % 1009:04d}" for i in range(N)]
    return pa.table({"patient_id": ids, **columns, "y": pa.array(y, from_pandas=True)})


@pytest.fixture(scope="module")
def study():
    return assay.study(planted(), target="y", missing="drop")


def test_numbers_in_the_data_skip_what_was_left_out(study):
    rows = study.tables()["prediction_rows"].to_pydict()
    left = [i for i in range(1, N + 1) if i - 1 not in {3, 40, 150, 10, 152}]
    assert study.data.rows_used == len(left)
    assert rows["row"] == list(range(1, len(left) + 1)) and rows["row_in_data"] == left


@pytest.mark.parametrize(
    "name",
    ["prediction_rows", "components_scores", "groups_labels", "anomalies_distances", "map_places", "stringing_rows"],
)
def test_every_row_has_the_identifier_it_has_in_the_data(study, name):
    table, ids = study.tables()[name].to_pydict(), planted().column("patient_id").to_pylist()
    assert table["row_in_data"]
    assert table["patient_id"] == [ids[row - 1] for row in table["row_in_data"]]


def test_the_row_that_stands_out_is_the_one_that_was_planted(study):
    assert study.tables()["anomalies_rows"].to_pydict()["row_in_data"] == [152]
    assert study["anomalies"].rows.tolist() == [152 - 4 - 1]  # four rows before it were left out


def test_truth_is_that_of_the_row(study):
    rows, y = study.tables()["prediction_rows"].to_pydict(), planted().column("y").to_pylist()
    assert np.allclose(rows["truth"], [y[row - 1] for row in rows["row_in_data"]])


def test_there_is_one_label_for_every_row_used(study):
    labels = study["groups"].labels
    assert len(labels) == study.data.rows_used and np.bincount(labels).tolist() == study["groups"].sizes.tolist()
    table = study.tables()["groups_labels"].to_pydict()
    assert table["group"] == (labels + 1).tolist()


def test_sensitive_identifiers_are_in_no_table():
    source = assay.read(planted(), sensitive=["patient_id"])
    found = assay.study(source)
    assert all("patient_id" not in table.column_names for table in found.tables().values())
    assert "P0007" not in str(found.as_dict())


def test_an_identifier_called_like_a_column_of_the_table_is_told_apart():
    table = planted().rename_columns(["row", "x0", "x1", "x2", "x3", "y"])
    found = assay.study(assay.read(table, kinds={"row": "identifier"})).tables()["map_places"]
    assert found.column_names[:3] == ["row", "row_in_data", "row (identifier)"]


def test_of_more_rows_than_are_drawn_every_one_has_a_group():
    rng = np.random.default_rng(2)
    X = np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]], 1500, axis=0) + rng.standard_normal((3000, 3))
    found = assay.study(X[rng.permutation(3000)])
    groups = found["groups"]
    assert len(groups.labels) == 3000 and len(groups.rows) == 2000 == len(groups.drawn)
    assert groups.sizes.tolist() == np.bincount(groups.labels).tolist()
    assert found.tables()["groups_labels"].num_rows == 3000
    assert found.as_dict()["answers"]["groups"]["tables"]["labels"]["of"] == 3000
