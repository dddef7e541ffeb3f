"""A stream under watch: cut anywhere, saved anywhere, it says the same."""

import json
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.data.files import write_archive
from assay.errors import DataError, FileFormatError, ParameterError
from assay.summary.moments.moments import Moments
from assay.watch.watch import Watch


def rows(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def eventful(n=1500, seed=0):
    """Rows with gaps, an anomaly, ties and a shift."""
    X = rows(n, seed=seed)
    X[400, 1] = 15.0
    X[500:520, 0] = np.nan
    X[700] = np.nan
    X[600:650] = X[599]
    X[900:, 2] += 2.0
    return X


OPTIONS = {"reference": 200, "every": 100, "horizon": 500}


def said(watch, parts):
    return [alert.line() for part in parts for alert in watch.update(part)]


def facts(watch):
    m = watch.moments
    pairs = None if m is None else [part.tobytes() for pair in m._pairs() for part in pair]
    return watch.rows, watch.gaps, watch.looks, watch.drift, pairs, m and m.count


@pytest.fixture(scope="module")
def whole():
    """All rows at once: the facts, and what was said."""
    watch = Watch(**OPTIONS)
    told = said(watch, [eventful()])
    return facts(watch), [line for line in told if "problem" not in line]


class TestCuts:
    @given(st.lists(st.integers(1, 1499), max_size=8))
    def test_however_rows_are_cut_into_blocks_every_bit_is_the_same(self, whole, cuts):
        watch = Watch(**OPTIONS)
        told = said(watch, np.split(eventful(), sorted(cuts)))
        assert (facts(watch), [line for line in told if "problem" not in line]) == whole

    @given(st.lists(st.integers(1, 1499), min_size=1, max_size=4))
    def test_saved_and_loaded_anywhere_it_goes_on_to_the_bit(self, tmp_path_factory, whole, cuts):
        path = tmp_path_factory.mktemp("state") / "watch"
        watch, told = Watch(**OPTIONS), []
        for part in np.split(eventful(), sorted(cuts)):
            told += said(watch, [part])
            watch.save(path)
            watch = assay.load(path)
        assert (facts(watch), [line for line in told if "problem" not in line]) == whole

    def test_the_running_law_goes_on_to_the_bit_too(self, tmp_path):
        options = {**OPTIONS, "against": "running", "half_life": 30.0}
        whole, parted = Watch(**options), Watch(**options)
        X = eventful()
        told = said(whole, [X])
        first = said(parted, [X[:777]])
        parted.save(tmp_path / "w")
        parted = assay.load(tmp_path / "w")
        both = first + said(parted, [X[777:]])
        assert [line for line in both if "problem" not in line] == [line for line in told if "problem" not in line]
        assert facts(parted) == facts(whole)

    def test_the_events_are_the_ones_that_were_planted(self, whole):
        found = [json.loads(line) for line in whole[1]]
        kinds = [alert["kind"] for alert in found]
        assert found[0]["kind"] == "anomaly" and found[0]["row"] == 401 and found[0]["columns"][0] == "column 2"
        shift = next(alert for alert in found if alert["kind"] == "drift of the mean")
        assert shift["row"] > 900 and shift["columns"][0] == "column 3" and 1.5 < shift["size"] < 2.5
        assert kinds.count("drift of the mean") == 1  # told once while it lasts


class TestMoments:
    @pytest.mark.parametrize("half_life", [None, 50.0, 5000.0])
    def test_running_moments_are_those_of_the_complete_rows_weighted_by_their_age(self, half_life):
        X = eventful()
        watch = Watch(**OPTIONS, half_life=half_life)
        watch.update(X)
        whole = X[~np.isnan(X).any(axis=1)]
        weights = None if half_life is None else 0.5 ** (np.arange(len(whole) - 1, -1, -1) / half_life)
        expected = Moments.of(whole, weights=weights)
        assert watch.gaps == 21 and watch.moments.count == len(whole)
        np.testing.assert_allclose(watch.moments.mean, expected.mean, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(watch.moments.scatter, expected.scatter, rtol=1e-11)

    def test_rows_with_gaps_and_rows_beyond_numbers_are_counted_and_judged(self):
        watch = Watch(**OPTIONS)
        watch.update(rows(300))
        told = watch.update([[np.nan, 20.0, 0.0], [1e160, 0.0, 0.0]])
        assert [alert.row for alert in told if alert.kind == "anomaly"] == [301, 302]
        problems = [alert.message for alert in told if alert.kind == "problem of input"]
        assert any("missing values" in text for text in problems) and any("far out" in text for text in problems)
        assert watch.moments.count == 300 and np.isfinite(watch.moments.scatter).all()

    def test_a_row_with_a_gap_has_the_distance_that_is_expected_of_it(self):
        watch = Watch(**OPTIONS)
        watch.update(rows(300) @ np.array([[1.0, 0.9, 0.0], [0.0, 0.5, 0.0], [0.0, 0.3, 2.0]]))
        law = watch.law
        row = np.array([1.0, np.nan, -2.0])
        draws = np.random.default_rng(1)
        S, m = law.covariance, law.location
        o, g = [0, 2], [1]
        K = S[np.ix_(g, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        centre = m[g] + K @ (row[o] - m[o])
        spread = np.sqrt(S[1, 1] - (K @ S[np.ix_(o, g)])[0, 0])
        filled = np.tile(row[:, None], (1, 100_000))
        filled[1] = centre + spread * draws.standard_normal(100_000)
        far = law.whitened(filled)[1]
        # the mean of a chi-square with one degree of freedom: standard error sqrt(2 / draws)
        assert abs(far.mean() - law.far_with_gaps(row[:, None])[0]) < 5 * math.sqrt(2 / 100_000)


class TestInput:
    def test_arrays_frames_batches_and_mappings_are_the_same_rows(self):
        X = eventful()[:600]
        names = ["column 1", "column 2", "column 3"]
        frame = pd.DataFrame(X, columns=names)
        forms = [X, frame, pa.RecordBatch.from_pandas(frame), frame.to_dict("records")]
        watches = [Watch(**OPTIONS) for _ in forms]
        for watch, form in zip(watches, forms, strict=True):
            watch.update(form)
        assert all(facts(watch) == facts(watches[0]) for watch in watches)

    def test_over_gives_alerts_of_an_iterator_as_they_come(self):
        X = eventful()
        blocks = []

        def arriving():
            for part in np.array_split(X, 30):
                blocks.append(1)
                yield part

        watch = Watch(**OPTIONS)
        first = next(alert for alert in watch.over(arriving()) if alert.kind == "anomaly")
        assert first.row == 401 and len(blocks) < 12

    def test_columns_of_other_kinds_are_encoded_as_the_reference_was_and_new_levels_are_told(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"x": rng.standard_normal(400), "colour": rng.choice(["red", "blue", "green"], 400)})
        watch = Watch(reference=200, every=100)
        watch.update(table)
        told = watch.update(pd.DataFrame({"x": [0.0], "colour": ["mauve"]}))
        assert any(alert.kind == "problem of input" and "not met before" in alert.message for alert in told)
        assert watch.rows == 401

    def test_a_clock_is_set_aside(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame(
            {"at": pd.date_range("2020-01-01", periods=3000, freq="s"), "x": rng.standard_normal(3000)}
        )
        watch = Watch(reference=500, every=100)
        assert watch.update(table) == [] and watch.names == ("x",)

    def test_the_reference_may_be_other_data(self):
        watch = Watch(rows(1000), every=100)
        assert watch.rows == 0 and watch.needed == 0
        assert [alert.row for alert in watch.update([[30.0, 0.0, 0.0]])] == [1]

    def test_a_column_may_come_later_go_missing_or_change_places(self):
        watch = Watch(**OPTIONS)
        frame = pd.DataFrame(rows(300), columns=list("abc"))
        watch.update(frame)
        assert watch.update(frame[["c", "a", "b"]].iloc[:5]) == []
        told = watch.update(frame[["a", "b"]].iloc[:2])
        assert any("lack the column" in alert.message for alert in told) and watch.gaps == 2

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"level": 0.0}, "level is a chance between 0 and 1"),
            ({"every": 3}, "every is a number of rows, at least 50"),
            ({"horizon": 0}, "horizon is a number of rows above 0"),
            ({"half_life": -1.0}, "half_life is a number of rows above 0"),
            ({"against": "past"}, "against is 'reference' or 'running'"),
            ({"against": "running"}, "needs a half_life"),
            ({"reference": 0}, "reference is a number of rows above 0"),
        ],
    )
    def test_options_without_sense_are_refused(self, options, words):
        with pytest.raises(ParameterError, match=words):
            Watch(**options)

    def test_a_reference_that_is_too_short_or_says_nothing_is_refused(self):
        with pytest.raises(DataError, match="need at least 100"):
            Watch(reference=40).update(rows(50))
        with pytest.raises(DataError, match="no column of the reference can be watched"):
            Watch(reference=200).update(np.ones((200, 2)))

    def test_a_column_to_leave_out_that_is_not_there_is_refused_at_once(self):
        with pytest.raises(ParameterError, match="'z' is to be left out, but there is none"):
            Watch(drop=["z"]).update(pd.DataFrame(rows(3), columns=list("abc")))


class TestFiles:
    def test_a_damaged_state_is_refused(self, tmp_path):
        path = tmp_path / "w"
        watch = Watch(**OPTIONS)
        watch.update(rows(250))
        header, arrays = watch.to_parts()
        for name in ("value.learned.reference.covariance", "value.learned.ranks.counters"):
            broken = {**arrays, name: arrays[name][:1]}
            with pytest.raises(FileFormatError):
                Watch.from_parts(header, broken)
        watch.save(path)
        path.write_bytes(path.read_bytes()[:-500])
        with pytest.raises(FileFormatError, match="not a whole file"):
            assay.load(path)

    @pytest.mark.parametrize("packed", ["zstd", "lz4"])
    @pytest.mark.parametrize("texts", [False, True])
    def test_rows_that_expand_from_a_few_bytes_are_refused_unread(self, packed, texts, tmp_path):
        """Ten kilobytes of packed zeros are 320 MB of rows, and three megabytes more than any machine has."""
        watch = Watch(reference=10**9)
        watch.update(rows(10))
        header, arrays = watch.to_parts()
        bomb = pa.table({"a": np.zeros(10**6), "b": np.zeros(10**6)})
        if texts:  # only what the dictionary holds is packed
            bomb = pa.table({"a": pa.array(["a" * 10**6]).dictionary_encode()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, bomb.schema, options=pa.ipc.IpcWriteOptions(compression=packed)) as writer:
            writer.write_table(bomb)
        early = {"value.early": np.frombuffer(sink.getvalue(), dtype=np.uint8)}
        assert early["value.early"].nbytes < 70_000
        write_archive(tmp_path / "w", "Watch", header, {**arrays, **early})
        before = pa.total_allocated_bytes()
        with pytest.raises(FileFormatError, match="its rows are packed"):
            assay.load(tmp_path / "w")
        assert pa.total_allocated_bytes() - before < 10**6

    def test_more_rows_than_were_wanted_are_refused(self, tmp_path):
        """Rows of a column that holds nothing take no bytes, however many they are."""
        watch = Watch(reference=200)
        watch.update(rows(10))
        header, arrays = watch.to_parts()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, pa.schema([("a", pa.null())])) as writer:
            writer.write_table(pa.table({"a": pa.nulls(10**9)}))
        arrays["value.early"] = np.frombuffer(sink.getvalue(), dtype=np.uint8)
        write_archive(tmp_path / "w", "Watch", header, arrays)
        with pytest.raises(FileFormatError, match="1,000,000,000 rows of 200 that were wanted"):
            assay.load(tmp_path / "w")

    def test_the_state_does_not_grow_with_the_stream(self, tmp_path):
        watch = Watch(**OPTIONS)
        watch.update(rows(20_050))
        watch.save(tmp_path / "a")
        watch.update(rows(20_000, seed=1))
        watch.save(tmp_path / "b")
        assert (tmp_path / "b").stat().st_size < 1.05 * (tmp_path / "a").stat().st_size

    def test_lines_are_strict_json(self, whole):
        for line in whole[1]:
            json.loads(line, parse_constant=lambda name: pytest.fail(name))

    def test_many_anomalies_of_a_window_are_counted_not_told_one_by_one(self):
        watch = Watch(reference=2000, every=1000)
        watch.update(rows(2000))
        told = watch.update(rows(1000) * 40.0)
        kinds = [alert.kind for alert in told]
        more = next(alert for alert in told if alert.kind == "more anomalies")
        assert kinds.count("anomaly") == 100 and more.count > 500


@pytest.mark.parametrize("seed", range(5))
def test_a_mean_that_moved_is_told_by_how_much_and_is_no_drift_of_the_covariance(seed):
    # rows about another mean are drawn in unevenly, which made their variance look a third of what it is
    X = rows(3000, seed=seed)
    X[2000:] += 2.0
    alerts = [alert for alert in Watch(reference=1000, every=500).update(X) if alert.kind.startswith("drift")]
    assert [alert.kind for alert in alerts] == ["drift of the mean"]
    assert alerts[0].size == pytest.approx(2.0, abs=5 * (1 / 500 + 1 / 500) ** 0.5)
