"""Any table with labels can be drawn on two maps."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

TESTS = next(p for p in Path(__file__).parents if p.name == "tests")


def test_a_table_of_ones_own_is_drawn_with_its_measures(capsys, tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("embeddings_example", TESTS.parent / "examples" / "embeddings.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    rng = np.random.default_rng(0)
    rows = [f"{'ab'[i % 2]},{','.join(f'{x:.3f}' for x in rng.normal(3 * (i % 2), 1, 4))}" for i in range(60)]
    path = tmp_path / "own.csv"
    path.write_text("tissue,w,x,y,z\n" + "\n".join(rows))
    monkeypatch.chdir(tmp_path)
    example.table(path, "tissue")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "own"
    assert [line.split(":")[0].strip() for line in said[1:]] == ["PCA", "t-SNE"]
    assert all("Trustworthiness 0.8" in line or "Trustworthiness 0.9" in line for line in said[1:])
    page = (tmp_path / "own.html").read_text("utf-8")
    assert "a (30)" in page and "b (30)" in page
