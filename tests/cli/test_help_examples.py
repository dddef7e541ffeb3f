"""The example in the help of every command works when it is pasted, where its files are."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from assay.cli import app

COMMANDS = sorted(get_command(app).commands)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Small tables by the names of the examples."""
    made = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    n = 90
    table = pd.DataFrame(rng.normal(size=(n, 4)).round(3), columns=["age", "visits", "basket", "distance"])
    table["spend"] = (3 * table.age + table.visits + rng.normal(size=n)).round(3)
    for name in ("customers", "january", "february", "readings"):
        table.to_csv(made / f"{name}.csv", index=False)
    patients = table.rename(columns={"basket": "dose"}).assign(diagnosis=np.repeat(["a", "b", "c"], n // 3))
    patients.loc[::9, "dose"] = np.nan
    patients.to_csv(made / "patients.csv", index=False)
    for site in ("a", "b"):
        patients[int(site == "b") :: 2].to_csv(made / f"site-{site}.csv", index=False)
    links = pd.DataFrame({"source": rng.integers(0, 30, 200), "target": rng.integers(0, 30, 200)})
    links[links.source != links.target].to_csv(made / "links.csv", index=False)
    pairs = [(user, item) for user in range(1, 61) for item in range(1, 26) if (user * item) % 5]
    ratings = pd.DataFrame(pairs, columns=["user", "item"]).assign(rating=rng.integers(1, 6, len(pairs)))
    ratings.to_csv(made / "ratings.csv", index=False)
    pd.DataFrame({"item": range(1, 26), "title": [f"film {j}" for j in range(25)]}).to_csv(
        made / "movies.csv", index=False
    )
    steps = pd.DataFrame({"trial": np.repeat(range(30), 10), "step": np.tile(range(10), 30)})
    steps["state"], steps["action"] = rng.integers(0, 4, 300), rng.integers(0, 2, 300)
    steps["reward"] = (steps.state == 3).astype(int)
    steps.to_csv(made / "trials.csv", index=False)
    return made


def example_of(name):
    """The command after "Example:", as it would be copied; a line that the terminal broke is one again."""
    shown = CliRunner().invoke(app, [name, "-h"], terminal_width=500).stdout
    return shlex.split(re.search(r"Example: assay (.*)", shown)[1])


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.filterwarnings("ignore")  # what is warned of in so small tables is tested elsewhere
def test_the_example_of_a_command_works(name, files, monkeypatch):
    monkeypatch.chdir(files)
    monkeypatch.setenv("XDG_CACHE_HOME", str(files / "cache"))
    if name == "merge":
        for site in ("a", "b"):
            CliRunner().invoke(app, ["summarize", f"site-{site}.csv", "-o", f"site-{site}.assay"])
    words = example_of(name)
    assert words[0] == name
    if ">" in words:  # the shell's
        words = words[: words.index(">")]
    done = CliRunner().invoke(app, [word for word in words if word != "--follow"])  # which goes on until it is stopped
    assert done.exit_code in (0, 1 if name == "compare" else 0), done.output
