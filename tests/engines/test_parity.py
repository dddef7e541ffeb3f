"""One body for every engine: the same blocks give the same bits, whoever reads and merges them."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest

from assay.data.formats import arrow_files
from assay.data.read import read
from assay.data.text import csv
from assay.engine.current import using
from assay.summary.moments.grouped import GroupedMoments
from assay.summary.moments.moments import Moments


def bits(moments):
    return [np.asarray(part).tobytes() for pair in moments._pairs() for part in pair]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of several formats with the same rows; far from zero, where rounding shows."""
    place = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    n = 90_000
    mix = rng.standard_normal((5, 5))
    X = rng.standard_normal((n, 5)) @ mix + 1e4
    table = pa.table({f"x{j}": X[:, j] for j in range(5)} | {"kind": rng.choice(["a", "b", "c"], n)})
    pq.write_table(table, place / "one.parquet", row_group_size=20_000)
    (place / "many").mkdir()
    for i in range(3):
        pq.write_table(table.slice(i * 30_000, 30_000), place / "many" / f"{i}.parquet", row_group_size=7_000)
    pa_csv.write_csv(table, place / "one.csv")
    pa_feather.write_feather(table, place / "one.arrow", chunksize=11_000)
    return place


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch):
    """Partitions as small as their blocks allow, so that small files have several."""
    monkeypatch.setattr(arrow_files, "_SMALLEST", 1)
    monkeypatch.setattr(csv, "_PARTS", 1 << 30)


@pytest.mark.parametrize("name", ["one.parquet", "many/*.parquet", "one.csv", "one.arrow"])
def test_moments_are_the_same_bits_on_every_engine(engine, folder, name):
    here = read(str(folder / name))
    expected, folds = Moments.of(here), GroupedMoments.folds(here, 5)
    with using(engine):
        there = read(str(folder / name))
        found, found_folds = Moments.of(there), GroupedMoments.folds(there, 5)
    assert len(there.partitions()) > 1
    assert found.count == 90_000
    assert bits(found) == bits(expected)
    assert [bits(part) for part in found_folds.parts] == [bits(part) for part in folds.parts]
