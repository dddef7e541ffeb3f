"""The model that `assay predict` saves: which one it is, how it was judged, and what it says of new rows."""

import csv
import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.cli.learning import _best, half_width, learned
from assay.evidence.design import Grouped, Independent, Serial


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def ring(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 2))
    return x, np.where((x**2).sum(axis=1) < 1.6, 1, 0)


def test_a_line_is_kept_where_a_line_is_all_there_is_and_a_kernel_taken_where_it_is_needed():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(150, 4))
    straight = Z[:, 0] - Z[:, 1] + 0.5 * rng.normal(size=150)
    found = learned(Z, straight / straight.std(), Independent(150), classes=False, seed=0)
    assert found.chosen.kind == "Ridge" and found.interval[0] < found.score < found.interval[1] <= 1
    x, inside = ring(200)
    found = learned(x, inside, Independent(200), classes=True, seed=0)
    assert found.chosen.kind == "SVM" and found.score > found.each["a line"] + 0.2


def test_the_choice_is_judged_on_rows_that_had_no_part_in_it():
    """On noise the best of several looks better than chance on the rows that chose it; the score must not."""
    scores = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        Z, y = rng.normal(size=(60, 3)), rng.permutation(np.repeat([0, 1], 30))
        scores.append(learned(Z, y, Independent(60), classes=True, seed=seed, quick=True).score)
    # 12 tables of 60 rows: a standard error of about 3%, as rows of a table share their folds
    assert np.mean(scores) < 0.5 + 3 * 0.03


def test_groups_stay_together_and_time_is_judged_forward():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(120, 2)), rng.normal(size=120)
    label = np.repeat(np.arange(20), 6)
    seen = {}
    learned(Z, y, Grouped(120, label), classes=False, seed=0, quick=True, tell=seen.setdefault)
    assert min(seen) == 0.0 and max(seen) < 1.0
    forward = learned(Z, y, Serial(120, np.arange(120), 1), classes=False, seed=0, quick=True)
    assert forward.rows.min() > 0 and forward.rows.max() == 119


def test_the_simplest_is_taken_unless_another_is_better_by_more_than_an_error():
    noisy, better = np.array([1.0, 1.2, 0.8]), np.array([0.9, 1.25, 0.75])
    assert _best([noisy, better]) == 0
    assert _best([noisy, noisy - 0.5]) == 1


def test_an_interval_holds_nine_of_ten_and_is_not_given_where_rows_are_too_few():
    assert half_width(np.arange(1.0, 100.0)) == 90.0
    assert half_width(np.arange(5.0)) == np.inf


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    x, inside = ring(240)
    rng = np.random.default_rng(3)
    y = np.sin(2 * x[:, 0]) + x[:, 1] ** 2 + 0.1 * rng.normal(size=240)
    lines = ["id,u,v,colour,y,k"]
    for i in range(240):
        colour = "red" if i % 3 else "blue"
        lines.append(f"n{i:03d},{x[i, 0]:.4f},{x[i, 1]:.4f},{colour},{y[i]:.4f},{'in' if inside[i] else 'out'}")
    (folder / "d.csv").write_text("\n".join(lines[:181]) + "\n")
    (folder / "later.csv").write_text("\n".join([lines[0], *lines[181:]]) + "\n")
    for target, other in (("y", "k"), ("k", "y")):
        told = ("--target", target, "--drop", other, "--save", folder / f"{target}.assay", "--quick")
        done = run("predict", folder / "d.csv", *told)
        assert done.exit_code == 0, done.stderr
    return folder


def test_what_is_saved_is_the_model_that_was_judged_best_and_it_keeps_its_promise_on_later_rows(saved):
    known = assay.load(saved / "y.assay")
    assert type(known.model).__name__ == "SVR" and known.judged["score"] > known.judged["candidates"]["a line"]
    found = known.predict(saved / "later.csv").table
    truth = np.array([float(row["y"]) for row in rows_of((saved / "later.csv").read_text())])
    low, high = (found.column(name).to_numpy() for name in ("low", "high"))
    # nine of ten of 60 rows are promised: fewer than 46 come by chance less than once in 1,000
    assert ((low <= truth) & (truth <= high)).sum() >= 46


def test_classes_come_with_probabilities_that_were_learned_on_rows_held_out(saved):
    known = assay.load(saved / "k.assay")
    assert type(known.model).__name__ == "SVM" and known.probable
    found = known.predict(saved / "later.csv").table.to_pylist()
    truth = [row["k"] for row in rows_of((saved / "later.csv").read_text())]
    assert np.mean([row["predicted k"] == true for row, true in zip(found, truth, strict=True)]) > 0.85
    assert all(row["probability of in"] + row["probability of out"] == pytest.approx(1) for row in found)


def test_a_loaded_model_says_to_the_bit_what_the_saved_one_said_and_can_be_saved_again(saved, tmp_path):
    first = assay.load(saved / "y.assay")
    first.save(tmp_path / "again.assay")
    again = assay.load(tmp_path / "again.assay")
    assert again.predict(saved / "later.csv").table.equals(first.predict(saved / "later.csv").table)
    assert repr(again) == repr(first) and "by SVR, from 3 columns: u, v, colour" in repr(first)


def test_what_new_rows_lack_or_never_was_seen_is_told_and_answered(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("colour,v,more,u\nred,0.1,x,0.2\ngreen,,y,abc\n")
    done = run("predict", "new.csv", "--model", saved / "y.assay", "--json", "p.json", "-o", "p.csv")
    assert done.exit_code == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "u: values are not numbers and count as missing: 1" in said
    assert "'green'" in said and "taken to be the mean of its column: u in 1, v in 1 of 2 rows" in said
    told = json.loads((tmp_path / "p.json").read_text())
    assert told["missing"] == {"u": 1, "v": 1} and told["judged"]["model"] == "SVR"
    assert all(np.isfinite(float(row["predicted y"])) for row in rows_of((tmp_path / "p.csv").read_text()))


@pytest.mark.parametrize(
    "words", [("--columns", "u"), ("--drop", "u"), ("--seed", "3"), ("--quick",), ("--log", "never"), ("--by", "u")]
)
def test_what_is_for_learning_is_refused_beside_a_model(saved, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    done = run("predict", saved / "d.csv", "--model", saved / "y.assay", *words)
    assert done.exit_code == 2
    assert f"{words[0]} is for learning, and --model predicts by what was learned before" in done.stderr
    (tmp_path / "assay.toml").write_text("seed = 3\n")  # settings for all commands do not contradict one of them
    assert run("predict", saved / "d.csv", "--model", saved / "y.assay", "-o", "p.csv").exit_code == 0


def test_a_file_whose_model_does_not_fit_its_columns_is_refused_in_a_sentence(saved, tmp_path):
    from dataclasses import replace

    from assay.errors import FileFormatError

    known = assay.load(saved / "y.assay")
    other = assay.Ridge().fit(np.eye(7), np.arange(7.0))
    replace(known, model=other).save(tmp_path / "m.assay")
    with pytest.raises(FileFormatError, match="its numbers do not fit its columns"):
        assay.load(tmp_path / "m.assay")
