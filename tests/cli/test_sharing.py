"""`assay summarize`, `assay merge` and `assay report` of what they wrote."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app


@pytest.fixture
def sites(tmp_path):
    rng = np.random.default_rng(0)
    for k in range(3):
        level = rng.standard_normal(200)
        table = pa.table({
            "person": [f"K{k}-{i:04d}" for i in range(200)],
            "x": np.round(level + 0.5 * rng.standard_normal(200), 4),
            "y": np.round(level + 0.5 * rng.standard_normal(200), 4),
            "z": np.round(rng.standard_normal(200), 4),
            "group": rng.choice(["a", "b"], 200),
            "secret": rng.standard_normal(200),
        })  # fmt: skip
        pyarrow.csv.write_csv(table, tmp_path / f"site{k}.csv")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def summarized(folder, k, *more):
    options = ("--sensitive", "secret", "--by", "group", *more)
    return run("summarize", folder / f"site{k}.csv", "-o", folder / f"site{k}.moments", *options)


def test_three_sites_are_summarised_merged_and_reported(sites):
    done = summarized(sites, 0)
    assert done.exit_code == 0, done.output
    assert "200 rows, 3 columns: x, y, z" in done.output and "not in it: person" in done.output
    assert "2 groups of group: a, b" in done.output and " of each group), 1 site" in done.output
    for k in (1, 2):
        assert summarized(sites, k, "--like", sites / "site0.moments").exit_code == 0
    done = run("merge", *(sites / f"site{k}.moments" for k in range(3)), "-o", sites / "all.moments")
    assert done.exit_code == 0 and "600 rows" in done.output and "3 sites" in done.output
    whole = np.concatenate(
        [
            np.column_stack([np.asarray(pyarrow.csv.read_csv(sites / f"site{k}.csv")[c]) for c in "xyz"])
            for k in range(3)
        ]
    )
    np.testing.assert_allclose(assay.load(sites / "all.moments").total.covariance, np.cov(whole.T), rtol=1e-12)
    page, findings = sites / "page.html", sites / "found.json"
    done = run("report", sites / "all.moments", "-o", page, "--json", findings, "--target", "y", "--side", "x")
    assert done.exit_code == 0, done.output
    kinds = {finding["kind"] for finding in json.loads(findings.read_text())["findings"]}
    assert kinds == {"component", "correlations", "prediction", "canonical", "known_groups"}
    assert "secret" not in page.read_text() and "K0-0001" not in page.read_text()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--by", "nothing"), "there is no column 'nothing'"),
        (("--sensitive", "nothing"), "declared sensitive, but there is none"),
        (("--like", "site0.csv"), "not a whole file saved by assay"),
        (("--bounds", "x=1:2"), "give all three"),
        (("--epsilon", "1", "--delta", "1e-6", "--bounds", "x=1-2"), "--bounds takes COLUMN=LOW:HIGH; got x=1-2"),
        (("--fewest-rows", "150", "--by", "group"), "complete rows, fewer than 150"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_and_nothing_is_written(sites, words, why, monkeypatch):
    monkeypatch.chdir(sites)
    done = run("summarize", "site0.csv", "-o", "out.moments", *words)
    assert done.exit_code == 2 and why in done.output and "Traceback" not in done.output
    assert not (sites / "out.moments").exists() and not list(sites.glob(".*part"))


def test_merging_refuses_what_is_not_the_same(sites, monkeypatch):
    monkeypatch.chdir(sites)
    summarized(sites, 0)
    run("summarize", "site1.csv", "-o", "site1.moments", "--sensitive", "secret", "--drop", "z", "--by", "group")
    done = run("merge", "site0.moments", "site1.moments", "-o", "all.moments")
    assert done.exit_code == 2
    assert "'z' is only in the first; summarise the second with --like site0.moments" in done.output
    done = run("merge", "site0.moments", "site0.moments", "-o", "all.moments")
    assert done.exit_code == 2 and "would count twice" in done.output
    assert run("merge", "site0.moments", "site0.moments", "-o", "all.moments", "--repeats").exit_code == 0
    done = run("merge", "site0.csv", "-o", "all.moments")
    assert done.exit_code == 2 and "not a whole file saved by assay" in done.output
    done = run("merge", "site0.moments", "-o", "site0.moments")
    assert done.exit_code == 2 and "cannot write site0.moments" in done.output


def test_a_damaged_summary_is_refused_by_every_command(sites, monkeypatch):
    monkeypatch.chdir(sites)
    summarized(sites, 0)
    content = bytearray((sites / "site0.moments").read_bytes())
    content[len(content) // 2] ^= 1
    (sites / "bad.moments").write_bytes(content)
    (sites / "short.moments").write_bytes(content[:900])
    for file in ("bad.moments", "short.moments"):
        for words in (
            ("report", file),
            ("merge", file, "-o", "m"),
            ("summarize", "site1.csv", "-o", "m", "--like", file),
        ):
            done = run(*words)
            assert done.exit_code == 2 and f"cannot load {file}: it is not a whole file" in done.output, words
    assert not (sites / "m").exists() and not (sites / "report.html").exists()


def test_noise_is_added_from_the_command_line(sites):
    pytest.importorskip("opendp")
    bounds = [word for column in "xyz" for word in ("--bounds", f"{column}=-5:5")]
    done = summarized(sites, 0, "--epsilon", 30, "--delta", 1e-6, "--folds", 1, "--group", "a", "--group", "b", *bounds)
    assert done.exit_code == 0, done.output
    assert "noise was added for differential privacy (epsilon 30, delta 1e-06)" in done.output
    assert assay.load(sites / "site0.moments").noise is not None
