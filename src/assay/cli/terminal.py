"""What every command shares: errors as one sentence, progress, and a console whose reader may leave."""

import errno
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from assay.cli.stopping import exit_code, stoppable
from assay.cli.streams import reader_left, say
from assay.errors import AssayError, DataError
from assay.shown import safe, visible, visible_json
from assay.system_errors import of_the_machine, with_remedy


@dataclass
class Step:
    """What is being done, for the sentence that says where it ended."""

    what: str = "Starting"


@contextmanager
def explained(debug: bool, written: str = "nothing was written", *, in_folder: bool = True) -> Iterator[Step]:
    """Errors on purpose and of the machine become one sentence and exit code 2, all others one and exit code 3.

    An interrupt gives 130, another signal that ends programs 128 and its number.

    Args:
        debug: whether tracebacks are shown.
        written: what is told of files.
        in_folder: whether the work needs the folder in which it was started.
    """
    step = Step()
    try:
        with stoppable():
            if in_folder:
                _refuse_no_folder()
            yield step
    except (typer.Exit, typer.Abort):
        raise
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, BrokenPipeError) and reader_left():
            raise typer.Exit(0) from None
        if debug:
            print(_traceback(error), file=sys.stderr)
        words, code = _judged(error, step.what, written)
        say(words)
        raise typer.Exit(code) from None


def _judged(error: BaseException, what: str, written: str) -> tuple[str, int]:
    """What went wrong in a sentence, and the exit code."""
    for each in _chain(error):  # modules hide an interrupt while they are imported
        if isinstance(each, KeyboardInterrupt):
            return f"stopped; {written}", exit_code(each)
    if isinstance(error, AssayError):
        return str(error), 2
    if hasattr(error, "format_message"):  # of the command line's own parser
        return _usage(error), 2
    if _lacks_memory(error):
        traceback.clear_frames(error.__traceback__)  # what is held there is not needed any more
        return (
            f"there is not enough memory for this table, at: {what} ({_named(error)}), and {written}: give fewer "
            "rows or leave columns out by --drop, and if the table is small, please report this to the makers of assay",
            3,
        )
    if isinstance(error, RecursionError):
        return f"something in the data is nested too deeply, at: {what}, and {written}: give it in fewer levels", 2
    if isinstance(error, OSError) and of_the_machine(error):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{with_remedy(error)}; it ended at: {what}, and {written}", 2
    return (
        f"a fault of assay, not of your data, at: {what} ({_named(error)}), and {written}: please report this "
        "to the makers of assay with the command and, if you can, the data; --debug shows the traceback",
        3,
    )


def _refuse_no_folder() -> None:
    """The folder in which a command is started may be gone; libraries fail there, even if nobody names it."""
    try:
        Path.cwd()
    except OSError as error:
        raise DataError("the folder in which assay was started is gone; change to one that is there") from error


def _usage(error: Any) -> str:
    """What is wrong with the words of the command line, and where they are listed."""
    context = getattr(error, "ctx", None)
    told = str(error.format_message()).strip().rstrip(".")
    return f"{told}; see {context.command_path if context else 'assay'} --help"


def _lacks_memory(error: BaseException) -> bool:
    """Whether memory is the reason, however it is told: by Python, the system, or a library that cannot be loaded."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    words = ("cannot allocate memory", "failed to map segment", "bad_alloc", "can't start new thread", "out of memory")
    return any(word in str(each).lower() for each in _chain(error) for word in words)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those it came from."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__


def _traceback(error: BaseException) -> str:
    return "\n".join(safe(line) for line in "".join(traceback.format_exception(error)).rstrip().split("\n"))


def _named(error: BaseException) -> str:
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

        def out_json(self, text: str) -> None:
            """JSON as it is, whatever the encoding of the terminal."""
            self.out(visible_json(text, ascii=not self.encoding.startswith("utf")), end="", highlight=False)

    return Terminal(stderr=beside, **QUIET)


# names from the data may look like markup, emoji codes or numbers to be coloured
QUIET: Any = {"markup": False, "emoji": False, "highlight": False}


@contextmanager
def progress(step: Step) -> Iterator[Callable[[str, int | None, float | None], object]]:
    """A line that says what is being done, how fast and for how long still, where somebody watches."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    console = Console(stderr=True, **QUIET)
    bar = Progress(*columns, console=console, transient=True)
    # before rich 14.3 one that is only disabled writes an empty line
    with bar if console.is_terminal else nullcontext():
        task = bar.add_task("Starting", total=None)
        pace = Pace()

        def tell(what: str, done: int | None, fraction: float | None) -> None:
            step.what = what
            bar.update(task, description=visible(pace.line(what, done, fraction)))

        yield tell


_SOME_SECONDS = 2.0  # by which a share of draws tells how long the others take


class Pace:
    """How fast a step goes and how long it has left, from what was told since it began."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._step = ""
        self._start = 0.0
        self._share = 0.0

    def line(self, what: str, done: int | None, fraction: float | None) -> str:
        """What is being done, in one line."""
        now = self._clock()
        # a share of draws that falls is that of others, which began
        if what != self._step or (done is None and fraction is not None and fraction < self._share):
            self._step, self._start = what, now
        self._share = fraction or 0.0
        passed = now - self._start
        if done is None:
            if fraction is None or not 0.0 < fraction < 1.0:
                return what
            left = f", {_duration(passed * (1.0 - fraction) / fraction)} left" if passed > _SOME_SECONDS else ""
            return f"{what}{'' if what.endswith('?') else ':'} {fraction:.0%}{left}"
        line = f"{what}: {done:,} rows"
        if passed > 0.5:
            line += f", {done / passed:,.0f} a second"
            if fraction is not None and 0.0 < fraction < 1.0:
                line += f", {_duration(passed * (1.0 - fraction) / fraction)} left"
        return line


def _duration(seconds: float) -> str:
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 120 else f"{whole // 60} min"
