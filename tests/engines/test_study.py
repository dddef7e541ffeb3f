"""A whole study and its page: every engine gives the same findings, byte for byte."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from assay.cli import app
from assay.data.formats import arrow_files
from assay.engine.current import using
from assay.report.findings_json import dumps
from assay.study.run import study

N = 12_000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two files with a factor, two groups, a category and gaps; more than is kept in memory, see `small`."""
    place = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(1)
    for i in range(2):
        X = rng.standard_normal((N // 2, 1)) + 0.7 * rng.standard_normal((N // 2, 4))
        group = rng.integers(0, 2, N // 2)
        X[:, 3] += 5.0 * group
        X[rng.random(X.shape) < 0.02] = np.nan
        columns = {f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(4)}
        columns["kind"] = pa.array(np.where(group, "a", "b"))
        pq.write_table(pa.table(columns), place / f"{i}.parquet", row_group_size=2000)
    return str(place / "*.parquet")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Rows never fit in memory, and partitions are small."""
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", 1000)
    monkeypatch.setattr(arrow_files, "_SMALLEST", 1)
    monkeypatch.setattr(arrow_files, "block_rows", lambda d: 2000)


@pytest.fixture(scope="module")
def expected(files):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.study.table.KEPT_BYTES", 1000)
        patch.setattr(arrow_files, "_SMALLEST", 1)
        patch.setattr(arrow_files, "block_rows", lambda d: 2000)
        return dumps(study(files))


@pytest.mark.parametrize("engine", ["local 1", "dask 3", "spark 2"], indirect=True)
def test_a_study_finds_the_same_on_every_engine(engine, files, expected):
    told = []
    with using(engine):
        found = study(files, progress=lambda what, rows, share: told.append((what, rows, share)))
    assert dumps(found) == expected
    assert {("Reading", N, 1.0), ("Looking for gaps", N, 1.0), ("Summarising", N, 1.0)} <= set(told)


def test_the_report_of_a_cluster_is_the_whole_page(dask_clusters, files, expected, tmp_path):
    address = dask_clusters(3).scheduler.address
    page, found = tmp_path / "page.html", tmp_path / "found.json"
    ran = CliRunner().invoke(app, ["report", files, "--engine", address, "-o", str(page), "--json", str(found)])
    assert ran.exit_code == 0, ran.output
    assert found.read_text() == expected
    assert "<html" in page.read_text()


@pytest.mark.parametrize(
    ("engine", "said"),
    [("dusk", "there is no engine 'dusk'"), ("tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1")],
)
def test_an_engine_that_is_not_there_is_refused(files, tmp_path, engine, said):
    page = tmp_path / "page.html"
    ran = CliRunner().invoke(app, ["report", files, "--engine", engine, "-o", str(page)])
    assert ran.exit_code == 2 and said in ran.output
    assert not page.exists()
