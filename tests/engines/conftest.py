"""Real clusters: threads of this process, Dask with worker processes, Spark with two executors.

Each is started once for a run of the tests. CI sets ASSAY_CLUSTERS, and then one that cannot start is a failure.
"""

import os
import shutil
import sys
import warnings

import pytest

from assay.engine.local import LocalEngine

REQUIRED = bool(os.environ.get("ASSAY_CLUSTERS"))
# Java that lives for a minute compiles its code once, and not again to make the best of it: half the time
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def _absent(why):
    if REQUIRED:
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="session")
def dask_clusters():
    """Starts LocalClusters of processes by their number of workers."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        _absent(f"dask.distributed is not installed: {error}")
    started = {}

    def start(workers):
        if workers not in started:
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            )
            started[workers] = Client(cluster), cluster
        return started[workers][0]

    yield start
    for client, cluster in started.values():
        client.close()
        cluster.close()


@pytest.fixture(scope="session")
def spark_session():
    """A Spark session with two executor processes."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        _absent("there is no Java runtime")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PySpark, about the version of pandas
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            _absent(f"PySpark is not installed: {error}")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED)  # of drivers, also of those that tests start
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .appName("assay-tests")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
            .config("spark.executor.extraJavaOptions", SHORT_LIVED)
            .getOrCreate()
        )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


EVERY = ["local 1", "local 2", "local 4", "dask 1", "dask 3", "spark 2"]
ONE_OF_EACH = ["local 2", "dask 3", "spark 2"]


def pytest_generate_tests(metafunc):
    """Summaries are compared on every number of workers, what is made of them on one engine of each sort."""
    said = any("engine" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "engine" in metafunc.fixturenames and not said:
        every = metafunc.module.__name__.endswith("test_parity")
        metafunc.parametrize("engine", EVERY if every else ONE_OF_EACH, indirect=True)


@pytest.fixture
def engine(request):
    """Each engine in turn: its name and number of workers."""
    kind, workers = request.param.split()
    if kind == "local":
        return LocalEngine(int(workers))
    if kind == "dask":
        return request.getfixturevalue("dask_clusters")(int(workers))
    return request.getfixturevalue("spark_session")
