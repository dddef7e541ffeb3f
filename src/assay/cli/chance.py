"""The command that says what chance does to whoever looks at everything."""

from typing import Annotated

import typer

from assay.cli import early
from assay.cli.app import command
from assay.cli.options import Debug, Force, Json
from assay.cli.output import STANDARD, check_places, write_json
from assay.cli.terminal import explained, terminal

Things = Annotated[int, typer.Argument(help="How many there are: columns, people, tests.", show_default=False)]
Chance = Annotated[float, typer.Argument(help="That one look shows it once, by chance alone.", show_default=False)]
Together = Annotated[int, typer.Option(help="How many of them make one look: 2 for pairs.")]
Occasions = Annotated[int, typer.Option(help="How often each combination could show it.")]
Times = Annotated[int, typer.Option(help="On how many of these occasions it has to.")]
AnyFalse = Annotated[float, typer.Option(help="What the probability of any false hit is to be.", callback=early.share)]


@command("assay chance 100 0.05")
def chance(
    things: Things,
    chance: Chance,
    together: Together = 1,
    occasions: Occasions = 1,
    times: Times = 1,
    level: AnyFalse = 0.05,
    json: Json = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Say how many hits chance alone gives to many looks."""
    from dataclasses import asdict

    from assay.evidence.by_chance import expected_by_chance

    with explained(debug):
        check_places((json,), (), force=force)
        found = expected_by_chance(things, chance, together=together, occasions=occasions, times=times, level=level)
        write_json(asdict(found) | {"sentence": found.sentence}, json)
        terminal(beside=json == STANDARD).out(found.sentence, highlight=False)
