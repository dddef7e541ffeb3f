"""What shells complete: every command, option and choice, by scripts that start no Python."""

import re
import shlex
import shutil
import subprocess

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from assay.cli import app
from assay.cli.options import COMPARED
from assay.comparison.run import _QUESTIONS


def script(shell):
    done = CliRunner().invoke(app, ["completion", shell])
    assert done.exit_code == 0
    return done.stdout


def commands():
    found = get_command(app).commands
    return {
        name: {option for param in each.params for option in (*param.opts, *param.secondary_opts) if option[0] == "-"}
        for name, each in found.items()
        if not each.hidden
    }


def test_questions_of_a_comparison_are_named_as_it_names_them():
    assert tuple(question.name for question in _QUESTIONS) == COMPARED


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_is_whole_and_names_every_command_and_option(shell):
    told = script(shell)
    # zsh takes this much of the syntax from the same shell that bash does
    assert subprocess.run(["bash", "-n"], input=told, text=True, capture_output=True).stderr == ""
    for name, options in commands().items():
        line = next(line for line in told.splitlines() if re.match(rf"\s+{name}\) ", line))
        assert options <= set(re.split(r"[ \";]+", line))


WORDS = {
    ("report", "d.csv", "--only", "gr"): "groups",
    ("compare", "a.csv", "b.csv", "--only", "over"): "overall",
    ("embed", "d.csv", "--method", "classical"): "classical-mds",
    ("report", "d.csv", "--map-method", "iso"): "isomap",
    ("cluster", "d.csv", "--skip-un"): "--skip-unreadable",
    ("anom",): "anomalies",
}


@pytest.mark.parametrize("words", WORDS)
def test_bash_completes_what_was_begun(words):
    line = " ".join(("assay", *words))
    code = f'{script("bash")}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _assay; echo "${{COMPREPLY[*]}}"'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert done.stdout == f"{WORDS[words]}\n" and done.stderr == ""


# what zsh's completion gives to functions: words from 1, the place of the cursor, and two functions that take answers
_AS_ZSH = """
compdef() { :; }
compadd() { shift; printf '%s\\n' "$@"; }
_describe() { local -n told=$2; printf '%s\\n' "${told[@]%%:*}"; }
_files() { echo FILES; }
"""


@pytest.mark.parametrize("words", WORDS)
def test_the_functions_of_zsh_are_offered_what_bash_is(words):
    line = " ".join(("0", "assay", *words))  # arrays of bash begin at 0
    run = f"words=({line}); CURRENT={len(words) + 1}; _assay"
    done = subprocess.run(["bash", "-c", f"{_AS_ZSH}\n{script('zsh')}\n{run}"], capture_output=True, text=True)
    assert WORDS[words] in done.stdout.splitlines() and done.stderr == ""


def fish_lines():
    for line in script("fish").splitlines():
        yield shlex.split(line)  # a quotation that does not end is an error


def test_fish_is_told_every_command_and_option_once():
    told = {name: set() for name in commands()}
    for words in fish_lines():
        assert words[:3] == ["complete", "-c", "assay"] and words[3] == "-n"
        if words[4] == "__fish_use_subcommand":
            assert words[5] == "-a" and words[6] in told and words[7] == "-d" and words[8]
            continue
        command = words[4].removeprefix("__fish_seen_subcommand_from ")
        sign, name = words[5], words[6]
        option = f"--{name}" if sign == "-l" else f"-{name}"
        assert sign in ("-l", "-s") and option not in told[command]
        told[command].add(option)
        assert words[7:] in ([], ["-r"]) or words[7:9] == ["-x", "-a"]
    assert told == {name: options | {"--help", "-h"} for name, options in commands().items()}


def test_fish_knows_choices_and_what_stands_alone():
    after = {(words[4].split()[-1], words[6]): words[7:] for words in fish_lines() if words[5] == "-l"}
    assert after["compare", "only"] == ["-x", "-a", " ".join(COMPARED)]
    assert after["report", "quick"] == [] and after["report", "json"] == ["-r"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_itself_takes_the_script(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(script(shell))
    done = subprocess.run([shell, "-n", "script"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
