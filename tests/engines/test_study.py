"""A whole study and its page: every engine gives the same findings, byte for byte, with all questions and with few."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from assay.cli import app
from assay.engine.current import using
from assay.report.findings_json import dumps
from assay.study.run import study

N = 12_000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files with a factor, two groups, a category and gaps; each is a partition."""
    place = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(1)
    for i in range(6):
        X = rng.standard_normal((N // 6, 1)) + 0.7 * rng.standard_normal((N // 6, 4))
        group = rng.integers(0, 2, N // 6)
        X[:, 3] += 5.0 * group
        X[rng.random(X.shape) < 0.02] = np.nan
        columns = {f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(4)}
        columns["kind"] = pa.array(np.where(group, "a", "b"))
        pq.write_table(pa.table(columns), place / f"{i}.parquet")
    return str(place / "*.parquet")


@pytest.fixture(scope="module", autouse=True)
def never_fits():
    """Rows never fit in the memory of the driver."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.study.table.KEPT_BYTES", 1000)
        yield


@pytest.fixture(scope="module")
def expected(files, never_fits):
    return {effort: dumps(study(files, effort=effort)) for effort in ("quick", "standard")}


@pytest.mark.parametrize(
    ("engine", "effort"), [("local 1", "quick"), ("dask 3", "standard"), ("spark 2", "quick")], indirect=["engine"]
)
def test_a_study_finds_the_same_on_every_engine(engine, effort, files, expected):
    told = []
    with using(engine):
        found = study(files, effort=effort, progress=lambda what, rows, share: told.append((what, rows, share)))
    assert dumps(found) == expected[effort]
    assert {("Reading", N, 1.0), ("Looking for gaps", N, 1.0), ("Summarising", N, 1.0)} <= set(told)


def test_the_report_of_a_cluster_is_the_whole_page(dask_clusters, files, expected, tmp_path):
    address = dask_clusters(3).scheduler.address
    page, found = tmp_path / "page.html", tmp_path / "found.json"
    asked = ["report", files, "--quick", "--engine", address, "-o", str(page), "--json", str(found)]
    ran = CliRunner().invoke(app, asked)
    assert ran.exit_code == 0, ran.output
    assert found.read_text() == expected["quick"]
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
