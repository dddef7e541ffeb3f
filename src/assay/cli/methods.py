"""The commands that show what assay is: everything it can do, and a first report on bundled data."""

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import early
from assay.cli.app import command
from assay.cli.options import Debug, Force, Json, Seed
from assay.cli.output import check_places, write_json
from assay.cli.terminal import explained, terminal

Word = Annotated[str | None, typer.Argument(help="Show only what has this word in it.", show_default=False)]
_BUNDLED = "wholesale_customers.csv"


@command("assay methods cluster")
def methods(word: Word = None, json: Json = None, force: Force = False, debug: Debug = False) -> None:
    """List everything assay can do, by question.

    The questions that a study asks, by the names that --only and --skip take, and the public names of Python with the
    page that shows them.
    """
    from assay.asking.found import found
    from assay.models.registry import MODELS
    from assay.public import PUBLIC

    with explained(debug):
        check_places((json,), (), force=force)
        asked: list[dict[str, Any]] = [
            {"name": q.name, "asks": q.wording, "of": q.form, "needs": [option.name for option in q.options]}
            for q in found().questions
        ]
        named: list[dict[str, Any]] = [
            {"name": name, "group": group, "page": f"docs/guide/{MODELS[name].guide}" if name in MODELS else
             f"docs/reference.md#{name.lower()}"}
            for group, names in PUBLIC.items() for name in names
        ]  # fmt: skip
        if word is not None:
            asked, named = ([one for one in some if _has(one, word)] for some in (asked, named))
            if not asked and not named:
                from assay.errors import ParameterError

                raise ParameterError(f"nothing that assay can do has {word!r} in its name; `assay methods` lists all")
        if json is not None:
            write_json({"questions": asked, "methods": named}, json)
            return
        _show(asked, named)


def _show(asked: list[dict[str, Any]], named: list[dict[str, Any]]) -> None:
    console = terminal()
    if asked:
        console.print("Questions of a study (--only NAME, --skip NAME)")
        for one in asked:
            needs = f" (--{', --'.join(one['needs'])})" if one["needs"] else ""
            form = "" if one["of"] == "table" else f" [{one['of']}]"
            console.print(f"  {one['name']:<14}{one['asks']}{form}{needs}", soft_wrap=True)
    group = ""
    for one in named:
        if one["group"] != group:
            group = one["group"]
            console.print(f"\n{group}")
        console.print(f"  assay.{one['name']:<22}{one['page']}", soft_wrap=True)


def _has(one: dict[str, Any], word: str) -> bool:
    return any(word.casefold() in str(value).casefold() for value in one.values())


Page = Annotated[
    Path,
    typer.Option("--output", "-o", help="Where the page goes; - for standard output.", callback=early.writable),
]


@command("assay demo -o demo.html")
def demo(
    output: Page = Path("demo.html"), json: Json = None, seed: Seed = 0, force: Force = False, debug: Debug = False
) -> None:
    """Write a report on a table that comes with assay.

    What 440 clients of a wholesale distributor spend on six kinds of goods in a year (UCI, M. Cardoso, CC BY 4.0).
    """
    from importlib.resources import as_file, files

    from assay.cli.report import report

    with as_file(files("assay") / "examples" / _BUNDLED) as path:
        report([str(path)], output=output, json=json, seed=seed, force=force, debug=debug)
