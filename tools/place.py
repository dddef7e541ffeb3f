"""The rule of place: code with one user lives beside that user; a shared package keeps what two or more use.

    python -m tools.place           modules of linalg, optimize and summary with fewer than two users (make lint)
    python -m tools.place --names   file names and class names that recur, for information

A user is a unit outside the subpackage of a module: a method of `models`, a question, or a subpackage or module
elsewhere. A module that only its own subpackage imports has the users of those who import it. The public, which gets
names by `assay`, `assay.linalg` or `assay.optimize`, is one user.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from assay.public import MODULES

SOURCE = Path(__file__).parents[1] / "src"
SHARED = ("linalg", "optimize", "summary")

_MATRICES = "a routine for matrices that assay.linalg offers to users; no method of assay happens to need it"
# modules that stay where they are with one user, and why
ARGUED: dict[str, str] = {
    "assay.linalg.dense.approximate": _MATRICES,
    "assay.linalg.dense.block_matrices": _MATRICES,
    "assay.linalg.dense.matrix_properties": _MATRICES,
    "assay.linalg.dense.measures": _MATRICES,
    "assay.linalg.dense.solve": _MATRICES,
    "assay.linalg.dense.spaces": _MATRICES,
    "assay.linalg.information": _MATRICES,
    "assay.summary.gram.expanded": "assay.expand: a source of features for any model, so no model owns it",
    "assay.summary.gram.mercer": "assay.mercer_check: of any kernel matrix, so no model owns it",
}


class Imports:
    """Which module of assay imports which.

    Attributes:
        files: the file of each module, by its full name.
        trees: what each file says, parsed.
        users: the modules that import a module, by its name; names that a package passes on count for the module
            that defines them.
    """

    def __init__(self, source: Path) -> None:
        self.files = {_name(path.relative_to(source)): path for path in sorted((source / "assay").rglob("*.py"))}
        self.users: defaultdict[str, set[str]] = defaultdict(set)
        self.trees = {module: ast.parse(path.read_text()) for module, path in self.files.items()}
        passed_on = {
            (module, name): home
            for module, tree in self.trees.items()
            if self.files[module].name == "__init__.py"
            for home, name in _imported(tree)
        }
        for module, tree in self.trees.items():
            for home, name in _imported(tree):
                submodule = f"{home}.{name}"
                self.users[submodule if submodule in self.files else passed_on.get((home, name), home)].add(module)

    def outside(self, module: str, public: dict[str, str]) -> set[str]:
        """The units outside its subpackage that use a module, themselves or by a module of it."""
        found: set[str] = set()
        seen, waiting = {module}, [module]
        while waiting:
            current = waiting.pop()
            if current in public.values():
                found.add("public")
            for user in self.users[current] - seen:
                if user in ("assay.linalg", "assay.optimize"):
                    found.add("public")
                elif _subpackage(user) == _subpackage(module):
                    seen.add(user)
                    waiting.append(user)
                else:
                    found.add(_unit(user))
        return found


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "assay":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name.rpartition(".")[::2] for alias in node.names if alias.name.startswith("assay."))


def _subpackage(module: str) -> str:
    """The folder within a package; a module that stands in the package itself is one of its own."""
    return ".".join(module.split(".")[:3])


def _unit(module: str) -> str:
    parts = module.split(".")
    if parts[1] == "models":
        return ".".join(parts[:4])
    return module if parts[1] in SHARED else ".".join(parts[:3])


@cache
def _imports(source: Path) -> Imports:
    return Imports(source)


def alone(source: Path = SOURCE, public: dict[str, str] = MODULES) -> dict[str, set[str]]:
    """The modules of shared packages with fewer than two users outside their subpackage, and those they have."""
    imports = _imports(source)
    shared = [
        module
        for module, path in imports.files.items()
        if module.split(".")[1:2] and module.split(".")[1] in SHARED and path.name != "__init__.py"
    ]
    users = {module: imports.outside(module, public) for module in shared}
    return {module: found for module, found in users.items() if len(found) < 2}


def problems(found: dict[str, set[str]], argued: dict[str, str]) -> list[str]:
    """What to do about the modules that are alone and not argued, and about arguments that are not needed."""
    said = [
        f"{module}: only {', '.join(users) or 'nobody'} uses it; move it there, or argue in tools/place.py why it stays"
        for module, users in found.items()
        if module not in argued
    ]
    stale = [
        f"{module} has other users, or is gone: take it out of ARGUED in tools/place.py"
        for module in argued
        if module not in found
    ]
    return said + stale


def recurring(source: Path = SOURCE) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """File names found more than three times outside questions, and class names defined more than once, with where."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    classes: defaultdict[str, list[str]] = defaultdict(list)
    imports = _imports(source)
    for module, path in imports.files.items():
        if path.name != "__init__.py" and not module.startswith("assay.questions."):
            files[path.name].append(module)
        for node in imports.trees[module].body:
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(module)
    return (
        {name: found for name, found in sorted(files.items()) if len(found) > 3},
        {name: found for name, found in sorted(classes.items()) if len(found) > 1},
    )


def main(arguments: list[str]) -> int:
    """Print what is wrong; the number of faults."""
    if arguments == ["--names"]:
        for names in recurring():
            for name, found in names.items():
                print(f"{name}: {', '.join(module.removeprefix('assay.') for module in found)}")
        return 0
    said = problems(alone(), ARGUED)
    print("\n".join(said) if said else f"The rule of place holds; {len(ARGUED)} modules with one user are argued.")
    return min(len(said), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
