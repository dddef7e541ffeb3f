"""Summaries as files that can be shared: no rows, and never of so few that they could be told."""

import numpy as np
import pytest

from assay.errors import DataError
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments


def test_a_summary_of_few_rows_is_not_written(tmp_path):
    path = tmp_path / "m.assay"
    with pytest.raises(DataError, match=r"it has fewer than 10 rows \(9\), so the summary could tell them"):
        Moments.of(np.ones((9, 2))).save(path)
    assert not path.exists()
    Moments.of(np.ones((10, 2))).save(path)
    assert path.exists()


def test_every_group_needs_enough_rows(tmp_path):
    X = np.random.default_rng(0).standard_normal((25, 2))
    grouped = GroupedMoments.of(X, ["a"] * 20 + ["b"] * 5)
    with pytest.raises(DataError, match=r"1 of its groups have fewer than 10 rows \(5\)"):
        grouped.save(tmp_path / "g.assay")
    grouped.save(tmp_path / "g.assay", fewest_rows=5)


def test_a_group_without_rows_tells_nothing(tmp_path):
    Moments.empty(3).save(tmp_path / "m.assay")
    assert Moments.load(tmp_path / "m.assay").count == 0


def test_the_file_holds_no_row(tmp_path):
    X = np.random.default_rng(1).standard_normal((40, 3))
    X[7] = [1234.5678, 8765.4321, 2468.1357]
    Moments.of(X).save(tmp_path / "m.assay")
    content = (tmp_path / "m.assay").read_bytes()
    assert not any(np.float64(x).tobytes() in content for x in X[7])
