"""From columns to numbers and back: what each rule decides, and that nothing is lost without a word."""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats as scipy_stats

from assay.data.columns.column_stats import stats_of
from assay.data.columns.encoded import EncodedSource, encode
from assay.data.columns.encoding import Encoding
from assay.data.field import Declared, Field
from assay.data.problems import Problems
from assay.data.source import ArrowSource
from assay.data.text.csv import CsvSource
from assay.errors import DataError, FileFormatError, ParameterError

rng = np.random.default_rng(11)


def fitted(columns, **options):
    declared = options.pop("declared", None)
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    source = ArrowSource(table, declared=declared)
    return Encoding.fit(source, **options), source


def numbers(encoding, source):
    return np.concatenate([np.empty((0, len(encoding.names))), *EncodedSource(source, encoding).float_blocks()])


def spread(levels, n=100):
    return [levels[i % len(levels)] for i in range(n)]


def told(encoding, name):
    return next(column for column in encoding.columns if column.name == name)


def test_numbers_stay_as_they_are():
    encoding, source = fitted({"x": [1.5, None, -2.0, 4.25], "n": [1, 2, 300, 17]})
    np.testing.assert_array_equal(numbers(encoding, source), [[1.5, 1], [np.nan, 2], [-2, 300], [4.25, 17]])
    assert encoding.names == ("x", "n")
    assert encoding.groups.tolist() == [0, 1]


SKEWED = np.round(np.exp(rng.normal(5, 2, 200)))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (SKEWED, True),
        (-SKEWED, False),
        (np.append(SKEWED, -1.0), False),
        (SKEWED[:19], False),
        (SKEWED / SKEWED.max() * 9, False),
        (rng.exponential(100.0, 200) + 500, False),
        (rng.normal(100.0, 1.0, 200), False),
    ],
)
def test_log_is_taken_of_skewed_columns_from_zero_up(values, expected):
    assert (scipy_stats.skew(SKEWED) > 2) and (scipy_stats.skew(rng.exponential(100.0, 9999)) < 2.5)
    encoding, source = fitted({"x": values})
    assert (encoding.logged == {"x"}) == expected
    assert encoding.names == (("log(1 + x)",) if expected else ("x",))
    np.testing.assert_allclose(numbers(encoding, source)[:, 0], np.log1p(values) if expected else values)


def test_log_can_be_forbidden_or_asked_for():
    assert not fitted({"x": SKEWED}, log="never")[0].logged
    asked, _ = fitted({"x": SKEWED, "y": np.arange(200.0) ** 0.5}, log=["y"])
    assert asked.logged == {"y"}
    assert told(asked, "y").note.startswith("as asked; skewness ")
    with pytest.raises(ParameterError, match="log.1 . x. needs values from zero up; column 'y' has values below zero"):
        fitted({"y": [-1.0, 2.5]}, log=["y"])
    with pytest.raises(ParameterError, match="there is no column 'z' to take the log of; there are y"):
        fitted({"y": [-1.0, 2.5]}, log=["z"])
    with pytest.raises(ParameterError, match="log is 'auto', 'never' or a list of columns; got 'always'"):
        fitted({"y": [-1.0, 2.5]}, log="always")


def test_the_note_shows_the_skewness_that_decided():
    note = told(fitted({"x": SKEWED})[0], "x").note
    skew, log_skew = scipy_stats.skew(SKEWED), scipy_stats.skew(np.log1p(SKEWED))
    assert note == f"skewness {skew:.1f}, of log(1 + x) {log_skew:.1f}".replace("-", "−")


def test_categories_become_one_column_a_level_and_rare_ones_share_one():
    cells = ["b"] * 60 + ["a"] * 38 + ["r1", None]
    encoding, source = fitted({"c": cells}, min_share=0.02)
    assert encoding.names == ("c = a", "c = b", "c = other (1 level)")
    found = numbers(encoding, source)
    np.testing.assert_array_equal(found[[0, 60, 98]], [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    assert np.isnan(found[99]).all()
    np.testing.assert_allclose(encoding.level_shares(0), [38 / 99, 60 / 99, 1 / 99])
    assert told(encoding, "c").encoded == "one per level: 2 levels, 1 rare pooled"
    assert encoding.groups.tolist() == [0, 0, 0]


def test_at_most_max_levels_get_a_column():
    encoding, _ = fitted({"c": spread([f"level {i:02}" for i in range(30)], 900)}, max_levels=5)
    assert len(encoding.names) == 6
    assert encoding.names[-1] == "c = other (25 levels)"


def test_a_level_called_other_keeps_its_own_name():
    cells = ["other (2 levels)"] * 50 + ["a"] * 48 + ["r1", "r2"]
    encoding, _ = fitted({"c": cells}, min_share=0.02)
    assert encoding.names == ("c = a", "c = other (2 levels)", "c = other (2 levels) (2)")


def test_an_encoding_says_which_level_each_number_stands_for():
    columns = {
        "c": ["a = b"] * 50 + ["c = a"] * 48 + ["r1", "r2"],
        "flag": spread(["N", "Y"]),
        "plain": spread([True, False]),
        "size": spread(["S", "M", "L"]),
        "x": np.arange(100) + 0.5,
    }
    encoding, _ = fitted(columns, min_share=0.02)
    assert encoding.levels("c") == ("a = b", "c = a", "other (2 levels)")
    assert encoding.levels("flag") == ("N", "Y") and encoding.levels("plain") == ("no", "yes")
    assert encoding.levels("size") == ("S", "M", "L") and encoding.levels("x") == ()


def test_a_level_called_like_the_pooled_ones_is_told_apart_from_them():
    cells = ["other (2 levels)"] * 50 + ["a"] * 48 + ["r1", "r2"]
    encoding, source = fitted({"c": cells}, min_share=0.02)
    assert encoding.levels("c") == ("a", "other (2 levels)", "other (2 levels) (2)")
    decoded = encoding.decode(numbers(encoding, source)).column("c").to_pylist()
    assert decoded[0] == "other (2 levels)" and decoded[99] == "other (2 levels) (2)"


def test_a_category_of_many_rare_levels_is_set_aside_with_a_note():
    cells = spread([f"level {i}" for i in range(300)], 900)
    encoding, _ = fitted({"c": cells, "x": np.arange(900) + 0.5})
    assert encoding.names == ("x",)
    assert told(encoding, "c").note == ("300 levels, nearly all rare: none has 1% of the rows or more")


def test_levels_that_are_numbers_sort_and_decode_as_numbers():
    encoding, source = fitted({"region": spread([10.0, 9.0, 1.0])})
    assert encoding.names == ("region = 1", "region = 9", "region = 10")
    assert encoding.decode(numbers(encoding, source)).column("region").to_pylist() == spread([10.0, 9.0, 1.0])


def test_unseen_levels_are_pooled_or_nothing_and_counted():
    pooled, _ = fitted({"c": ["b"] * 60 + ["a"] * 39 + ["r"]}, min_share=0.02)
    plain, _ = fitted({"c": spread(["a", "b"])})
    new = pa.record_batch({"c": ["a", "new", "r"]})
    for encoding, row, words in (
        (pooled, [0, 0, 1], "values are levels not met before and counted with the rare ones"),
        (plain, [0, 0], "values are levels not met before and belong to no column"),
    ):
        problems = Problems()
        found = encoding.transform(new, problems=problems, first_row=10)
        assert found[1].tolist() == row
        (problem,) = problems
        assert problem.what == words
        assert problem.examples[0] == ("row 12", "new")
    assert plain.decode(np.array([[0.0, 0.0]])).column("c").to_pylist() == [None]


def test_booleans_become_0_and_1_and_are_told_in_their_own_words():
    encoding, source = fitted({"w": ["Yes", "no", None, "Yes"], "n": [0, 1, 1, 0], "b": [True, False, None, True]})
    np.testing.assert_array_equal(numbers(encoding, source), [[1, 0, 1], [0, 1, 0], [np.nan, 1, np.nan], [1, 0, 1]])
    decoded = encoding.decode(np.array([[0.9, 0.2, 0.7], [0.1, 0.6, np.nan]]))
    assert decoded.to_pydict() == {"w": ["Yes", "no"], "n": [False, True], "b": [True, None]}


def test_steps_become_ranks_and_come_back():
    sizes = ["S", "XL", "M", None, "L"] * 5
    encoding, source = fitted({"size": sizes, "stars": [1, 5, 2, 3, 4] * 5})
    np.testing.assert_array_equal(numbers(encoding, source)[:5], [[0, 1], [3, 5], [1, 2], [np.nan, 3], [2, 4]])
    assert encoding.decode(numbers(encoding, source)).column("size").to_pylist() == sizes
    assert encoding.decode(np.array([[1.6, 3.0], [-7.0, 3.0]])).column("size").to_pylist() == ["L", "S"]
    assert told(encoding, "size").note == "S < M < L < XL"


DAY = dt.timedelta(days=1)


@pytest.mark.parametrize(
    ("step", "count", "parts"),
    [
        (DAY, 10, []),
        (DAY, 20, ["weekday (Monday = 1)"]),
        (DAY * 10, 80, ["month", "weekday (Monday = 1)"]),
        (DAY / 24, 30, []),
        (DAY / 24, 60, ["hour"]),
        (DAY * 10.3, 80, ["month", "weekday (Monday = 1)", "hour"]),
    ],
)
def test_times_become_days_and_the_parts_that_can_matter(step, count, parts):
    when = [dt.datetime(2011, 3, 4) + i * step for i in range(count)]
    encoding, source = fitted({"when": when})
    assert encoding.names == ("when (days since 2011-03-04)", *(f"when: {part}" for part in parts))
    found = dict(zip(encoding.names, numbers(encoding, source).T, strict=True))
    np.testing.assert_allclose(found["when (days since 2011-03-04)"], np.arange(count) * (step / DAY))
    expected = {
        "when: month": [w.month for w in when],
        "when: weekday (Monday = 1)": [w.isoweekday() for w in when],
        "when: hour": [w.hour + w.minute / 60 + w.second / 3600 for w in when],
    }
    for name in encoding.names[1:]:
        np.testing.assert_allclose(found[name], expected[name])


def test_months_have_no_weekday():
    when = [f"{2000 + i // 12}-{i % 12 + 1:02}" for i in range(48)]
    assert fitted({"when": when})[0].names == ("when (days since 2000-01-01)", "when: month")


def test_times_come_back_exactly():
    when = [
        dt.datetime(1905, 1, 1, 3, 4, 5, 678901),
        None,
        dt.datetime(2011, 6, 7, 8, 9, 10, 1),
        dt.datetime(2200, 1, 1),
    ]
    days = [dt.date(1905, 1, 1), dt.date(2011, 6, 7), None, dt.date(9999, 12, 31)]
    clock = [dt.time(1, 2, 3, 4), dt.time(23, 59, 59, 999999), None, dt.time(0)]
    encoding, source = fitted({"when": when, "day": days, "clock": clock})
    back = encoding.decode(numbers(encoding, source))
    assert back.to_pydict() == {"when": when, "day": days, "clock": clock}


def test_instants_outside_the_calendar_are_missing_and_told():
    when = pa.array([2**62, 0, -(2**62), 86_400 * 5, None], pa.timestamp("s"))
    encoded = encode(ArrowSource(pa.table({"when": when})))
    found = np.concatenate(list(encoded.float_blocks()))[:, 0]
    np.testing.assert_array_equal(found, [np.nan, 0, np.nan, 5, np.nan])
    (problem,) = encoded.problems
    assert (problem.count, problem.examples[0][0]) == (2, "row 1")


def test_instants_kept_as_numbers_are_read():
    encoding, source = fitted({"timestamp": [1_260_759_144, 1_260_845_544, 1_360_845_544], "x": [0.5, 1.5, 2.5]})
    assert encoding.decode(numbers(encoding, source)).column("timestamp")[0].as_py() == dt.datetime(
        2009, 12, 14, 2, 52, 24
    )


def test_later_rows_decide_the_order_of_day_and_month():
    cells = ["01/02/2011", "01/03/2011"] * 35_000 + ["13/02/2011", "14/02/2011"]
    encoding, source = fitted({"when": cells})
    assert "no value shows the order" in source.schema[0].why
    assert encoding.fields[0].why == "dates, day before month, as later rows show"
    assert encoding.decode(np.array([[0.0, 2.0]])).column("when")[0].as_py() == dt.date(2011, 2, 1)


def test_text_becomes_the_weights_of_its_words():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [
        f"the {a} and a {b}, {c}!" for a in ("cat", "dog") for b in ("Bird", "fish") for c in ("runs", "sits fish")
    ] * 2
    encoding, source = fitted({"t": texts}, as_kind={"t": "text"})
    peer = TfidfVectorizer(stop_words="english", norm=None)
    expected = peer.fit_transform(texts).toarray()
    names = [f"t: {word}" for word in peer.get_feature_names_out()]
    kept = [names.index(name) for name in encoding.names]
    assert set(encoding.names) == set(names) - {"t: fish"}  # in more than half of the texts
    np.testing.assert_allclose(numbers(encoding, source), expected[:, kept])
    assert len(set(encoding.groups.tolist())) == len(encoding.names)


def test_words_of_a_handful_of_texts_are_no_columns():
    encoding, _ = fitted({"t": ["cat runs", "dog runs", "cat sleeps", "dog sleeps"]}, as_kind={"t": "text"})
    assert told(encoding, "t").note == "text: no word is in 5 rows or more, and in at most half"


def test_missing_text_is_missing_and_text_can_be_set_aside():
    texts = ["cat runs home", "dog runs far", None, " ", "cat sleeps well", "dog sleeps late"]
    encoding, source = fitted({"t": texts * 3}, as_kind={"t": "text"}, words=2)
    found = numbers(encoding, source)[:6]
    assert np.isnan(found[2:4]).all() and np.isfinite(found[[0, 1, 4, 5]]).all()
    assert len(encoding.names) == 2
    aside, _ = fitted({"t": texts}, as_kind={"t": "text"}, words=0)
    assert (aside.names, told(aside, "t").note) == ((), "text, left out on request (words=0)")


def test_what_is_set_aside_says_why():
    columns = {
        "id": list(range(50)),
        "one": [3.0] * 50,
        "none": pa.nulls(50),
        "blank": [""] * 50,
        "list": [[1]] * 50,
        "dropped": np.arange(50) / 7,
        "x": np.arange(50) / 3,
    }
    encoding, _ = fitted(columns, drop=["dropped"])
    assert encoding.names == ("x",)
    assert {c.name: c.note for c in encoding.columns if not c.used} == {
        "id": "identifier: whole numbers, and a name that says so (id)",
        "one": "one value in all rows",
        "none": "no values",
        "blank": "no values",
        "list": "lists, records and bytes are not encoded",
        "dropped": "left out on request",
    }


def test_columns_mostly_missing_are_kept_here():
    encoding, _ = fitted({"x": [None] * 90 + [i / 7 for i in range(10)]})
    assert encoding.names == ("x",)
    assert told(encoding, "x").missing == 90


def test_columns_that_change_after_the_first_block_are_understood_anew():
    n = 70_000
    columns = {
        "was constant": np.where(np.arange(n) < n - 9, 5.0, np.arange(n)),
        "was empty": pa.array([None] * (n - 9) + [i / 2 for i in range(9)]),
        "was one word": ["a"] * (n - 1000) + ["b"] * 1000,
        "was count": np.append(np.arange(5, n + 4) % 1000, [-3]),
        "was whole": np.append(np.arange(5, n + 4) % 1000, [0.5]),
    }
    encoding, source = fitted(columns, log="never")
    assert [f.kind for f in source.schema] == ["constant", "empty", "constant", "count", "count"]
    assert [f.kind for f in encoding.fields] == ["number", "number", "category", "number", "number"]
    assert encoding.fields[0].why == "one value in all rows at first, more values later"
    assert encoding.fields[3].why.endswith("at first, values below zero later")
    assert encoding.fields[4].why.endswith("at first, values with fractions later")
    assert np.isfinite(numbers(encoding, source)[-1]).all()


@pytest.mark.parametrize(
    ("kind", "cells", "bad", "what"),
    [
        ("number", ["1.5", "2.5", "abc", "3"], "abc", "values are not numbers and count as missing"),
        ("boolean", ["yes", "no", "perhaps", "no"], "perhaps", "values are not yes or no and count as missing"),
        ("ordered", ["low", "high", "purple", "low"], "purple", None),
        (
            "time",
            ["2011-01-02", "2011-03-04", "2011-02-31", "2011-01-01"],
            "2011-02-31",
            "values are not dates or times",
        ),
    ],
)
def test_cells_that_contradict_the_kind_are_missing_and_told_with_their_line(tmp_path, kind, cells, bad, what):
    source = ArrowSource(pa.table({"x": cells}), declared=Declared(kinds={"x": kind}))
    source.line_of = lambda row: row + 2
    encoded = encode(source)
    values = np.concatenate(list(encoded.float_blocks()))[:, 0]
    if what is None:  # levels declared without a scale are taken from the data, so everything fits
        assert np.isfinite(values).all()
        return
    assert np.isnan(values).tolist() == [False, False, True, False]
    (problem,) = encoded.problems
    assert problem.what.startswith(what)
    assert problem.examples == (("line 4", bad),)
    stats = stats_of(source.to_arrow().to_batches()[0], source.schema)
    assert encoded.encoding.problems(stats, source) == (problem,)


def test_infinite_values_are_missing_and_told():
    encoded = encode(ArrowSource(pa.table({"x": [1.5, np.inf, -np.inf, 2.5], "y": [1.5, 2.5, 3.0, 1e300]})))
    found = np.concatenate(list(encoded.float_blocks()))
    assert np.isnan(found[:, 0]).tolist() == [False, True, True, False]
    assert found[3, 1] == 1e300
    (problem,) = encoded.problems
    assert (problem.what, problem.column, problem.count) == ("values are infinite and count as missing", "x", 2)
    assert problem.examples == (("row 2", "inf"), ("row 3", "-inf"))


def test_new_values_below_zero_have_no_logarithm():
    encoding, _ = fitted({"x": SKEWED})
    problems = Problems()
    found = encoding.transform(pa.record_batch({"x": [3.0, -0.5, -9.0]}), problems=problems)
    assert np.isnan(found[:, 0]).tolist() == [False, True, True]
    assert [p.count for p in problems] == [2]


def test_columns_may_come_in_another_order_but_none_may_lack():
    encoding, _ = fitted({"x": [1.5, 2.5], "y": [3.5, 4.5]})
    np.testing.assert_array_equal(encoding.transform(pa.record_batch({"y": [1.0], "z": [0.0], "x": [2.0]})), [[2, 1]])
    with pytest.raises(DataError, match="column 'x', which the encoding was fitted on, is missing; there are y"):
        encoding.transform(pa.record_batch({"y": [1.0]}))


def mixed(n=300):
    r = np.random.default_rng(4)
    return pa.table(
        {
            "x": pa.array(r.normal(size=n), mask=r.random(n) < 0.1),
            "skewed": np.round(np.exp(r.normal(6, 2, n))),
            "c": pa.array(r.choice(["a", "b", "c"], n), mask=r.random(n) < 0.1),
            "b": r.choice(["yes", "no"], n),
            "size": r.choice(["S", "M", "L"], n),
            "when": [dt.datetime(2001, 1, 1) + dt.timedelta(hours=int(h)) for h in r.integers(0, 90_000, n)],
            "text": [f"{a} and {b} were here" for a, b in r.choice(["ann", "bob", "cat", "dog"], (n, 2))],
        }
    )


def test_what_is_lossless_comes_back():
    table = mixed()
    encoding, source = fitted(table)
    back = encoding.decode(numbers(encoding, source))
    for name in ("x", "c", "b", "size", "when"):
        assert back.column(name).to_pylist() == table.column(name).to_pylist()
    np.testing.assert_allclose(back.column("skewed").to_numpy(), table.column("skewed").to_numpy(), rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 7, 64, 299])
def test_the_size_of_blocks_changes_nothing(rows):
    table = mixed()
    whole, source = fitted(table)

    class Cut(ArrowSource):
        def _batches(self):
            return iter(self._table.to_batches(max_chunksize=rows))

    cut = Cut(table)
    cut.schema = source.schema
    encoding = Encoding.fit(cut)
    assert encoding.names == whole.names
    np.testing.assert_allclose(numbers(encoding, cut), numbers(whole, source), rtol=1e-12, atol=0)


def test_an_encoding_from_merged_statistics_is_the_fitted_one():
    table = mixed()
    encoding, source = fitted(table)
    first, second = (table.slice(start, 200).combine_chunks().to_batches()[0] for start in (0, 200))
    a, b = stats_of(first, source.schema), stats_of(second, source.schema, first_row=200)
    assert Encoding.of(source.schema, a + b).names == encoding.names
    with pytest.raises(ParameterError, match="the statistics were gathered for other columns"):
        Encoding.of(source.schema[1:], a + b)


def test_a_saved_encoding_is_the_same_and_holds_no_code(tmp_path):
    encoding, source = fitted(mixed())
    header, arrays = encoding.to_parts()
    back = Encoding.from_parts(json.loads(json.dumps(header)), arrays)
    assert back == encoding
    np.testing.assert_array_equal(numbers(back, source), numbers(encoding, source))


@pytest.mark.parametrize(
    "damage",
    [
        lambda h: h.pop("codecs"),
        lambda h: h["codecs"].pop(),
        lambda h: h["codecs"][0].update(codec="os.system"),
        lambda h: h["codecs"][0].update(surprise=1),
        lambda h: h["columns"][0].update(outputs=7),
        lambda h: h["fields"][0].pop("levels"),
    ],
)
def test_a_damaged_file_is_refused(damage):
    header, arrays = fitted(mixed())[0].to_parts()
    damage(header)
    with pytest.raises(FileFormatError, match="the encoding in the file is damaged"):
        Encoding.from_parts(header, arrays)


def test_an_encoded_source_is_a_source_of_numbers():
    source = ArrowSource(mixed(), declared=Declared(units={"x": "kg"}, roles={"c": "target"}))
    encoded = encode(source, words=0)
    assert isinstance(encoded, EncodedSource)
    assert encoded.numeric_columns == encoded.encoding.names
    assert {f.kind for f in encoded.schema} == {"number"}
    assert encoded.schema[0].unit == "kg"
    assert [f.role for f in encoded.schema if f.name.startswith("c = ")] == ["target"] * 3
    by_arrow = encoded.to_arrow()
    np.testing.assert_array_equal(
        np.column_stack([by_arrow.column(name).to_numpy() for name in encoded.numeric_columns]),
        np.concatenate(list(encoded.float_blocks())),
    )
    assert encoded.rows_read == encoded.rows == 300
    assert all(block.flags.f_contiguous for block in encoded.float_blocks())


def test_labels_speak_the_columns_of_the_user():
    columns = {"Weight [kg]": SKEWED[:50], "speed": np.arange(50.0) + 0.5, "c": spread(["a", "b"], 50)}
    encoding, _ = fitted(columns, declared=Declared(units={"speed": "km/h"}), log=["Weight [kg]"])
    assert [encoding.label(j) for j in range(4)] == ["log(1 + Weight [kg])", "speed [km/h]", "c = a", "c = b"]
    assert fitted({"petal (cm)": np.arange(50.0) + 0.5})[0].label(0) == "petal (cm)"  # as in the data
    assert [encoding.source_column(j) for j in range(4)] == ["Weight [kg]", "speed", "c", "c"]
    with pytest.raises(ParameterError, match="group 0 is not a category"):
        encoding.level_shares(0)


def test_kinds_can_be_corrected_when_encoding():
    encoding, _ = fitted(
        {"stars": [1, 2, 3, 4, 5] * 4, "word": ["x", "y", "z", "x"] * 5},
        as_kind={"stars": "category", "word": "ordered"},
    )
    assert encoding.names == ("stars = 1", "stars = 2", "stars = 3", "stars = 4", "stars = 5", "word")
    assert encoding.fields[1].levels == ("x", "y", "z")
    with pytest.raises(ParameterError, match="column 'nope' was declared of a kind, but there is none"):
        fitted({"x": [1.5]}, as_kind={"nope": "number"})
    with pytest.raises(ParameterError, match="the kind of column 'x' is one of number"):
        fitted({"x": [1.5]}, as_kind={"x": "integer"})


@pytest.mark.parametrize("table", [pa.table({"x": [1.5]}), pa.table({"x": pa.array([], pa.float64())}), pa.table({})])
def test_one_row_no_rows_and_no_columns_give_no_numbers(table):
    encoding, source = fitted(table)
    assert encoding.names == ()
    assert encoding.rows == table.num_rows
    assert numbers(encoding, source).shape == (table.num_rows, 0)
    assert encoding.decode(np.empty((3, 0))).num_columns == 0


@pytest.mark.parametrize("options", [{"max_levels": 0}, {"words": -1}, {"min_share": 1.0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ParameterError, match="max_levels is at least 1, words at least 0, min_share from 0 to below 1"):
        fitted({"x": [1.5, 2.5]}, **options)


def test_values_of_the_wrong_shape_are_not_decoded():
    with pytest.raises(ParameterError, match=r"values to decode have shape \(m, 1\); got \(2, 3\)"):
        fitted({"x": [1.5, 2.5]})[0].decode(np.zeros((2, 3)))


def test_progress_is_told_in_rows():
    seen = []
    Encoding.fit(ArrowSource(pa.table({"x": np.arange(70_000) / 2})), progress=seen.append)
    assert len(seen) == 2 and seen == sorted(seen) and seen[-1] == 70_000


def test_names_that_are_alike_or_hold_markup_stay_apart():
    table = pa.Table.from_arrays([pa.array([1.5, 2.5])] * 3, names=["<b>x", "<b>x", "<b>x"])
    encoding, source = fitted(table)
    assert encoding.names == ("<b>x", "<b>x (2)", "<b>x (3)")
    np.testing.assert_array_equal(numbers(encoding, source), [[1.5] * 3, [2.5] * 3])


def test_arguments_are_not_changed():
    values = np.array([1.5, np.inf, 3.0])
    encoded = encode(ArrowSource(pa.table({"x": values})))
    list(encoded.float_blocks())
    assert values[1] == np.inf


def test_the_bundled_customers_are_encoded_as_a_reader_would(wholesale):
    encoded = encode(CsvSource(wholesale))
    kinds = {c.name: (c.kind, c.encoded) for c in encoded.encoding.columns}
    assert kinds["Channel"] == ("category", "one per level: 2 levels")
    assert kinds["Region"] == ("category", "one per level: 3 levels")
    assert kinds["Milk"] == ("count", "log(1 + x)")
    shares = [encoded.encoding.level_shares(j).tolist() for j in (0, 1)]
    assert shares == [[298 / 440, 142 / 440], [77 / 440, 47 / 440, 316 / 440]]


def test_fields_made_by_hand_can_be_encoded():
    fields = (Field("c", "category"), Field("x", "number"))
    stats = stats_of(pa.record_batch({"c": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]}), fields)
    assert Encoding.of(fields, stats).names == ("c = a", "c = b", "x")


def test_an_encoding_travels_by_itself(tmp_path):
    from assay.models.files import load

    encoding, source = fitted({"town": ["Oslo", "Rome"] * 20, "x": np.arange(40.0) ** 3})
    encoding.save(tmp_path / "e.assay")
    there = encode(source, load(tmp_path / "e.assay"))
    np.testing.assert_array_equal(np.vstack([*there.float_blocks()]), numbers(encoding, source))
    with pytest.raises(ParameterError, match="the encoding is given, so log cannot be decided"):
        encode(source, encoding, log="never")


def test_one_number_a_column_holds_codes_of_all_levels_and_neither_parts_nor_words(tmp_path):
    days = [dt.date(2019, 1, 1) + dt.timedelta(days=30 * i) for i in range(60)]
    towns = [f"town {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(30)]  # more than get numbers of their own
    columns = {"town": spread(towns, 60), "day": days, "size": np.arange(60.0) ** 1.5}
    columns["town"][7] = None
    encoding, source = fitted(columns, single=True, log="never", declared=Declared(kinds={"town": "category"}))
    assert encoding.names == ("town", "day (days since 2019-01-01)", "size")
    values = numbers(encoding, source)
    assert np.isnan(values[7, 0]) and len(np.unique(values[:, 0])) == 30 + 1  # NaN is one
    assert encoding.decode(values).column("town").to_pylist() == columns["town"]
    new = pa.RecordBatch.from_pydict({"town": ["Lima", "Quito"], "day": days[:2], "size": [1.0, 2.0]})
    problems = Problems()
    assert encoding.transform(new, problems=problems)[:, 0].tolist() == [30.0, 30.0]
    assert [(found.column, found.count) for found in problems] == [("town", 2)]
    assert encoding.decode(np.array([[30.0, 0.0, 0.0]])).column("town").to_pylist() == [None]
    again = Encoding.from_parts(*encoding.to_parts())
    np.testing.assert_array_equal(numbers(again, source), values)
