"""The command line as a user meets it: in a process of its own."""

import html
import json
import subprocess
import sys

import pytest
from tests.forked import run
from typer.testing import CliRunner

import assay.study.run
from assay import __version__
from assay.cli import app


def test_a_report_prints_findings_and_writes_page_and_json(tmp_path, wholesale):
    done = run("report", wholesale, "-o", "page.html", "--json", "findings.json", "--seed", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "components are real" in " ".join(done.stdout.split())
    assert (tmp_path / "page.html").resolve().as_uri() in done.stdout
    document = json.loads((tmp_path / "findings.json").read_text())
    assert document["assay"] == __version__
    assert document["ledger"]["seed"] == 1
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") or page.startswith("<!doctype html>")
    shown = " ".join(html.unescape(page).split())
    assert all(finding["line"] in shown for finding in document["findings"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["findings.json", "page.html"]


NASTY = {
    "missing": (None, "there is no such file"),
    "empty": (b"", "the file is empty"),
    "no-numbers": (b"name,town\nAnn,Oslo\nBob,Rome\nCid,Bern\n", "no column that can be used"),
    "one-row": (b"x,y\n1,2\n", "has 1 row"),
    "ragged": (b"x,y\n1,2\n1,2,3\n", "has 1 row"),
    "folder": ("folder", "the folder holds no tables, images, sounds or texts"),
    "binary": (bytes(range(256)) * 40, "binary file"),
    "header-only": (b"x,y\n", "no rows"),
}


@pytest.mark.parametrize("case", NASTY)
def test_wrong_input_gets_one_sentence_code_2_and_no_file(tmp_path, case):
    content, message = NASTY[case]
    target = tmp_path / "in" / "data.csv"
    target.parent.mkdir()
    (tmp_path / "out").mkdir()
    if content == "folder":
        target.mkdir()
    elif content is not None:
        target.write_bytes(content)
    done = run("report", target, "-o", tmp_path / "out" / "r.html", "--json", tmp_path / "out" / "r.json", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("assay: ")
    assert "Traceback" not in done.stderr + done.stdout
    assert list((tmp_path / "out").iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, wholesale):
    done = run("report", wholesale, "-o", "nowhere/page.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the folder nowhere does not exist" in done.stderr


def test_the_data_cannot_be_overwritten_by_the_page(tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,y\n1,2\n2,1\n3,5\n")
    done = run("report", data, "-o", data, cwd=tmp_path)
    assert done.returncode == 2 and "the data file itself" in done.stderr
    assert data.read_text().startswith("x,y")


def test_an_unknown_option_is_a_usage_error(tmp_path, wholesale):
    assert run("report", wholesale, "--nonsense", cwd=tmp_path).returncode == 2
    assert run("report", cwd=tmp_path).returncode == 2


def test_several_sources_are_fused_and_conflicts_are_resolved_by_options(tmp_path):
    body = "".join(f"{i % 7}.5,{i % 5}\n" for i in range(30))
    (tmp_path / "a.csv").write_text("mass [g],y\n" + body)
    (tmp_path / "b.csv").write_text("weight,y\n" + body)
    done = run("report", "a.csv", "b.csv", "--match", "mass=weight", cwd=tmp_path)
    assert done.returncode == 2
    assert "1 column conflicts" in done.stderr and "no unit in b.csv" in done.stderr
    assert not (tmp_path / "report.html").exists()
    done = run("report", "a.csv", "b.csv", "--match", "mass=weight", "--resolve", "mass=first", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "60 rows" in done.stdout
    done = run("report", "a.csv", "--resolve", "mass=first", cwd=tmp_path)
    assert done.returncode == 2 and "only one was given" in done.stderr


def test_version_and_help(tmp_path):
    assert run("--version", cwd=tmp_path).stdout == f"assay {__version__}\n"
    assert "report" in run("--help", cwd=tmp_path).stdout


def test_an_interrupt_leaves_nothing_behind(tmp_path, wholesale):
    code = (
        "import os, signal, sys, time, assay.cli, assay.study.run as run\n"
        "run.prepare = lambda *args, **options: (os.kill(os.getpid(), signal.SIGINT), time.sleep(60))\n"
        f"sys.argv = ['assay', 'report', {str(wholesale)!r}, '-o', {str(tmp_path / 'r.html')!r}]\n"
        "assay.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, "assay: stopped; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def failing(error):
    def study(data, *, progress, **options):
        progress("Groups: grouping", None, None)
        raise error

    return study


FAULTS = {
    "a fault": (ValueError("index -9223372036854775808\nmore of it"), "(ValueError: index -9223372036854775808), "),
    "a warning": (RuntimeWarning("invalid value in sqrt"), "(RuntimeWarning: invalid value in sqrt), "),
    "nothing said": (AssertionError(), "(AssertionError), "),
    "escapes": (KeyError("red\x1b[31m"), "red\\x1b[31m"),
    "memory": (MemoryError("Unable to allocate 7 TiB"), "there is not enough memory for this table"),
}


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_of_assay_gets_one_sentence_that_asks_to_report_it_and_code_3(
    tmp_path, wholesale, monkeypatch, case, debug
):
    error, words = FAULTS[case]
    monkeypatch.setattr(assay.study.run, "study", failing(error))
    page = tmp_path / "r.html"
    page.write_text("as it was")
    asked = ["report", str(wholesale), "-o", str(page), "--force", *(["--debug"] if debug else [])]
    done = CliRunner().invoke(app, asked)
    assert (done.exit_code, done.stdout) == (3, "")
    *before, told, end = done.stderr.split("\n")
    assert told.startswith("assay: ") and words in told and end == "" and "\x1b" not in told
    assert "at: Groups: grouping" in told and "nothing was written" in told
    assert "report this to the makers of assay" in told
    assert bool(before) == debug and (not debug or before[0].startswith("Traceback"))
    assert page.read_text() == "as it was" and [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_debug_shows_where_a_refusal_comes_from(tmp_path):
    done = run("report", "none.csv", "--debug", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" in done.stderr and done.stderr.splitlines()[-1].startswith("assay: ")


def test_who_reads_only_the_first_line_gets_the_whole_page_and_no_complaint(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i % 7}.5,{i % 5}.5\n" for i in range(30)))
    code = (
        "import os, sys, assay.cli\n"
        "reader, writer = os.pipe()\n"
        "os.dup2(writer, 1), os.close(writer), os.close(reader)\n"
        "sys.argv = ['assay', 'report', 'd.csv']\n"
        "assay.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "</html>" in (tmp_path / "report.html").read_text()


MACHINE = """state,action,next,probability,reward
new,run,new,0.9,10
new,run,worn,0.1,10
worn,run,worn,1,3
worn,repair,new,1,-5
worn,mend,new,1,-5
"""


def test_a_decision_process_is_solved_in_words_and_as_json(tmp_path):
    (tmp_path / "machine.csv").write_text(MACHINE)
    done = run("mdp", "machine.csv", "--discount", "0.95", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # v = 10 + .95 (.9 v + .1 w) and w = -5 + .95 v
    assert " new: run, worth 173.973\n worn: repair, worth 160.274 (as good: mend)\n" in done.stdout
    found = json.loads(run("mdp", "machine.csv", "--json", "-", cwd=tmp_path).stdout)
    new, worn = found["states"]
    assert new["value"] == pytest.approx((10 - 0.095 * 5) / (1 - 0.95 * 0.9 - 0.095 * 0.95), rel=1e-12)
    assert worn["ties"] == ["repair", "mend"]
    assert set(worn["action_values"]) == {"run", "repair", "mend"}
    assert found["distance"] < 1e-9


def test_mdp_learns_from_trials_and_flags_what_it_cannot_tell(tmp_path):
    steps = ["episode,step,state,action,reward"]
    for t in range(30):
        steps += [
            f"{t},1,new,{'run' if t % 2 else 'rest'},{5 if t % 2 else 1}",
            f"{t},2,worn,{'ab'[t % 3 % 2]},0",
            f"{t},3,end,,",
        ]
    (tmp_path / "trials.csv").write_text("\n".join(steps) + "\n")
    done = run("mdp", "trials.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "30 trials, 60 steps: 3 states, 4 actions" in done.stdout
    assert " new: run, worth 5" in done.stdout and " end: the process ends" in done.stdout
    assert "More trials would probably" in done.stdout.replace("\n", " ")
    found = json.loads(run("mdp", "trials.csv", "--json", "-", cwd=tmp_path).stdout)
    assert found["trials"] == 30 and found["states"][0]["seen"] == {"rest": 15, "run": 15}
    (tmp_path / "trials.csv").write_text("episode,step,state,action,reward\n1,1,a,go,x\n")
    done = run("mdp", "trials.csv", cwd=tmp_path)
    assert done.returncode == 2 and "trials.csv, line 2: 'reward' is 'x', which is no number" in done.stderr


@pytest.mark.parametrize(
    ("text", "how", "words"),
    [
        (None, [], "there is no such file"),
        ("", [], "it holds no transitions"),
        ("state,action,next,probability\na,go,b,0.5\n", [], "state 'a', action 'go' sum to 0.5, not 1"),
        (MACHINE, ["--discount", "1"], "every policy must come to an end"),
        (MACHINE, ["--discount", "2"], "discount must be a number from 0 to 1"),
        (MACHINE + "new,run,worn,x,1\n", [], "machine.csv, line 7: the probability is 'x'"),
    ],
)
def test_a_wrong_decision_process_gets_one_sentence_and_code_2(tmp_path, text, how, words):
    if text is not None:
        (tmp_path / "machine.csv").write_text(text)
    done = run("mdp", "machine.csv", "--json", "-", *how, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr and len(done.stderr.splitlines()) == 1
    assert not done.stdout


def test_rank_prints_nodes_their_ranks_and_what_is_beyond_degree(tmp_path):
    links = ["source,target"] + [f"{i},{j}" for i in range(12) for j in (0, (i * 5 + 1) % 12, (i + 3) % 12) if i != j]
    (tmp_path / "links.csv").write_text("\n".join(links) + "\n")
    done = run("rank", "links.csv", "--top", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "       1  0 " in done.stdout and " to " in done.stdout and "in-degrees" in done.stdout
    written = json.loads(run("rank", "links.csv", "--json", "-", "--top", "3", cwd=tmp_path).stdout)
    assert written["nodes"][0]["rank"] == 1
    assert len(written["nodes"]) == 3 and written["nodes"][0]["node"] == "0"
    scores = run("rank", "links.csv", "--scores", cwd=tmp_path).stdout
    assert " to " not in scores.splitlines()[3] and "in-degrees" not in scores
    assert [p.name for p in tmp_path.iterdir()] == ["links.csv"]
    assert run("rank", "links.csv", "--plot", "ranks.html", cwd=tmp_path).returncode == 0
    assert "PageRank" in (tmp_path / "ranks.html").read_text()


def test_a_link_that_leads_both_ways_is_counted_once(tmp_path):
    (tmp_path / "links.csv").write_text("a,b\nb,c\nc,a\n")
    undirected = run("rank", "links.csv", "--undirected", "--scores", cwd=tmp_path).stdout
    assert undirected.startswith("3 nodes, 3 links;")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, [], "there is no such file"),
        ("source,target,weight\na,b,1\nb,a,-2\n", [], "line 3: the weight"),
        ("source,target\na,b\n", ["--damping", "1"], "at least 0 and below 1"),
        ("source,target\na,b\n", ["--plot", "ranks.pdf"], "an .html, .png or .svg file; got --plot ranks.pdf"),
        ("source,target\na,b\n", ["--plot", "links.csv"], "an .html, .png or .svg file"),
    ],
)
def test_rank_refuses_in_one_sentence_with_code_2(tmp_path, text, options, message):
    if text is not None:
        (tmp_path / "links.csv").write_text(text)
    done = run("rank", "links.csv", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_chance_gives_the_number_of_the_method_list(tmp_path):
    # 10^9 people, 1 day in 100, 10^5 hotels, 1000 days
    hotels = ["chance", 10**9, 1e-9, "--together", 2, "--occasions", 1000, "--times", 2]
    done = run(*hotels, cwd=tmp_path)
    assert done.returncode == 0 and " 249,750 would show this by chance alone" in " ".join(done.stdout.split())
    assert json.loads(run(*hotels, "--json", "-", cwd=tmp_path).stdout)["expected"] == pytest.approx(249_750, rel=1e-5)
    done = run("chance", 5, 2.0, cwd=tmp_path)
    assert done.returncode == 2 and "probability between 0 and 1" in done.stderr


RATINGS = "user,item,rating\n" + "".join(
    f"{who},{what},{5 - 4 * ((i + j) % 2)}\n"
    for i, who in enumerate(["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"])
    for j, what in enumerate(["m1", "m2", "m3", "m4", "m5"])
    if (who, what) not in (("Ann", "m5"), ("Ann", "m4"))
)


def test_recommend_prints_items_with_names_and_json_holds_the_same(tmp_path):
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "films.csv").write_text("item,year,title\n" + "".join(f"m{j},199{j},Film {j}\n" for j in range(1, 6)))
    done = run("recommend", "ratings.csv", "--user", "Ann", "--items", "films.csv", "--factors", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("For user Ann, from 3 ratings and 28 of all; predicted rating:")
    assert "Film 5 (m5)" in lines[1] and "Film 4 (m4)" in lines[2]
    told = json.loads(run("recommend", "ratings.csv", "--user", "Ann", "-n", "1", "--json", "-", cwd=tmp_path).stdout)
    assert [one["item"] for one in told["recommendations"]] == ["m5"]
    assert told["rated"] == 3 and told["converged"] is True


@pytest.mark.parametrize(
    ("text", "user", "message"),
    [
        (None, "Ann", "there is no such file"),
        (RATINGS, "Anne", "there is no user 'Anne' among 6 users; there are 'Ann'"),
        (RATINGS + "Ann,m4,inf\n", "Ann", "line 30: the rating 'rating' is inf"),
        ("a,b,c,d,e\n1,2,3,4,5\n", "1", "name them with user= and item="),
    ],
)
def test_recommend_refuses_in_one_sentence_with_code_2(tmp_path, text, user, message):
    if text is not None:
        (tmp_path / "ratings.csv").write_text(text)
    done = run("recommend", "ratings.csv", "--user", user, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert done.stdout == ""
