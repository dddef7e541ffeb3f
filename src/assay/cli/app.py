"""The application to which every module of this package adds its commands."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, TypeVar

import typer

from assay.cli.settings import Taken, taken
from assay.version import __version__

Function = TypeVar("Function", bound=Callable[..., None])

app = typer.Typer(
    help="Finds the structure in data, and says which of it would survive a second look.",
    epilog="`assay COMMAND -h` shows what a command takes and an example; `assay methods` lists what assay can do.",
    add_completion=False,  # `assay completion` writes a script that needs no Python at the press of a key
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)

Config = Annotated[
    str | None,
    typer.Option(
        "--config",
        help="A file of settings; assay.toml of this folder when not given.",
        metavar="FILE",
        show_default=False,
        is_eager=True,  # what it says stands in for what is not said on the command line
        callback=taken,
    ),
]


def command(example: str, **told: Any) -> Callable[[Function], Function]:
    """Add a function as a command, with an example in its help, which settings of a file reach.

    Args:
        example: a line that works.
        told: to Typer, such as the name.
    """

    def added(function: Function) -> Function:
        own = [*inspect.signature(function).parameters.values()]
        own.append(inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Config))

        @wraps(function)
        def called(config: Taken | None = None, **given: Any) -> None:
            if config is not None:
                config.say()
            function(**given)

        called.__dict__["__signature__"] = inspect.Signature(own)
        called.__annotations__ = {p.name: p.annotation for p in own}
        app.command(epilog=f"Example: {example}", **told)(called)
        return function

    return added


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        print(f"assay {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)
