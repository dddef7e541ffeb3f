"""What follows from the one table of public names, `assay.public`: the stub of type checkers and the reference.

    python -m tools.public      writes src/assay/__init__.pyi (make stub)

docs/conf.py writes docs/reference.md at each build.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import assay
from assay import linalg, optimize
from assay.public import MODULES, PUBLIC

STUB = Path(assay.__file__).with_suffix(".pyi")

# what guides, examples and other methods use and no public name returns, under the heading where it is looked for
ALSO: dict[str, list[str]] = {
    "Data": ["assay.data.columns.encoding.Encoding"],
    "Components": [
        "assay.models.components.lsi.term_weights.TermWeights",
        "assay.summary.texts.themes.themes",
    ],
    "Maps": [
        "assay.evidence.fidelity.trustworthiness",
        "assay.evidence.fidelity.continuity",
        "assay.evidence.fidelity.neighbourhood_agreement",
        "assay.evidence.fidelity.stress",
        "assay.evidence.fidelity.residual_variance",
    ],
    "Correlations": ["assay.models.correlation.temporal_cca.lagged.LaggedMoments"],
    "Prediction": [
        "assay.models.prediction.svm.margin.margin",
        "assay.models.prediction.svm.margin.tube",
        "assay.models.prediction.svm.two_class.HardMargin",
    ],
    "Networks": ["assay.models.network.pagerank.striped.StripedRanking"],
    "Summaries": ["assay.summary.sharing.shared.merged", "assay.summary.graph.perplexity.affinities"],
    "Linear algebra": [f"assay.linalg.{name}" for name in linalg.__all__],
    "Optimisation": [
        *(f"assay.optimize.{name}" for name in optimize.__all__),
        "assay.optimize.kmeans.lloyd.lloyd",
        "assay.optimize.smo.smo.smo",
        "assay.optimize.layout.tsne_layout.tsne_layout",
    ],
    "Figures": [
        "assay.views.figures.Figure",
        "assay.views.rows.embedding.add_map",
        "assay.views.html.figure_file.write_figure",
    ],
}
ABOUT: dict[str, list[str]] = {
    "Linear algebra": ["`assay.linalg` takes arrays and gives named results with their certificates.", ""],
    "Optimisation": ["Descent with its record, and how far any solution is from the conditions of an optimum.", ""],
}
# the subpackages of views whose functions draw arrays and names
DRAWN = ("rows", "columns", "clusters", "prediction", "decisions", "tree", "network")

# methods that a model may inherit from scikit-learn's mixins
FROM_SCIKIT_LEARN = {"fit_predict", "fit_transform"}
# methods that every model or saved value has, for scikit-learn and for files; `docs/guide` says how they are used
LEFT_OUT = {"get_params", "set_params", "get_feature_names_out", "to_parts", "from_parts"}


def stub() -> str:
    """The text of src/assay/__init__.pyi: each name imported from where it is defined."""
    homes = sorted([(module, name) for name, module in MODULES.items()] + [("assay.version", "__version__")])
    imports = [f"from {module} import {name} as {name}" for module, name in homes]
    return "\n".join(["# Written by `make stub` from public.py.", "", *imports, ""])


def reference() -> str:
    """The text of docs/reference.md: every public name under its question, and the results it gives."""
    listed = {heading: [f"assay.{name}" for name in names] for heading, names in PUBLIC.items()}
    for heading, paths in [*ALSO.items(), ("Figures", _figures())]:
        listed[heading] = [*listed.get(heading, []), *paths]
    shown = {id(_found(path)) for paths in listed.values() for path in paths}
    lines = ["# Reference", ""]
    for heading, paths in listed.items():
        lines += [f"## {heading}", "", *ABOUT.get(heading, []), "```{eval-rst}"]
        lines += [line for path in paths for line in _with_results(path, shown)]
        lines += ["```", ""]
    return "\n".join(lines)


def _figures() -> Iterator[str]:
    """The functions of `views` that give a figure, or several by name, and say what each argument is."""
    for drawn in DRAWN:
        package = import_module(f"assay.views.{drawn}")
        for info in iter_modules(package.__path__, f"{package.__name__}."):
            for name, function in vars(import_module(info.name)).items():
                own = inspect.isfunction(function) and function.__module__ == info.name and not name.startswith("_")
                figure = own and function.__annotations__.get("return") in ("Any", "dict[str, Any]")
                if figure and "Args:" in (function.__doc__ or ""):
                    yield f"{info.name}.{name}"


def _found(path: str) -> Any:
    module, name = path.rsplit(".", 1)
    # assay.study is a module that can be called: what is documented is the function
    return inspect.unwrap(getattr(import_module(module), name))


def _with_results(path: str, shown: set[int]) -> Iterator[str]:
    """A name, then the classes it returns that have not been shown, and what those return."""
    thing = _found(path)
    yield from _entry(path, thing)
    for result in _results(thing):
        if id(result) not in shown:
            shown.add(id(result))
            yield from _with_results(f"{result.__module__}.{result.__qualname__}", shown)


def _entry(path: str, thing: Any) -> Iterator[str]:
    if not inspect.isclass(thing):
        yield f".. autofunction:: {path}"
        return
    yield f".. autoclass:: {path}"
    members = [name for name, member in _members(thing) if inspect.getdoc(member)]
    if members:
        yield f"   :members: {', '.join(members)}"


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties in the order of the source, those of the class before those of its bases."""
    told = _attributes(cls)
    seen = set(LEFT_OUT)
    for base in cls.__mro__:
        for name, member in vars(base).items():
            ours = base.__module__.startswith("assay.") or name in FROM_SCIKIT_LEARN
            if name not in seen and not name.startswith("_") and ours:
                seen.add(name)
                # a property that the docstring lists among the attributes is described there
                if _function(member) is not None and name not in told:
                    yield name, member


def _function(member: Any) -> Any:
    """The function behind a method or a property, and behind what scikit-learn shows where a setting has it."""
    for attribute in ("fget", "func", "__func__", "fn"):
        member = getattr(member, attribute, member)
    return inspect.unwrap(member) if inspect.isfunction(member) else None


def _attributes(cls: type) -> set[str]:
    """The names that the docstring of a class lists as attributes."""
    section = (cls.__doc__ or "").partition("Attributes:")[2]
    return {
        name for names in re.findall(r"^ {8}(\w+(?:, \w+)*): ", section, re.MULTILINE) for name in names.split(", ")
    }


def _results(thing: Any) -> Iterator[type]:
    """The public classes of assay that a function, or the members and the fields of a class, hand out."""
    if not inspect.isclass(thing):
        yield from _named(thing, thing.__annotations__.get("return"))
        return
    for base in thing.__mro__:
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if name in _attributes(thing):
                yield from _named(base, annotation)
    for _, member in _members(thing):
        function = _function(member)
        yield from _named(function, function.__annotations__.get("return"))


def _named(owner: Any, annotation: Any) -> Iterator[type]:
    for word in re.findall(r"\w+", annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")):
        found = vars(sys.modules[owner.__module__]).get(word) or _for_types_only(owner.__module__).get(word)
        if inspect.isclass(found) and f"{found.__module__}.".startswith("assay.") and not word.startswith("_"):
            yield found


@cache
def _for_types_only(module: str) -> dict[str, Any]:
    """What a module imports for type checkers only."""
    return {
        alias.asname or alias.name: getattr(import_module(node.module), alias.name)
        for block in ast.parse(inspect.getsource(sys.modules[module])).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("assay")
        for alias in node.names
    }


if __name__ == "__main__":
    STUB.write_text(stub())
    print(STUB)
