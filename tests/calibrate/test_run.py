import json

import pytest
from calibrate.families import FAMILIES
from calibrate.run import Job, jobs, run

from calibrate import run as module


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A cache of its own, jobs done in this process, and the list of those that were."""
    made = []

    def finished(left, until, workers):
        for job in left:
            made.append(job)
            yield job, {"number": job.number}

    monkeypatch.setattr(module, "CACHE", tmp_path / "results" / "tables.jsonl")
    monkeypatch.setattr(module, "_finished", finished)
    return made


def test_every_table_of_every_family_is_a_job_once():
    wanted = jobs()
    assert len(set(wanted)) == len(wanted)
    for family in FAMILIES.values():
        assert sum(job[:2] == ("table", family.name) for job in wanted) == family.tables


def test_a_run_cut_anywhere_has_had_the_same_share_of_every_family():
    wanted = jobs()
    half = wanted[: len(wanted) // 2]
    for family in FAMILIES.values():
        done = sum(job[:2] == ("table", family.name) for job in half)
        assert abs(done - family.tables / 2) <= 1 + 0.02 * family.tables, family.name


def test_fewer_tables_are_asked_for_in_proportion():
    assert sum(job.name == "normal, four shapes" and job.part == "table" for job in jobs(3)) == 3
    assert sum(job.name == "2% binaries, 200 x 6" for job in jobs(3)) == 6
    assert {job.name for job in jobs(1, "parabola")} == {"parabola, 200 x 4"}


def test_what_is_done_is_not_done_again_and_what_was_cut_short_is(here):
    wanted = [Job("table", "a", 0), Job("table", "a", 1)]
    run(wanted[:1])
    with module.CACHE.open("a") as cache:
        cache.write('{"key": "cut\n')
    assert run(wanted) == {job: {"number": job.number} for job in wanted}
    assert here == wanted


def test_records_of_other_sources_are_not_used(here, monkeypatch):
    wanted = [Job("table", "a", 0)]
    run(wanted)
    monkeypatch.setattr(module, "source_hash", lambda: "another")
    run(wanted)
    assert here == wanted * 2
    assert len({json.loads(line)["key"] for line in module.CACHE.read_text().splitlines()}) == 2


def test_another_process_does_what_this_one_does(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CACHE", tmp_path / "tables.jsonl")
    wanted = [Job("table", "Fisher's rule, 100 rows", number) for number in (0, 1)]
    found = run(wanted, workers=1)
    assert found == {job: module.done(job) for job in wanted}
