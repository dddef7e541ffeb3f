"""The command: pipes, growing files, interrupts and restarts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests import forked
from typer.testing import CliRunner

import assay
from assay.cli import app
from assay.cli.watch_view import gauge, picture
from assay.watch.watch import Watch

SRC = str(Path(assay.__file__).parents[1])
OPTIONS = ["--reference", "300", "--every", "100", "--horizon", "1000", "--save-every", "0"]


def table(n=2000, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3)).round(4)
    X[900, 1] = 20.0
    X[1500:, 2] += 3.0
    return X


def csv(X, header=True):
    head = "a,b,c\n" if header else ""
    return head + "".join(",".join(map(str, row)) + "\n" for row in X.tolist())


def jsonl(X):
    return "".join(json.dumps(dict(zip("abc", row, strict=True))) + "\n" for row in X.tolist())


def run(*arguments, stdin=None):
    done = forked.run("watch", *arguments, stdin=stdin)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def events(alerts):
    return [alert for alert in alerts if alert["kind"] != "problem of input"]


@pytest.fixture(scope="module")
def expected():
    watch = Watch(reference=300, every=100, horizon=1000)
    import pandas as pd

    return [alert.as_dict() for alert in watch.update(pd.DataFrame(table(), columns=list("abc")))]


class TestRead:
    @pytest.mark.parametrize("written", [csv, jsonl])
    def test_standard_input_gives_the_alerts_of_the_same_rows_in_memory(self, expected, written):
        code, alerts, said = run("-", *OPTIONS, stdin=written(table()))
        assert code == 0 and events(alerts) == events(expected)
        assert {"anomaly", "drift of the mean"} <= {alert["kind"] for alert in alerts}
        assert "2,000 rows" in said

    def test_lines_that_cannot_be_read_are_told_and_the_rest_is_watched(self):
        text = csv(table()).splitlines(keepends=True)
        text.insert(700, "1,2\n")
        code, alerts, said = run("-", *OPTIONS, stdin="".join(text))
        (problem,) = [alert for alert in alerts if alert["kind"] == "problem of input"]
        assert code == 0 and "too few values" in problem["message"] and "line 701" in problem["message"]
        assert "2,000 rows" in said


class TestRestart:
    @pytest.mark.parametrize("written", [csv, jsonl])
    def test_a_file_watched_as_it_grows_run_by_run_gives_every_alert_once(self, tmp_path, expected, written):
        data, state, out = tmp_path / "rows", tmp_path / "state", tmp_path / "alerts"
        text = written(table())
        for cut in (3001, 17_777, len(text) - 5, len(text)):
            data.write_text(text[:cut])
            code, _, _ = run(data, "--state", state, "-o", out, *OPTIONS)
            assert code == 0
        assert assay.load(state).rows == 2000
        assert events(map(json.loads, out.read_text().splitlines())) == events(expected)

    def test_killed_and_started_again_nothing_is_lost_and_nothing_counts_twice(self, tmp_path, expected):
        data, state, out = tmp_path / "rows.csv", tmp_path / "state", tmp_path / "alerts"
        lines = csv(table()).splitlines(keepends=True)
        data.write_text("".join(lines[:400]))
        command = [sys.executable, "-m", "assay", "watch", str(data), "--follow", "--state", str(state), "-o", str(out)]
        for stop, upto in ((signal.SIGKILL, 950), (signal.SIGTERM, 1400), (signal.SIGINT, 1700)):
            child = subprocess.Popen(
                [*command, *OPTIONS], stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SRC}
            )
            try:
                wait_for(lambda: state.exists() and assay.load(state).rows >= 399, child)
                grow(data, lines, upto)
                wait_for(lambda upto=upto: assay.load(state).rows >= upto - 200, child)
            finally:
                child.send_signal(stop)
                said = child.communicate(timeout=60)[1]
            if stop != signal.SIGKILL:
                assert child.returncode == 128 + stop and "stopped after" in said and said.count("\n") == 1, said
        grow(data, lines, len(lines))
        code, _, _ = run(data, "--follow", "--idle", "0.5", "--state", state, "-o", out, *OPTIONS)
        assert code == 0 and assay.load(state).rows == 2000
        assert events(map(json.loads, out.read_text().splitlines())) == events(expected)

    def test_a_pipe_goes_on_with_new_rows_or_is_replayed(self, tmp_path, expected):
        X = table()
        for how, second in (([], csv(X[1000:])), (["--replayed"], csv(X))):
            state = tmp_path / f"state{len(how)}"
            first = run("-", "--state", state, *OPTIONS, stdin=csv(X[:1000]))[1]
            code, alerts, _ = run("-", "--state", state, *how, *OPTIONS, stdin=second)
            assert code == 0 and assay.load(state).rows == 2000
            assert events(first + alerts) == events(expected)


def wait_for(condition, child, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert child.poll() is None and time.monotonic() < end, child.poll()
        time.sleep(0.05)


def grow(data, lines, upto):
    """Write on, in the middle of a line at first."""
    have = data.read_text().count("\n")
    more = "".join(lines[have:upto])
    with data.open("a") as handle:
        handle.write(more[:-7])
        handle.flush()
        time.sleep(0.05)
        handle.write(more[-7:])


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["no.csv"], "no.csv"),
            (["{data}", "--every", "3"], "every is a number of rows, at least 50"),
            (["{data}", "--reference", "many"], "--reference is a number of rows, or a file"),
            (["{data}", "--idle", "1"], "--idle is for a file that is followed"),
            (["{data}", "--replayed"], "--replayed is for standard input"),
            (["{data}", "--drop", "zz"], "'zz' is to be left out, but there is none"),
            (["{data}", "--sensitive", "zz"], "'zz' was declared sensitive"),
            (["{data}", "--state", "{data}"], "that is the data file itself"),
            (["{data}", "--state", "{moments}"], "not the state of a watch"),
            (["{data}", "--state", "{state}", "--level", "0.2"], "was begun with level 0.05, and now it is 0.2"),
        ],
    )
    def test_wrong_input_gives_one_sentence_and_code_two(self, tmp_path, arguments, words):
        places = {name: tmp_path / name for name in ("data", "moments", "state")}
        places["data"].write_text(csv(table(1600)[:200]))
        assay.Moments.of(table(1600)).save(places["moments"])
        Watch(reference=300, every=100, horizon=1000).save(places["state"])
        given = [text.format(**places) for text in arguments]
        extra = [] if "--every" in given else ["--every", "100"]
        extra += [] if "--reference" in given else ["--reference", "300"]
        before = sorted(path.name for path in tmp_path.iterdir())
        result = CliRunner().invoke(app, ["watch", *given, *extra, "--horizon", "1000"])
        assert result.exit_code == 2 and words in result.stderr
        assert result.stderr.count("\n") == 1 and result.stdout == ""
        assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_sensitive_columns_reach_neither_alerts_nor_state(tmp_path):
    X = table()
    data, state = tmp_path / "rows.csv", tmp_path / "state"
    text = csv(X).splitlines()
    data.write_text("\n".join([text[0] + ",secret", *(f"{line},hush{i}" for i, line in enumerate(text[1:]))]) + "\n")
    result = CliRunner().invoke(app, ["watch", str(data), "--state", str(state), "--sensitive", "secret", *OPTIONS])
    assert result.exit_code == 0
    for content in (result.stdout.encode(), state.read_bytes()):
        assert b"hush" not in content and b"secret" not in content


def test_the_view_shows_rows_moments_gauges_and_alerts():
    from rich.console import Console

    console = Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    watch = Watch(reference=300, every=100)
    console.print(picture(watch, "a stream", 0.0, []))
    told = watch.update(table())
    console.print(picture(watch, "a stream", 12_345.6, told))
    console.file.close()
    text = console.export_text()
    assert "300 rows to come" in text and "2,000 rows, 12,346 a second" in text
    assert "drift of the mean" in text and "#" in text and "does not belong" in text and "standard deviation" in text
    assert gauge("mean", 0.0).count("#") == 16
