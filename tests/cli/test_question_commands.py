"""The commands of one question each, as a user meets them."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two groups, a category that tells them, an identifier, gaps, and a row that does not belong."""
    made = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    n = 120
    group = np.arange(n) % 2
    x = rng.normal(size=(n, 3)) + 6.0 * group[:, None]
    x[7] = (40.0, -40.0, 40.0)
    lines = ["name,u,v,w,kind,y"]
    for i in range(n):
        v = "" if i % 12 == 5 else f"{x[i, 1]:.4f}"
        y = 2 * x[i, 0] + rng.normal() * 0.5
        lines.append(f"n{i:04d},{x[i, 0]:.4f},{v},{x[i, 2]:.4f},{'red' if group[i] else 'blue'},{y:.4f}")
    (made / "d.csv").write_text("\n".join(lines) + "\n")
    return made


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_cluster_gives_every_row_its_group_and_the_verdict_of_the_study(folder, here):
    done = run("cluster", folder / "d.csv", "-o", "g.csv", "--json", "g.json")
    assert done.exit_code == 0, done.stderr
    rows = rows_of((here / "g.csv").read_text())
    assert len(rows) == 120 and rows[3]["name"] == "n0003"
    study = assay.study(folder / "d.csv", only="groups")
    assert study.findings[0].sentence in done.stdout
    assert json.loads((here / "g.json").read_text())["findings"][0]["sentence"] == study.findings[0].sentence
    assert "Not used: name" in done.stdout


def test_groups_that_were_asked_for_are_called_so(folder, here):
    done = run("cluster", folder / "d.csv", "--k", "4", "-o", "-")
    assert done.exit_code == 0 and len({row["group"] for row in rows_of(done.stdout)}) == 4
    assert "The 4 groups were asked for (--k)" in done.stderr


def test_embed_writes_places_beside_rows_and_says_what_the_map_keeps(folder, here):
    done = run("embed", folder / "d.csv", "--method", "pca", "-o", "m.parquet", "--plot", "m.html")
    assert done.exit_code == 0, done.stderr
    table = pq.read_table(here / "m.parquet")
    assert table.column_names == ["row", "row_in_data", "name", "x", "y"] and table.num_rows == 120
    assert "This map (pca) keeps" in done.stdout and (here / "m.html").exists()


@pytest.mark.parametrize("method", ["tsne", "isomap", "mds", "classical-mds", "diffusion", "kernel-pca"])
def test_every_method_makes_a_map(folder, here, method):
    done = run("embed", folder / "d.csv", "--method", method, "--columns", "u,v,w", "-o", "-")
    assert done.exit_code == 0, done.stderr
    rows = rows_of(done.stdout)
    assert len(rows) == 120 and all(np.isfinite(float(row["x"])) for row in rows)


def test_anomalies_are_written_with_the_columns_behind_them(folder, here):
    done = run("anomalies", folder / "d.csv", "-o", "-")
    assert done.exit_code == 0, done.stderr
    rows = rows_of(done.stdout)
    assert rows[0]["row"] == "8" and rows[0]["name"] == "n0007" and float(rows[0]["q"]) <= 0.05
    assert " sd)" in rows[0]["columns"]


def test_correlate_writes_every_pair_with_its_chance(folder, here):
    done = run("correlate", folder / "d.csv", "--columns", "u,w,y", "-o", "-")
    rows = rows_of(done.stdout)
    assert {frozenset((row["first"], row["second"])) for row in rows} == {
        frozenset(pair) for pair in (("u", "w"), ("u", "y"), ("w", "y"))
    }
    assert all(0 <= float(row["p"]) <= float(row["q"]) <= 1 for row in rows)


def test_what_was_learned_is_saved_and_predicts_new_rows_as_it_would_have(folder, here):
    learned = run("predict", folder / "d.csv", "--target", "y", "--save", "y.assay", "--drop", "name")
    assert learned.exit_code == 0, learned.stderr
    assert "of y in unseen rows" in learned.stdout and "Supported" in learned.stdout
    (here / "new.csv").write_text("kind,w,v,u\nred,6,6,6\nblue,0,,0\ngreen,0,0,0\n")
    done = run("predict", "new.csv", "--model", "y.assay", "-o", "p.csv")
    assert done.exit_code == 0, done.stderr
    rows = rows_of((here / "p.csv").read_text())
    said = [float(row["predicted y"]) for row in rows]
    assert said[0] == pytest.approx(12, abs=1.5) and said[1] == pytest.approx(0, abs=1.5)
    assert all(float(row["low"]) < value < float(row["high"]) for row, value in zip(rows, said, strict=True))
    assert "kind" in done.stdout and "green" in done.stdout  # a level that was never seen is told


def test_classes_get_probabilities(folder, here):
    assert run("predict", folder / "d.csv", "--target", "kind", "--save", "k.assay").exit_code == 0
    done = run("predict", folder / "d.csv", "--model", "k.assay", "-o", "-")
    rows = rows_of(done.stdout)
    assert sum(row["predicted kind"] == ("red" if i % 2 else "blue") for i, row in enumerate(rows)) > 110
    assert all(float(row["probability of red"]) + float(row["probability of blue"]) == pytest.approx(1) for row in rows)


REFUSED = {
    "nothing to predict": ((), "say what to predict"),
    "both": (("--target", "y", "--model", "MODEL"), "leave out --target and --save"),
    "no such target": (("--target", "z"), "no column 'z'"),
    "target dropped": (("--target", "y", "--drop", "y"), "cannot be both the target and left out"),
    "no model": (("--model", "d.txt"), "there is no such file"),
    "no name of a table": (("--target", "y", "-o", "p.xyz"), "a table is a .csv"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_predict_refuses_in_one_sentence_and_writes_nothing(folder, here, case):
    words, said = REFUSED[case]
    assay.PCA(1).fit([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]]).save("pca.assay")
    words = ["pca.assay" if word == "MODEL" else word for word in words]
    done = run("predict", folder / "d.csv", *words)
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in here.iterdir()] == ["pca.assay"]


def test_a_model_of_another_kind_and_a_table_without_a_column_are_refused(folder, here):
    assay.PCA(1).fit([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]]).save("pca.assay")
    done = run("predict", folder / "d.csv", "--model", "pca.assay")
    assert done.exit_code == 2 and "holds a PCA, which `assay predict` did not save" in done.stderr
    assert run("predict", folder / "d.csv", "--target", "y", "--save", "y.assay").exit_code == 0
    (here / "new.csv").write_text("kind,w,U\nred,6,6\n")
    done = run("predict", "new.csv", "--model", "y.assay")
    assert done.exit_code == 2 and "new.csv lacks 2 columns, u, v" in done.stderr and "'U'" in done.stderr


def test_impute_fills_the_gaps_and_nothing_else(folder, here):
    done = run("impute", folder / "d.csv", "-o", "f.csv", "--json", "f.json")
    assert done.exit_code == 0, done.stderr
    before, after = rows_of((folder / "d.csv").read_text()), rows_of((here / "f.csv").read_text())
    for old, new in zip(before, after, strict=True):
        assert new["v"] != "" and new["name"] == old["name"] and new["kind"] == old["kind"]
        assert old["v"] == "" or float(old["v"]) == float(new["v"])
    judged = json.loads((here / "f.json").read_text())["columns"][0]
    assert judged["column"] == "v" and judged["filled"] == 10 and judged["error"] < judged["by_mean"]
    assert "v: 10 values filled in" in done.stdout and "by the column mean" in done.stdout


def test_a_table_without_gaps_is_written_as_it_is(here):
    (here / "w.csv").write_text("a,b\n" + "".join(f"{i},{i % 7}.5\n" for i in range(20)))
    done = run("impute", "w.csv", "-o", "-")
    assert done.exit_code == 0 and len(rows_of(done.stdout)) == 20 and "nothing was changed" in done.stderr


@pytest.mark.parametrize("command", ["embed", "cluster", "anomalies", "correlate", "impute"])
def test_bad_input_gets_one_sentence_and_no_file(here, command):
    (here / "one.csv").write_text("a,b\n1,2\n")
    for words in (("nowhere.csv",), ("one.csv", "-o", "t.csv"), ("one.csv", "--columns", "a", "--drop", "a")):
        done = run(command, *words)
        assert done.exit_code == 2, done.stdout
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("assay: ")
    assert [path.name for path in here.iterdir()] == ["one.csv"]


def test_standard_input_is_read_once_and_is_enough(folder):
    asked = [sys.executable, "-m", "assay", "cluster", "-", "--k", "2", "-o", "-"]
    done = subprocess.run(asked, input=(folder / "d.csv").read_text(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(rows_of(done.stdout)) == 120


def test_methods_lists_questions_and_names_with_their_pages(here):
    done = run("methods")
    assert done.exit_code == 0 and "groups" in done.stdout and "docs/guide/kmeans.md" in done.stdout
    told = json.loads(run("methods", "kmeans", "--json", "-").stdout)
    assert [one["name"] for one in told["methods"]] == ["KMeans"]
    assert run("methods", "zzzz").exit_code == 2


def test_the_demo_needs_no_checkout(here, wholesale):
    from importlib.resources import files

    bundled = files("assay") / "examples" / "wholesale_customers.csv"
    assert bundled.read_bytes() == wholesale.read_bytes()
    (here / "demo.html").write_text("mine")
    assert run("demo").exit_code == 2


def test_every_command_has_short_help_and_an_example():
    from typer.main import get_command

    for name, each in get_command(app).commands.items():
        done = run(name, "-h")
        assert done.exit_code == 0 and "Example: assay" in done.stdout.replace("\n", " "), name
        assert not each.get_short_help_str(60).endswith("..."), name


def test_where_the_figure_is_is_said_and_it_names_the_columns(folder, here):
    done = run("impute", folder / "d.csv", "-o", "f.csv", "--plot", "f.html")
    assert "The figure is f.html" in done.stdout
    assert "column 0" not in (here / "f.html").read_text(encoding="utf-8")


def test_a_table_without_gaps_needs_no_figure_of_how_they_are_filled(folder, here):
    (here / "whole.csv").write_text("a,b\n1,2.5\n2,3.5\n3,1.5\n4,0.5\n")
    done = run("impute", "whole.csv", "--plot", "f.html")
    assert done.exit_code == 0
    assert "No value is missing" in done.stdout and "The figure is" not in done.stdout
