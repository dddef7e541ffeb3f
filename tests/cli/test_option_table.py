"""Which command takes which option: what has a meaning is there, on every command, and nothing else."""

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from assay.cli import app

HEAD = "         only skip columns drop by time place sensitive seed quick thorough json tables plot force"
TABLE = {
    "report": "    x    x    x       x    x  x    x     x         x    x     x        x    x      -    x",
    "compare": "   x    x    x       x    x  x    x     x         x    x     x        x    x      x    x",
    "embed": "     -    -    x       x    x  x    x     x         x    x     x        x    -      x    x",
    "cluster": "   -    -    x       x    x  x    x     x         x    x     x        x    -      x    x",
    "anomalies": " -    -    x       x    x  x    x     x         x    x     x        x    -      x    x",
    "correlate": " -    -    x       x    x  x    x     x         x    x     x        x    -      x    x",
    "predict": "   -    -    x       x    x  x    x     x         x    x     x        x    -      -    x",
    "impute": "    -    -    x       x    -  -    -     x         x    -     -        x    -      x    x",
    "summarize": " -    -    x       x    x  -    -     x         x    -     -        -    -      -    x",
}


def taken(command):
    params = get_command(app).commands[command].params
    return {option for param in params for option in param.opts}


@pytest.mark.parametrize("command", TABLE)
def test_a_command_takes_the_options_that_mean_something_to_it(command):
    told = dict(zip(HEAD.split(), TABLE[command].split(), strict=True))
    there = taken(command)
    assert {option for option in told if f"--{option}" in there} == {o for o, sign in told.items() if sign == "x"}


CONTRADICTIONS = {
    "report --only groups --skip groups": "cannot be both asked for (only) and left out (skip)",
    "report --only gruops": "there is no question 'gruops' (did you mean 'groups'?)",
    "compare d.csv --only groups --skip groups": "cannot be both asked for (only) and left out (skip)",
    "compare d.csv --only map": "there is no question 'map'",
    "compare d.csv --quick --thorough": "--quick and --thorough contradict each other",
    "compare d.csv --columns a --drop a": "cannot be both asked for (columns) and left out (drop)",
    "cluster --by a --time a": "the column 'a' cannot be both the time and the by",
    "anomalies --columns a,b --drop b": "cannot be both asked for (columns) and left out (drop)",
    "correlate --time a --drop a": "the column 'a' cannot be both the time and left out (drop)",
    "embed --place a": "two columns",
    "predict --target a --by a": "the column 'a' cannot be both the target and the by",
    "impute --columns a --drop a": "cannot be both asked for (columns) and left out (drop)",
    "summarize -o s.assay --columns a --drop a": "cannot be both asked for (columns) and left out (drop)",
    "summarize -o s.assay --by a --drop a": "cannot be both the by and left out (drop)",
}


@pytest.mark.parametrize("words", CONTRADICTIONS)
def test_what_contradicts_itself_is_refused_in_a_sentence(folder, words):
    command, *rest = words.split()
    done = CliRunner().invoke(app, [command, "d.csv", *rest])
    assert done.exit_code == 2, done.stdout
    assert CONTRADICTIONS[words] in done.stderr and done.stderr.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["d.csv"]
