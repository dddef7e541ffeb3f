"""Sensitive columns: planted secrets are in no page, JSON, message, note, summary or model, whatever the format."""

import json
import sqlite3
import traceback

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import assay
from assay.cli import app

SECRET = "Zyxwvut"
NUMBER = 918273645.5
N = 60
RNG = np.random.default_rng(0)


def rows():
    x = RNG.standard_normal(N)
    return [
        {"x": float(x[i]), "y": float(x[i] + RNG.standard_normal()), "who": f"{SECRET}{i}", "pay": NUMBER + i}
        for i in range(N)
    ]


def write_csv(path):
    lines = ["x,y,who,pay"] + [",".join(map(str, row.values())) for row in rows()]
    lines[5] = f"1,2,{SECRET}5,{NUMBER},{SECRET} too many"  # ragged, with the secret in it
    lines[7] = f"oops,2,{SECRET}7,{SECRET} where a number belongs"
    path.write_bytes("\n".join(lines).encode() + f"\n1,2,{SECRET}\xff\xfe,3\n".encode("latin-1"))


def write_json_lines(path):
    lines = [json.dumps(row) for row in rows()]
    lines[5] = f'{{"x": 1, "who": "{SECRET}5", '  # no JSON
    lines[7] = json.dumps({"x": 1, "y": "oops", "who": 5, "pay": SECRET})
    path.write_text("\n".join(lines))


def write_excel(path):
    book = openpyxl.Workbook()
    book.active.append(["x", "y", "who", "pay"])
    for row in rows():
        book.active.append(list(row.values()))
    book.active["D9"] = SECRET
    book.active["C12"] = "#N/A"
    book.save(path)


def write_sqlite(path):
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (x real, y real, who text, pay real)")
        connection.executemany("insert into t values (?, ?, ?, ?)", [tuple(row.values()) for row in rows()])
        connection.execute("insert into t values (1, 2, 3, ?)", (SECRET,))
    connection.close()


WRITERS = {
    "t.csv": write_csv,
    "t.jsonl": write_json_lines,
    "t.xlsx": write_excel,
    "t.sqlite": write_sqlite,
    "t.parquet": lambda path: pq.write_table(pa.Table.from_pylist(rows()), path),
    "t.arrow": lambda path: feather.write_feather(pa.Table.from_pylist(rows()), path),
}


def assert_clean(text):
    content = text if isinstance(text, bytes) else str(text).encode()
    assert SECRET.encode() not in content
    assert b"918273" not in content
    assert np.float64(NUMBER).tobytes() not in content


@pytest.mark.parametrize("name", WRITERS)
def test_no_output_of_a_report_holds_a_secret(tmp_path, name):
    WRITERS[name](tmp_path / name)
    page, findings = tmp_path / "page.html", tmp_path / "findings.json"
    arguments = ["report", str(tmp_path / name), "-o", str(page), "--json", str(findings)]
    done = CliRunner().invoke(app, [*arguments, "--sensitive", "who", "--sensitive", "pay"])
    assert done.exit_code == 0, done.output
    for text in (done.output, page.read_bytes(), findings.read_bytes()):
        assert_clean(text)
    assert "x" in json.loads(findings.read_text())["data"]["columns"][0]["name"]


@pytest.mark.parametrize("name", WRITERS)
def test_no_source_schema_problem_or_summary_holds_a_secret(tmp_path, name):
    WRITERS[name](tmp_path / name)
    source = assay.read(tmp_path / name, sensitive=["who", "pay"])
    table = source.to_arrow()
    assert "who" not in table.column_names and "pay" not in table.column_names
    told = [source.schema, source.notes, [p.sentence() for p in source.problems], table.schema.to_string()]
    assert_clean(repr(told))
    encoded = np.vstack([*assay.encode(source).float_blocks()])
    model = assay.PCA(1).fit(encoded[np.isfinite(encoded).all(axis=1)])
    model.save(tmp_path / "model.assay")
    assert_clean((tmp_path / "model.assay").read_bytes())


def test_no_command_tells_a_copy_of_a_sensitive_column(tmp_path, monkeypatch):
    data, spilled, kept = tmp_path / "data", tmp_path / "spilled", tmp_path / "kept"
    for folder in (data, spilled, kept):
        folder.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(spilled))
    levels = [f"{SECRET} {word}" for word in ("flu", "cold", "gout")]
    for name in ("a.csv", "b.csv"):
        drawn = [(RNG.standard_normal(), RNG.integers(3), RNG.integers(3), RNG.standard_normal()) for _ in range(120)]
        lines = [f"{x},{levels[i]},{levels[j]},{y}" for x, i, j, y in drawn]
        lines[50] = f"1,{SECRET} a, b,{SECRET}"
        (data / name).write_text("\n".join(["x,diag,diag,y", *lines, f"1,{SECRET},c,{SECRET}d"]) + "\n")
    a, b = str(data / "a.csv"), str(data / "b.csv")
    commands = [
        ["report", a, "-o", "page.html", "--json", "found.json", "--resume", str(kept)],
        ["compare", a, b, "-o", "both.html"],
        ["compare", a, b, "--json", "-"],
        ["summarize", a, "-o", "a.moments"],
        ["watch", a, "--reference", b],
    ]
    monkeypatch.chdir(tmp_path)
    for command in commands:
        done = CliRunner().invoke(app, [*command, "--sensitive", "diag", *(["--debug"] * (command[0] == "report"))])
        assert_clean(done.output)
        assert done.exit_code in (0, 1), done.output
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent != data]
    assert {"page.html", "found.json", "both.html", "a.moments"} <= {path.name for path in written}
    for path in written:
        assert_clean(path.read_bytes())


def test_a_frame_and_a_stream_drop_them_too():
    frame = pd.DataFrame(rows())
    for data in (frame, pa.Table.from_pylist(rows()), iter(rows())):
        source = assay.read(data, sensitive=["who", "pay"])
        assert source.to_arrow().column_names == ["x", "y"]
        assert_clean(repr(source.schema))


def test_errors_do_not_quote_secrets(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,who\n" + "".join(f'{i},"{SECRET}{i}"\n' for i in range(30)) + f'9,"{SECRET} unclosed\n1,2\n')
    try:
        list(assay.read(path, sensitive=["who"]).blocks())
    except assay.errors.AssayError:
        assert_clean(traceback.format_exc())
    assert_clean(repr([p.sentence() for p in assay.read(path, sensitive=["who"]).problems]))


def test_a_misspelt_name_is_refused_instead_of_leaking(tmp_path):
    write_csv(tmp_path / "t.csv")
    done = CliRunner().invoke(app, ["report", str(tmp_path / "t.csv"), "--sensitive", "Who"])
    assert done.exit_code == 2
    assert "column 'Who' was declared sensitive, but there is none" in done.output
    assert_clean(done.output)


def test_the_moments_of_few_rows_are_not_written(tmp_path):
    with pytest.raises(assay.errors.DataError, match="fewer than 10 rows"):
        assay.Moments.of(np.ones((3, 2))).save(tmp_path / "m.assay")
