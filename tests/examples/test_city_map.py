"""The city map: its places are true, and distances alone give the map back."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

TESTS = next(p for p in Path(__file__).parents if p.name == "tests")
ROADS = TESTS.parent.parent / "shared/data/city_distances/eurodist_km.csv"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("city_map", TESTS.parent / "examples" / "city_map.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("one", "other", "km"),
    # great-circle distances between the cities as published in tables of air distances
    [("London", "Paris", 344), ("Madrid", "Rome", 1365), ("Stockholm", "Athens", 2410), ("Berlin", "Warsaw", 517),
     ("Lisbon", "Oslo", 2740), ("Vienna", "Budapest", 214), ("Dublin", "Copenhagen", 1240), ("Hamburg", "Munich", 612)],
)  # fmt: skip
def test_cities_are_as_far_apart_as_they_are(example, one, other, km):
    known = example.read_cities()
    distances = example.great_circle(np.array([known[one], known[other]]))
    assert distances[0, 1] == pytest.approx(km, rel=0.01)
    assert distances[0, 0] == 0


def test_the_globe_gives_back_the_map(example, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example.main()
    said = capsys.readouterr().out
    shares = [float(line.split("r2 ")[1].split(" ")[0]) for line in said.splitlines() if "r2" in line]
    assert len(shares) == 2
    assert min(shares) > 0.995
    assert (tmp_path / "city_map.html").stat().st_size > 1e5


@pytest.mark.skipif(not ROADS.exists(), reason="the shared road distances are not here")
def test_roads_give_a_map_that_is_recognised(example, capsys, tmp_path, monkeypatch):
    names, _ = example.read_distances(ROADS)
    assert set(names) <= set(example.read_cities())
    monkeypatch.chdir(tmp_path)
    example.main(ROADS)
    said = capsys.readouterr().out
    shares = [float(line.split("r2 ")[1].split(" ")[0]) for line in said.splitlines() if "r2" in line]
    assert min(shares) > 0.9
