"""Results of long passes are kept for the next run, which is the same to the byte; damage costs time only."""

import json
import os
import stat

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from assay.cli import app
from assay.data.read import read
from assay.engine import cache as module
from assay.engine.cache import Cache, cache_folder
from assay.engine.current import caching
from assay.report.findings_json import dumps
from assay.study.run import study
from assay.summary.moments.moments import Moments

LONG_AGO = 1_500_000_000


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "LARGE", 1)
    monkeypatch.setattr(module, "LONG", 0.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 1)) + rng.standard_normal((500, 3))
    return pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "who": [f"name{i % 7}" for i in range(500)]})


def written(path, seed=0, write=pq.write_table):
    write(table(seed), path)
    os.utime(path, (LONG_AGO, LONG_AGO))  # a file written this second may be written again, and no time would tell
    return path


@pytest.fixture
def file(tmp_path):
    return written(tmp_path / "rows.parquet")


def bits(moments):
    return [np.asarray(part).tobytes() for pair in moments._pairs() for part in pair]


def summed(path, folder, **how):
    with caching(folder) as cache:
        return bits(Moments.of(read(path, **how))), cache


@pytest.mark.parametrize(("name", "write"), [("a.parquet", pq.write_table), ("a.csv", pa_csv.write_csv)])
def test_a_study_taken_from_the_cache_is_the_same_to_the_byte(tmp_path, name, write):
    path = written(tmp_path / name, write=write)
    plain, first, again = (
        dumps(study(path, cache=cache, effort="quick")) for cache in (False, tmp_path / "kept", tmp_path / "kept")
    )
    assert plain == first == again
    assert Cache(tmp_path / "kept").entries


def test_the_second_pass_is_not_made(file, tmp_path):
    first, made = summed(file, tmp_path / "kept")
    again, found = summed(file, tmp_path / "kept")
    assert first == again
    assert ((made.found, made.worked), (found.found, found.worked)) == ((0, 1), (1, 0))


def test_problems_and_rows_of_the_pass_are_told_again(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3\n4,5\n6,7\n8,9\n")
    os.utime(path, (LONG_AGO, LONG_AGO))
    told = []
    for _ in range(2):
        source = read(path)
        with caching(tmp_path / "kept"):
            Moments.of(source)
        told.append((str(list(source.problems)), source.rows_read))
    assert told[0] == told[1]


def test_another_content_is_another_result(file, tmp_path):
    first, _ = summed(file, tmp_path / "kept")
    written(file, seed=1)
    other, cache = summed(file, tmp_path / "kept")
    assert other != first
    assert cache.found == 0


def test_a_file_written_this_second_is_not_kept(tmp_path):
    pq.write_table(table(), tmp_path / "now.parquet")
    _, cache = summed(tmp_path / "now.parquet", tmp_path / "kept")
    assert cache.entries == []


def test_damage_is_noticed_and_the_pass_made_anew(file, tmp_path):
    first, cache = summed(file, tmp_path / "kept")
    [(_, _, kept)] = cache.entries
    whole = kept.read_bytes()
    for damaged in (whole[:-1], whole[:40] + bytes([whole[40] ^ 1]) + whole[41:], b""):
        kept.write_bytes(damaged)
        again, anew = summed(file, tmp_path / "kept")
        assert again == first
        assert (anew.found, anew.worked) == (0, 1)


def test_another_version_of_assay_finds_nothing(file, tmp_path, monkeypatch):
    from assay.engine import fingerprint

    summed(file, tmp_path / "kept")
    monkeypatch.setattr(fingerprint, "_surroundings", lambda: ("another version",))
    _, cache = summed(file, tmp_path / "kept")
    assert (cache.found, cache.worked) == (0, 1)


def test_nothing_of_a_file_with_a_sensitive_column_is_kept(file, tmp_path):
    _, cache = summed(file, tmp_path / "kept", sensitive=["who"])
    assert cache.entries == []
    assert not (tmp_path / "kept").exists()


def test_small_files_and_short_passes_are_not_kept(file, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LONG", 3600.0)
    assert summed(file, tmp_path / "kept")[1].entries == []
    monkeypatch.setattr(module, "LONG", 0.0)
    monkeypatch.setattr(module, "LARGE", 1 << 40)
    assert summed(file, tmp_path / "kept")[1].worked == 0


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_only_the_user_can_read_what_is_kept(file, tmp_path):
    _, cache = summed(file, tmp_path / "kept")
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700
    assert [stat.S_IMODE(kept.stat().st_mode) for _, _, kept in cache.entries] == [0o600]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_folder_that_others_may_write_to_is_passed_over(file, tmp_path):
    first = summed(file, tmp_path / "kept")[0]
    (tmp_path / "kept").chmod(0o777)
    again, strange = summed(file, tmp_path / "kept")
    assert again == first
    assert strange.found == 0


def test_a_place_that_cannot_be_written_stops_nothing(file, tmp_path):
    (tmp_path / "taken").write_text("a file where the folder should be")
    assert summed(file, tmp_path / "taken")[0] == summed(file, False)[0]


def test_the_oldest_results_make_room(tmp_path, monkeypatch):
    files = [written(tmp_path / f"{i}.parquet", seed=i) for i in range(3)]
    for number, path in enumerate(files[:2]):
        _, cache = summed(path, tmp_path / "kept")
        newest = cache.entries[-1]
        os.utime(newest[2], (LONG_AGO + number, LONG_AGO + number))
    summed(files[0], tmp_path / "kept")  # used again
    monkeypatch.setattr(module, "LIMIT", 5 * cache.entries[0][1] // 2)
    summed(files[2], tmp_path / "kept")
    assert [summed(path, tmp_path / "kept")[1].found for path in (files[0], files[2], files[1])] == [1, 1, 0]


def test_the_folder_is_that_of_the_system(tmp_path, monkeypatch):
    assert cache_folder() == tmp_path / "caches" / "assay"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, by the standard
    assert cache_folder().is_absolute()


def test_the_command_line_shows_and_clears_it_and_does_without(file, tmp_path):
    def report(*flags):
        page, found = tmp_path / "p.html", tmp_path / "f.json"
        done = CliRunner().invoke(app, ["report", str(file), "-o", str(page), "--json", str(found), "--quick", *flags])
        assert done.exit_code == 0, done.output
        return json.loads(found.read_text())

    plain = report("--no-cache")
    assert "0.0 MB in 0 files" in CliRunner().invoke(app, ["cache"]).output.replace("\n", "")
    assert report() == plain
    kept = len(Cache().entries)
    assert kept
    assert f"in {kept} file" in CliRunner().invoke(app, ["cache"]).output.replace("\n", "")
    assert report() == plain
    assert "Removed" in CliRunner().invoke(app, ["cache", "clear"]).output
    assert Cache().entries == []
