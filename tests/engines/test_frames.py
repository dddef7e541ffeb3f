"""Data frames of Dask and Spark are read where they lie, and give the same bits as the same rows in a file."""

import warnings

import numpy as np
import pandas as pd
import pytest

from assay.data.read import read
from assay.engine.current import engine_of, using
from assay.summary.moments.moments import Moments

N = 20_000


def bits(moments):
    return [np.asarray(part).tobytes() for pair in moments._pairs() for part in pair]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, 3)) + 1e3
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=rng.choice(["u", "v"], N))


def test_a_dask_frame_is_summarised_by_the_workers_that_hold_it(rows, dask_clusters):
    import dask.dataframe as dd

    client = dask_clusters(3)
    frame = dd.from_pandas(rows, npartitions=7)
    source = read(frame)
    with using(client):
        found = Moments.of(source)
    assert source.rows == N and len(source.partitions()) == 7
    assert bits(found) == bits(Moments.of(read(frame)))  # asked for by this process, in the same partitions
    np.testing.assert_allclose(found.covariance, rows[["a", "b", "c"]].cov(), rtol=1e-9)
    assert engine_of(frame) is not None


def test_a_spark_frame_is_summarised_by_the_executors(rows, spark_session):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = spark_session.createDataFrame(rows).repartition(4).persist()
        source = read(frame)
        with using(engine_of(frame)):
            found = Moments.of(source)
        again = Moments.of(source)  # brought here, in the same partitions
    assert source.rows == N and len(source.partitions()) == 4
    assert bits(found) == bits(again)
    np.testing.assert_allclose(found.covariance, rows[["a", "b", "c"]].cov(), rtol=1e-9)


def test_a_dataset_of_pyarrow_is_read_file_by_file(rows, dask_clusters, tmp_path):
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    for i in range(3):
        pq.write_table(pa.Table.from_pandas(rows.iloc[i::3]), tmp_path / f"{i}.parquet")
    with using(dask_clusters(3)):
        source = read(ds.dataset(tmp_path))
        found = Moments.of(source)
    assert len(source.partitions()) == 3
    assert bits(found) == bits(Moments.of(read(ds.dataset(tmp_path))))
