"""What docs/theory/scale.md says of passes, bytes and merges is what the methods do."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("cloudpickle")

from benchmarks._costs import METHODS, Cost, Files, Shape, agree, counted, study_costs
from benchmarks._counting import CountingEngine
from benchmarks.scale import Cluster, grown

import assay
from assay.data.formats import many
from assay.engine.current import using
from assay.engine.local import LocalEngine
from assay.study.profile import profiled

SHAPES = [Shape(12_000, 5, 3, 12), Shape(12_000, 8, 4, 30)]


@pytest.fixture(scope="module", params=SHAPES, ids=["5 columns, 12 parts", "8 columns, 30 parts"])
def files(request, tmp_path_factory):
    return Files.made(tmp_path_factory.mktemp("scale"), request.param)


@pytest.mark.parametrize("name", METHODS)
def test_passes_bytes_and_merges_are_those_of_the_page(files, name):
    passes, costs = counted(files, name)
    agree(passes, costs)
    assert {len(one.tasks) for one in passes} == {files.shape.P}
    n, columns = files.shape.n, files.shape.d
    for one in passes:
        if one.read:  # all columns, 8 bytes and one bit for each number; a label is a text of 7 letters and its place
            beside = one.read - n * columns * (8 + 1 / 8)
            assert beside in (0.0, n * (8 + 1 / 8)) or 0 <= beside - n * (7 + 4) <= n / 8 + 8 * files.shape.P


def test_kept_rows_are_read_once_however_many_steps_there_are(files):
    passes, _ = counted(files, "GaussianMixture")
    assert [one.kind for one in passes if one.read] == ["map", "keep"]


def test_a_linear_machine_sends_squares_of_columns_and_one_line_of_shares(files):
    engine, d, P = CountingEngine(), files.shape.d, files.shape.P
    with files.in_parts(), using(engine):
        assay.SVR(kernel="linear").fit(files.towards("price"), "price")
    first, steps = engine.passes[:4], engine.passes[4:]
    assert [one.kind for one in first] == ["gather", "map", "keep", "map"]
    price, line = P * 8 * ((d + 1) ** 2 + 2 * (d + 1)), P * 8 * 105
    assert {one.arrays for one in steps} <= {price, line}
    assert {one.closure.arrays for one in steps if one.arrays == price} == {8 * (2 * d + 1)}
    assert 10 <= len(steps) <= 40


def test_features_cost_their_own_square_and_no_more_reading(files):
    engine = CountingEngine()
    with files.in_parts(), using(engine):
        waves = assay.expand(assay.encode(files.plain()), assay.RandomFourier(40, sigma=2.0))
        assay.PCA(2).fit(waves)
    assert len(engine.passes) == 3
    assert engine.passes[-1].arrays == files.shape.P * 16 * (40**2 + 40 + 1)
    assert len({one.read for one in engine.passes}) == 1


def test_a_study_makes_the_passes_of_the_page(tmp_path, monkeypatch):
    files = Files.made(tmp_path, Shape(12_000, 4, 3, 12))
    monkeypatch.setattr("assay.study.table.KEPT_BYTES", 1000)  # as a table that does not fit
    engine, s = CountingEngine(), files.shape
    with files.in_parts(), using(engine):
        study = assay.study(assay.read(str(files.rows), sensitive=["price", "group"]))
    assert study.answers
    profile, *others = study_costs(s, s.d, s.d).values()
    agree(engine.passes, [replace(profile, back=None), *others])  # its sample is drawn by chance
    # each row of the sample brings its values, its key and its number; their number is binomial, with p = 2/3 here
    spread = 6.0 * np.sqrt(12_000 * 2 / 9) * (16 + 8 * s.d)
    assert abs(engine.passes[0].arrays - profile.back) <= spread + 12_000 * s.d / 8  # and bits of what is there


def test_the_sample_of_a_map_is_drawn_at_the_workers(files, monkeypatch):
    monkeypatch.setattr(assay.Isomap, "_most_rows", 300)
    engine, s = CountingEngine(), files.shape
    with files.in_parts(), using(engine), pytest.warns(UserWarning, match="fair sample of 300"):
        assay.Isomap(2).fit(files.plain())
    assert len(engine.passes) == 2
    rows = engine.passes[1].arrays / (8 * s.d + 16)
    assert abs(rows - 4 * 300) <= 6 * np.sqrt(4 * 300)  # a binomial number of them


def test_the_description_of_a_part_does_not_grow_with_the_number_of_files(tmp_path):
    table = pa.table({"x": np.arange(10.0), "y": np.arange(10.0) ** 2})
    for number in range(40):
        pq.write_table(table, tmp_path / f"{number:02}.parquet")
    sizes = {}
    for pattern, count in (("0?", 10), ("??", 40)):
        engine = CountingEngine()
        with using(engine):
            assay.Moments.of(assay.read(str(tmp_path / f"{pattern}.parquet")))
        assert [len(one.tasks) for one in engine.passes] == [count, count]  # the files are opened, then read
        sizes[count] = max(task.sent.whole for task in engine.passes[-1].tasks)
    assert abs(sizes[40] - sizes[10]) <= 16  # a row number has a few digits more


def test_a_profile_of_files_that_are_not_all_open_sends_no_more(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for number in range(12):
        pq.write_table(pa.table({"x": rng.random(3000), "y": rng.random(3000)}), tmp_path / f"{number:02}.parquet")
    sent = []
    for at_once in (100, 4):
        monkeypatch.setattr(many, "_AT_ONCE", at_once)
        engine = CountingEngine()
        with using(engine):
            source = assay.read(str(tmp_path / "*.parquet"))
            assert (source.rows is None) == (at_once == 4)
            assert profiled(source).rows == 36_000
        sent.append(engine.passes[-1].arrays)
    assert sent[0] == sent[1] < 12 * 3000 * 32  # not every row, nor 2,000 of each part


def test_what_is_counted_is_what_the_method_gives_on_one_machine(files):
    with files.in_parts():
        with using(LocalEngine(1)):
            here = assay.Moments.of(files.plain())
        with using(CountingEngine()):
            there = assay.Moments.of(files.plain())
    np.testing.assert_array_equal(there.scatter, here.scatter)


@pytest.mark.parametrize("workers", [1, 10, 100, 1000])
@pytest.mark.parametrize("back", [1_000, 100_000, 10_000_000])
def test_a_list_scheduler_ends_when_the_formula_says(workers, back):
    """Never before either side could; and later by no more than one task and the spread of their sizes."""
    shape, cluster = Shape(10**9, 100, 1, 3000), Cluster()
    cost = Cost(shape.P * back, 2.0 * shape.n * 100**2, 1000)
    found = {W: (scheduled, formula) for W, scheduled, formula in grown(cost, shape, cluster)}
    scheduled, formula = found[workers]
    task = 1.2 * cluster.task_seconds(8.0 * shape.n * 100 / shape.P, cost.flops / shape.P)
    assert formula - 2 * task - 0.02 * formula <= scheduled <= formula + 2 * task + 0.02 * formula


def test_more_workers_end_no_later_and_the_driver_sets_the_limit():
    shape, cluster = Shape(10**9, 100, 1, 3000), Cluster()
    cost = Cost(shape.P * 10_000_000, 2.0 * shape.n * 100**2)
    seconds = [scheduled for _, scheduled, _ in grown(cost, shape, cluster)]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[-1] >= shape.P * cluster.driver_seconds(10_000_000)
