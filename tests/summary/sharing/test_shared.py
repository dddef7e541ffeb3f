"""Summaries that sites share: equal to pooling the rows, silent about them, and refused where they would tell."""

import copy
import json
import random
import string

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.data.files import read_archive, write_archive
from assay.errors import DataError, FileFormatError, ParameterError
from assay.summary.moments.moments import Moments
from assay.summary.sharing.shared import SharedMoments, merged

WARDS = ("north", "south", "east")


def people(n, seed=0, wards=WARDS):
    """A table with every kind of column."""
    rng = np.random.default_rng(seed)
    level = rng.standard_normal(n)
    return pa.table(
        {
            "patient": [f"ID-{seed}-{i:06d}" for i in range(n)],
            "age": np.round(52.0 + 9.0 * level + 4.0 * rng.standard_normal(n), 3),
            "pressure": np.round(1000.0 + level + 0.7 * rng.standard_normal(n), 5),
            "visits": rng.poisson(4.0, n),
            "ward": rng.choice(wards, n),
            "smokes": rng.choice(["yes", "no"], n),
            "seen": np.datetime64("2019-03-05") + rng.integers(0, 900, n).astype("timedelta64[D]"),
            "remark": [f"{''.join(rng.choice(list(string.ascii_lowercase), 20))} long words here" for _ in range(n)],
            "income": np.round(rng.lognormal(9.0, 1.0, n), 2),
        }
    )  # fmt: skip


def parts_of(table, k=3):
    return [table.take(np.arange(i, table.num_rows, k)) for i in range(k)]


@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e3, 1e8]))
@settings(max_examples=25, deadline=None)
def test_merged_sites_are_the_rows_pooled(sites, seed, offset):
    """Chunks are summed in double precision, each pair of sums in twice that: what differs is the chunks."""
    rng = np.random.default_rng(seed)
    rows = offset + rng.standard_normal((40 * sites, 3)) * [1.0, 1e-3, 1e3]
    cuts = np.sort(rng.choice(np.arange(20, len(rows) - 20), sites - 1, replace=False))
    pieces = [piece for piece in np.split(rows, cuts) if len(piece) >= 20]
    whole = np.concatenate(pieces)
    together = merged([assay.summarize(piece, cv=2) for piece in pieces]).total
    pooled = Moments.of(whole)
    assert together.count == pooled.count == len(whole)
    eps = np.finfo(float).eps
    np.testing.assert_allclose(together.mean, pooled.mean, rtol=4 * eps, atol=4 * eps * np.abs(whole).max())
    # a column is shifted near its mean first: deviations are as exact as the values, which are to eps of their size
    spread = np.sqrt(np.diag(pooled.scatter))
    off = np.abs(whole).max(axis=0) * eps * np.sqrt(len(whole))
    slack = 8 * (eps * np.outer(spread, spread) + np.outer(off, spread) + np.outer(spread, off))
    assert (np.abs(together.scatter - pooled.scatter) <= slack).all()


def test_the_order_of_merging_does_not_show():
    tables = [people(200, seed) for seed in range(3)]
    first = assay.summarize(tables[0])
    a, b, c = first, *(assay.summarize(t, like=first) for t in tables[1:])
    one, other = (a + b) + c, c + (b + a)
    np.testing.assert_array_equal(one.total.scatter, other.total.scatter)
    np.testing.assert_array_equal(one.total.mean, other.total.mean)
    assert sum([a, b, c]).total.count == 600
    for k, fold in enumerate(one.by_fold.parts):
        np.testing.assert_array_equal(fold.mean, other.by_fold.parts[k].mean)


def test_sites_of_every_kind_of_column_are_the_rows_pooled():
    whole = people(900)
    sites = parts_of(whole)
    first = assay.summarize(sites[0], by="smokes")
    together = first + sum(assay.summarize(site, by="smokes", like=first) for site in sites[1:])
    pooled = assay.summarize(whole, by="smokes", like=first)
    assert together.groups == pooled.groups == ("no", "yes")
    assert [m.count for m in together.fewer_folds(1).parts] == [m.count for m in pooled.fewer_folds(1).parts]
    for one, other in zip(together.fewer_folds(1).parts, pooled.fewer_folds(1).parts, strict=True):
        scale = np.sqrt(np.diag(other.scatter))
        np.testing.assert_allclose(
            one.scatter / scale / scale[:, None], other.scatter / scale / scale[:, None], atol=1e-13
        )


def test_folds_are_of_about_the_same_size_and_can_be_put_together():
    made = assay.summarize(people(1003), drop=["ward", "smokes"], cv=7)
    counts = [m.count for m in made.parts]
    assert max(counts) - min(counts) <= 1 and sum(counts) == 1003
    fewer = made.fewer_folds(3)
    assert [m.count for m in fewer.parts] == [sum(counts[k::3]) for k in range(3)]
    np.testing.assert_allclose(fewer.total.scatter, made.total.scatter, rtol=1e-14)
    with pytest.raises(ParameterError, match="can become 1 to 3"):
        fewer.fewer_folds(4)


def test_folds_are_finer_where_groups_are_together():
    """Folds of groups would be too small; those of all rows are not, and say the same of all rows together."""
    made = [assay.summarize(people(150, seed), by="smokes", drop=["ward"]) for seed in range(2)]
    assert [len(one.finer) for one in made] == [10, 10] and max(one.folds for one in made) < 8
    together = made[0] + made[1]
    assert len(together.by_fold.parts) == 10 and sum(m.count for m in together.finer) == together.total.count == 300
    scale = np.sqrt(np.diag(together.total.scatter))
    np.testing.assert_allclose(
        together.by_fold.total.scatter / scale / scale[:, None],
        together.total.scatter / scale / scale[:, None],
        atol=1e-13,
    )
    fewer = together.fewer_folds(together.folds)
    assert not fewer.finer and fewer.folds == together.folds
    assert len(together.fewer_folds(9).finer) == 9


def test_the_file_holds_no_value_of_the_table(tmp_path):
    """Not as a number of eight bytes, not as text, neither in names, levels nor notes; also of days and identifiers."""
    table = people(400, wards=("north", "south", "east", "north", "south", "Xanadu-clinic-7"))
    table = table.filter(pc.or_(pc.not_equal(table["ward"], "Xanadu-clinic-7"), pc.less(table["visits"], 2)))
    rare = sum(ward == "Xanadu-clinic-7" for ward in table["ward"].to_pylist())
    assert 0 < rare < 10
    path = tmp_path / "site.moments"
    made = assay.summarize(table, sensitive=["income"])
    made.save(path)
    content = path.read_bytes()
    assert b"Xanadu" not in content and b"income" not in content and b"long words" not in content
    assert made.contributions[0].strange == rare
    for name in ("patient", "remark"):
        assert not any(value.encode() in content for value in table[name].to_pylist())
    for name in ("age", "pressure", "income"):
        values = np.asarray(table[name])
        assert not any(value.tobytes() in content for value in values)
        assert not any(repr(value).encode() in content for value in values.tolist())
    days = {str(day).encode() for day in np.asarray(table["seen"]).astype("datetime64[D]")}
    assert not any(day in content for day in days)
    numbers = (np.asarray(table["seen"]).astype("datetime64[D]") - np.datetime64("2000-01-01")).astype(float)
    assert not any(number.tobytes() in content for number in numbers)
    assert str(tmp_path).encode() not in content and b"site.moments" not in content
    # ends of columns are rows, too
    assert not any(np.float64(end).tobytes() in content for end in (max(numbers), min(numbers)))


def test_what_the_file_says_is_this_and_nothing_else(tmp_path):
    assay.summarize(people(300), by="ward").save(tmp_path / "x")
    kind, header, arrays = read_archive(tmp_path / "x")
    assert kind == "SharedMoments"
    assert set(header) == {"by", "columns", "contributions", "counts", "encoding", "finer", "folds", "groups"}
    assert set(header["contributions"][0]) == {"id", "gaps", "strange", "release"}
    assert {c["note"] for c in header["encoding"]["columns"]} == {""}
    assert {(f["role"], f["why"]) for f in header["encoding"]["fields"]} == {(None, "")}
    g, d = len(header["counts"]), len(header["columns"])
    assert {name: a.shape for name, a in arrays.items()} == {
        "weight_high": (g,), "weight_low": (g,), "mean_high": (g, d), "mean_low": (g, d),
        "scatter_high": (g, d, d), "scatter_low": (g, d, d),
    }  # fmt: skip


def test_a_file_comes_back_bit_for_bit(tmp_path):
    made = assay.summarize(people(300), by="ward")
    made.save(tmp_path / "x")
    back = assay.load(tmp_path / "x")
    assert (back.groups, back.by, back.folds, back.contributions) == (
        made.groups,
        made.by,
        made.folds,
        made.contributions,
    )
    assert back.encoding == made.encoding
    for one, other in zip(back.parts, made.parts, strict=True):
        for a, b in zip(one._pairs(), other._pairs(), strict=True):
            np.testing.assert_array_equal(a, b)


def test_rows_with_gaps_are_left_out_and_counted():
    table = people(300)
    age = table["age"].to_pylist()
    age[5] = age[77] = None
    table = table.set_column(1, "age", pa.array(age))
    made = assay.summarize(table)
    assert made.contributions[0].gaps == 2 and made.total.count == 298
    names = ("age", "pressure", "visits")
    whole = np.column_stack([np.asarray(table[n].to_pylist(), dtype=float) for n in names])
    whole = whole[~np.isnan(whole).any(axis=1)]
    np.testing.assert_allclose(made.total[list(names)].mean, whole.mean(axis=0), rtol=1e-14)


def test_a_column_that_mostly_lacks_its_value_is_left_out():
    table = people(300).append_column("rarely", pa.array([1.5 * i if i % 3 == 0 else None for i in range(300)]))
    made = assay.summarize(table)
    assert "rarely" not in [f.name for f in made.encoding.fields] and made.total.count == 300


def test_the_same_rows_count_once():
    a, b = assay.summarize(people(100)), assay.summarize(people(100))
    other = assay.summarize(people(100, seed=1), like=a)
    with pytest.raises(DataError, match="summary 1 and summary 2 hold the same rows, which would count twice"):
        _ = a + a
    with pytest.raises(DataError, match="hold the same rows"):
        _ = (a + other) + a
    with pytest.raises(DataError, match="hold the same numbers, probably of the same rows"):
        _ = a + b  # summarised twice
    assert merged([a, a], repeats=True).total.count == 200


def test_what_differs_between_sites_is_named_and_how_to_agree():
    a = assay.summarize(people(200))
    with pytest.raises(
        DataError, match=r"'ward' has other levels \(.*'east'.*\); summarise the second with --like one"
    ):
        merged([a, assay.summarize(people(200, 1, wards=("north", "south")))], names=["one", "two"])
    with pytest.raises(DataError, match="'age' is only in the first"):
        _ = a + assay.summarize(people(200, 1), drop=["age"])
    with pytest.raises(DataError, match=r"'income' is log\(1 \+ x\) in the first and as it is in the second"):
        _ = a + assay.summarize(people(200, 1), log="never")
    with pytest.raises(DataError, match="is grouped not by any column and summary 2 by 'ward'"):
        _ = assay.summarize(people(200), drop=["ward"]) + assay.summarize(people(200, 1), by="ward")
    with pytest.raises(DataError, match="'age' is in no unit and in years"):
        _ = a + assay.summarize(people(200, 1), units={"age": "years"})


def test_a_level_that_other_sites_do_not_know_is_left_out_and_counted():
    a = assay.summarize(people(300))
    strange = people(300, 1, wards=(*WARDS, "moon"))
    b = assay.summarize(strange, like=a)
    moon = sum(ward == "moon" for ward in strange["ward"].to_pylist())
    assert b.contributions[0].strange == moon > 30 and b.total.count == 300 - moon
    assert (a + b).total.count == 600 - moon


def test_an_encoding_alone_is_enough_to_agree(tmp_path):
    table = people(300)
    assay.encode(assay.read(table), drop=["patient"]).encoding.save(tmp_path / "encoding.assay")
    agreed = assay.load(tmp_path / "encoding.assay")
    a, b = (assay.summarize(people(300, seed), like=agreed) for seed in range(2))
    assert (a + b).total.count == 600
    assert [name for name in a.encoding.names if name.startswith("ward")] == [f"ward = {w}" for w in sorted(WARDS)]


def test_rare_levels_are_pooled_without_their_names(tmp_path):
    rng = np.random.default_rng(0)
    ward = rng.choice(["a", "b", *(f"secret-{i}" for i in range(8))], 1000, p=[0.5, 0.46, *([0.005] * 8)])
    made = assay.summarize(pa.table({"x": rng.standard_normal(1000), "ward": ward}))
    assert made.encoding.names == ("x", "ward = a", "ward = b", "ward = other levels")
    assert made.total.count == 1000
    made.save(tmp_path / "x")
    assert b"secret" not in (tmp_path / "x").read_bytes()


def test_parts_and_levels_of_few_rows_are_not_shared(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.standard_normal(60), "g": ["a"] * 52 + ["b"] * 8})
    with pytest.raises(DataError, match="group 'b' of 'g' has 8 complete rows, fewer than 10"):
        assay.summarize(table, by="g")
    only = assay.summarize(table, by="g", groups=["a"])
    assert only.groups == ("a",) and (only.contributions[0].gaps, only.contributions[0].strange) == (0, 8)
    assert assay.summarize(table, by="g", fewest_rows=8).groups == ("a", "b")
    with pytest.raises(DataError, match="fewer than 10, which could be told"):
        assay.summarize(rng.standard_normal((9, 2)))
    # folds become fewer until each has enough rows
    assert assay.summarize(rng.standard_normal((35, 2))).folds == 3
    made = assay.summarize(rng.standard_normal((100, 2)), fewest_rows=1)
    with pytest.raises(DataError, match="cannot write .*: fold 1 has 10 rows, fewer than 20"):
        made.save(tmp_path / "x", fewest_rows=20)
    assert not (tmp_path / "x").exists()


def test_rows_of_a_level_that_few_have_are_left_out():
    """A sum over a 0/1 column and another is the sum of the other over few rows."""
    rng = np.random.default_rng(0)
    flag = np.zeros(200, dtype=bool)
    flag[[3, 50, 51]] = True
    made = assay.summarize(pa.table({"x": rng.standard_normal(200), "ill": flag}))
    assert made.contributions[0].strange == 3 and made.total.count == 197
    in_group = pa.table({"x": rng.standard_normal(400), "ill": np.r_[flag, ~flag], "g": ["a"] * 200 + ["b"] * 200})
    by_group = assay.summarize(in_group, by="g")
    assert by_group.contributions[0].strange == 6
    for part in by_group.parts:
        for j, ones in enumerate(np.round(part.mean * part.count)):
            if by_group.encoding.names[j] == "ill":
                assert ones in (0, part.count)


def test_wrong_options_are_refused():
    table = people(100)
    for options, why in [
        ({"by": "sex"}, "there is no column 'sex'"),
        ({"drop": ["sex"]}, "there is no column 'sex'"),
        ({"by": "ward", "drop": ["ward"]}, "cannot be left out: rows are grouped by it"),
        ({"cv": 0}, "at least 1"),
        ({"groups": ["north"]}, "give it with --by"),
        ({"like": assay.summarize(table), "drop": ["age"]}, "must be left out there"),
        ({"like": assay.summarize(table), "by": "ward"}, "give the same --by"),
        ({"by": "patient"}, "more than 1,000 groups|complete rows, fewer than"),
    ]:
        with pytest.raises((ParameterError, DataError), match=why):
            assay.summarize(table, **options)
    with pytest.raises(DataError, match="no column that can be summarised"):
        assay.summarize(table.select(["patient"]))
    with pytest.raises(DataError, match="no row has a value in every column"):
        assay.summarize(
            pa.table({"x": [1.0, 2.0, None, None], "y": [None, None, 1.0, 2.0]}), like=assay.summarize(
                pa.table({"x": np.arange(20.0) ** 2, "y": np.arange(20.0) * 1.5})
            )
        )  # fmt: skip


def test_a_header_that_was_written_to_do_harm_never_breaks_the_reader(tmp_path):
    """Any node of the header becomes any other thing: a refusal in words, or moments that can be merged and studied."""
    assay.summarize(people(200), by="smokes").save(tmp_path / "x")
    kind, header, arrays = read_archive(tmp_path / "x")
    junk = [None, True, -1, 10**30, 1e308, float("nan"), "", "x" * 100, [], {}, [None], {"codec": "aside"}, [["a"], 1]]
    rng, loaded = random.Random(0), 0
    for _ in range(400):
        bad = copy.deepcopy(header)
        node, place = bad, rng.choice(list(bad))
        while isinstance(node[place], (dict, list)) and node[place] and rng.random() < 0.8:
            node = node[place]
            place = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
        node[place] = rng.choice(junk)
        write_archive(tmp_path / "y", kind, bad, arrays)
        try:
            found = SharedMoments.load(tmp_path / "y")
            loaded += 1
            repr(found), found.noise, json.dumps(found.to_parts()[0])
            assay.study(found)
        except FileFormatError:
            continue
    assert 0 < loaded < 200


def test_data_larger_than_memory_are_summed_block_by_block():
    """A source of many blocks, made as they are asked for."""
    rng = np.random.default_rng(0)
    blocks = [rng.standard_normal((5000, 4)) for _ in range(12)]
    told = []
    made = assay.summarize(iter(blocks), progress=lambda what, rows, share: told.append((what, rows)))
    np.testing.assert_allclose(made.total.covariance, np.cov(np.concatenate(blocks).T), rtol=1e-9, atol=1e-12)
    assert ("Summarising", 60_000) in told
