"""What every command shares: errors as one sentence, progress, and a console whose reader may leave."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from assay.cli.stopping import exit_code, stoppable


@dataclass
class Step:
    """What is being done, for the sentence that says where it ended."""

    what: str = "Starting"


@contextmanager
def explained(debug: bool, written: str = "nothing was written") -> Iterator[Step]:
    """Errors on purpose and of the machine become one sentence and exit code 2, all others one and exit code 3.

    An interrupt gives 130, another signal that ends programs 128 and its number.
    """
    from assay.errors import AssayError
    from assay.system_errors import of_the_machine, with_remedy

    step = Step()
    try:
        with stoppable():
            _refuse_no_folder()
            yield step
    except AssayError as error:
        _say(str(error), debug)
        raise typer.Exit(2) from None
    except KeyboardInterrupt as error:
        _say(f"stopped; {written}", debug)
        raise typer.Exit(exit_code(error)) from None
    except (typer.Exit, typer.Abort):
        raise
    except MemoryError as error:
        _say(
            f"there is not enough memory for this table, at: {step.what} ({_named(error)}), and {written}: give fewer "
            "rows or leave columns out by --drop, and if the table is small, please report this to the makers of assay",
            debug,
        )
        raise typer.Exit(3) from None
    except Exception as error:
        if isinstance(error, OSError) and of_the_machine(error):
            where = f"{error.filename}: " if error.filename else ""
            _say(f"{where}{with_remedy(error)}; it ended at: {step.what}, and {written}", debug)
            raise typer.Exit(2) from None
        _say(
            f"a fault of assay, not of your data, at: {step.what} ({_named(error)}), and {written}: please report this "
            "to the makers of assay with the command and, if you can, the data; --debug shows the traceback",
            debug,
        )
        raise typer.Exit(3) from None


def _refuse_no_folder() -> None:
    """The folder in which a command is started may be gone; libraries fail there, even if nobody names it."""
    from assay.errors import DataError

    try:
        Path.cwd()
    except OSError as error:
        raise DataError("the folder in which assay was started is gone; change to one that is there") from error


def _say(words: str, debug: bool) -> None:
    """One line on standard error; the traceback of what is being handled before it, where it is wanted."""
    from assay.views.escape import visible

    if debug:
        traceback.print_exc()
    print(f"assay: {visible(' '.join(words.split()))}", file=sys.stderr)


def say(words: str) -> None:
    """One line on standard error."""
    _say(words, False)


def _named(error: Exception) -> str:
    """The type of an error and the first line of what it says."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0][:300]}" if said else type(error).__name__


def terminal(*, beside: bool = False) -> Any:
    """A console; who reads only its first lines wants no more, and what was to be written is whole by then.

    Args:
        beside: on standard error, as something else goes to standard output.
    """
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            with suppress(SystemExit):
                super().on_broken_pipe()  # what is still to come goes nowhere
            raise typer.Exit(0)

    return Terminal(stderr=beside)


@contextmanager
def progress(step: Step) -> Iterator[Callable[[str, int | None, float | None], object]]:
    """A line that says what is being done, how fast and for how long still, where somebody watches."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Starting", total=None)
        pace = Pace()

        def tell(what: str, done: int | None, fraction: float | None) -> None:
            step.what = what
            bar.update(task, description=pace.line(what, done, fraction))

        yield tell


class Pace:
    """How fast a step goes and how long it has left, from what was told since it began."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._step = ""
        self._start = 0.0

    def line(self, what: str, done: int | None, fraction: float | None) -> str:
        """What is being done, in one line."""
        now = self._clock()
        if what != self._step:
            self._step, self._start = what, now
        if done is None:
            return what
        line, passed = f"{what}: {done:,} rows", now - self._start
        if passed > 0.5:
            line += f", {done / passed:,.0f} a second"
            if fraction is not None and 0.0 < fraction < 1.0:
                line += f", {_duration(passed * (1.0 - fraction) / fraction)} left"
        return line


def _duration(seconds: float) -> str:
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 120 else f"{whole // 60} min"
