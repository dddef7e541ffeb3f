"""What every command shares: errors as one sentence, progress, and a console whose reader may leave."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import typer


@dataclass
class Step:
    """What is being done, for the sentence that says where it ended."""

    what: str = "Starting"


@contextmanager
def explained(debug: bool, written: str = "nothing was written") -> Iterator[Step]:
    """Errors on purpose become one sentence and exit code 2, all others one and exit code 3, an interrupt 130."""
    from assay.errors import AssayError

    step = Step()
    try:
        yield step
    except AssayError as error:
        _say(str(error), debug)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        _say(f"stopped; {written}", debug)
        raise typer.Exit(130) from None
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
        _say(
            f"a fault of assay, not of your data, at: {step.what} ({_named(error)}), and {written}: please report this "
            "to the makers of assay with the command and, if you can, the data; --debug shows the traceback",
            debug,
        )
        raise typer.Exit(3) from None


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


def terminal() -> Any:
    """A console; who reads only its first lines wants no more, and what was to be written is whole by then."""
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            with suppress(SystemExit):
                super().on_broken_pipe()  # what is still to come goes nowhere
            raise typer.Exit(0)

    return Terminal()


@contextmanager
def progress(step: Step) -> Iterator[Callable[[str, int | None, float | None], object]]:
    """A line that says what is being done, how fast and for how long still, where somebody watches."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    console = Console(stderr=True)
    bar = Progress(*columns, console=console, transient=True)
    with bar if console.is_terminal else nullcontext():  # rich before 14.3 writes a line where disabled
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
