"""What the docs promise to have: a page for every method and name, every command, links that lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.commands import commands
from typer.main import get_command

from assay.cli import app
from assay.models.registry import MODELS
from assay.public import PUBLIC

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = {"reference.md", "command-line.md"}  # by the build
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
PAGES += [page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts and page.name not in WRITTEN]
# how many methods there are of each kind; "K" is one
KINDS = {"A": 9, "B": 7, "C": 7, "D": 8, "E": 3, "F": 5, "G": 4, "H": 7, "I": 4, "J": 5}


def rows(text):
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:2] == "| "]


@pytest.fixture(scope="module")
def methods():
    return (DOCS / "methods.md").read_text(encoding="utf-8")


def linked(cell):
    return [DOCS / target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", cell)]


def test_every_method_has_its_id_its_name_and_its_page(methods):
    table = [row for row in rows(methods) if re.fullmatch(r"[A-J]\d+|K", row[0])]
    assert [row[0] for row in table] == [f"{kind}{i + 1}" for kind, n in KINDS.items() for i in range(n)] + ["K"]
    for number, what, name, pages in table:
        assert what and "`" in name, number
        assert linked(pages) and all(page.exists() or page.name in WRITTEN for page in linked(pages)), number
        public = [word for word in re.findall(r"`(\w+)`", name) if any(word in names for names in PUBLIC.values())]
        text = "".join(page.read_text(encoding="utf-8") for page in linked(pages))
        assert [word for word in public if not re.search(rf"\b{word}\b", text)] == [], number


@pytest.mark.parametrize("heading", PUBLIC)
def test_every_public_name_is_listed_with_a_page_that_shows_it(methods, heading):
    section = methods.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    table = {row[0].strip("`"): row for row in rows(section)[1:] if row[0].startswith("`")}
    assert list(table) == list(PUBLIC[heading]), "a row of docs/methods.md for each name of public.py"
    for name, row in table.items():
        (page,) = linked(row[2])
        assert re.search(rf"\b{name}\b", page.read_text(encoding="utf-8")), name
        assert name not in MODELS or page.name == MODELS[name].guide


def test_every_command_and_every_option_is_in_the_reference():
    text = commands()
    for name, command in get_command(app).commands.items():
        section = text.partition(f"\n## assay {name}\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option in section, (name, option)
    assert "commands()" in (DOCS / "conf.py").read_text(encoding="utf-8")


def without_code(text):
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors(page):
    """What headings of a page are called in links."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_to_headings_that_are_there(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if not re.match(r"https?:|mailto:", target):
            file, _, heading = target.partition("#")
            place = page.parent / file if file else page
            assert place.exists() or place.name in WRITTEN, target
            if heading and place.suffix == ".md" and place.name not in WRITTEN:
                assert heading in anchors(place), target


def test_every_page_is_in_the_tree():
    tree = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in (*DOCS.glob("*.md"), *DOCS.glob("guide/*.md"), *DOCS.glob("theory/*.md")):
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        assert name == "index" or re.search(rf"^{name}$", tree, re.MULTILINE), name


def test_decisions_have_numbers_of_their_own():
    numbers = [page.name[:4] for page in (DOCS / "adr").glob("0*.md")]
    assert len(set(numbers)) == len(numbers)
    for page in (DOCS / "adr").glob("0*.md"):
        assert page.read_text(encoding="utf-8").startswith(f"# {int(page.name[:4])}. ")


def test_the_readme_fits_on_a_screen_and_its_benchmarks_are_among_all():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 60
    tasks = [row[0] for row in rows(readme.partition("## How good is it")[2])[1:]]
    every = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert len(tasks) == 5
    assert [task for task in tasks if task not in every] == []
