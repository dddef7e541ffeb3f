"""What is installed: what is imported is declared, what is declared is pinned, what is pinned has hashes."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LISTS = sorted((ROOT / "requirements").glob("*.txt"))
PIN = re.compile(r"([a-z0-9-]+)==([^ ]+)(?: ; [^\\]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n")
PINS = [pin for file in LISTS for pin in PIN.findall(file.read_text())]


def declared(without=()):
    """What pyproject.toml asks for, except by some extras."""
    extras = PROJECT["project"]["optional-dependencies"]
    named = {"": PROJECT["project"]["dependencies"], **PROJECT["dependency-groups"], **extras}
    lines = [line for name, lines in named.items() if name not in without for line in lines]
    return [Requirement(line) for line in lines if not line.startswith("assay[")]


@pytest.mark.parametrize("file", LISTS, ids=lambda file: file.stem)
def test_a_list_has_versions_with_hashes_and_no_word_else(file):
    assert PIN.sub("", file.read_text()) == ""


def test_a_package_has_one_version_in_all_lists():
    assert len(dict(PINS)) == len(set(PINS)) > 100


def test_what_is_declared_is_pinned_within_its_bounds():
    assert [str(one) for one in declared() if dict(PINS)[canonicalize_name(one.name)] not in one.specifier] == []


def test_what_the_tests_run_with_has_a_lower_bound_and_no_upper():
    operators = {str(one): [bound.operator for bound in one.specifier] for one in declared(without=("docs", "bench"))}
    assert {one: found for one, found in operators.items() if found != [">="]} == {}


def test_what_assay_imports_is_declared():
    imported = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.partition(".")[0])
    homes = packages_distributions()
    names = {canonicalize_name(one.name) for one in declared(without=("build", "test", "dev", "docs", "bench"))}
    others = imported - sys.stdlib_module_names - {"assay"}
    assert len(others) > 12
    assert {one for one in others if not names & {canonicalize_name(home) for home in homes.get(one, [one])}} == set()
