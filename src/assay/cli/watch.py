"""The command that watches a stream: alerts as lines of JSON, a live view, state that survives a restart."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Annotated, Any

import typer

from assay.cli import early
from assay.cli.app import command
from assay.cli.options import Debug, Drop, Kind, Reading, Sensitive, Unit
from assay.cli.output import STANDARD, check_places
from assay.cli.said import pairs, value
from assay.cli.stopping import ENDING, heard
from assay.cli.streams import say
from assay.cli.terminal import explained

Stream = Annotated[
    str,
    typer.Argument(
        help="A file, or - for standard input: CSV or JSON lines.", show_default=False, callback=early.there
    ),
]
State = Annotated[
    Path | None,
    typer.Option(
        help="Where the state is kept; if it is there, the watch goes on from it.",
        show_default=False,
        callback=early.writable,
    ),
]
Reference = Annotated[
    str,
    typer.Option(help="Rows at the start that show what is usual, or a file of such rows.", callback=early.reference),
]
HalfLife = Annotated[
    float | None, typer.Option(help="Rows after which a row counts half in the moments.", show_default=False)
]
Level = Annotated[
    float,
    typer.Option(help="Chance of any false drift, and of a false anomaly within the horizon.", callback=early.share),
]
Every = Annotated[int, typer.Option(help="Rows of a window, after which drift is asked for.")]
Horizon = Annotated[int, typer.Option(help="Rows among which the share of false anomalies is kept.")]
Against = Annotated[str, typer.Option(help="reference, or running: score rows by what is usual by now.")]
Tail = Annotated[bool, typer.Option("--extrapolate/--ranks-only", help="Tell anomalies before ranks alone can.")]
Alerts = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the alerts to this file; - for standard output.",
        show_default=False,
        callback=early.writable,
    ),
]
Follow = Annotated[bool, typer.Option("--follow", help="Wait for more at the end of a file.")]
Idle = Annotated[
    float | None, typer.Option(help="Seconds without more after which a followed file ends.", show_default=False)
]
Replayed = Annotated[bool, typer.Option("--replayed", help="Standard input starts anew: leave out rows known already.")]
SaveEvery = Annotated[float, typer.Option(help="Seconds between savings of the state.", min=0.0)]
View = Annotated[bool, typer.Option("--view/--no-view", help="Show how things stand, where there is a terminal.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]


@command("assay watch readings.csv --follow --state watch.assay -o alerts.jsonl")
def watch(
    data: Stream,
    state: State = None,
    reference: Reference = "5000",
    half_life: HalfLife = None,
    level: Level = 0.05,
    every: Every = 1000,
    horizon: Horizon = 100_000,
    against: Against = "reference",
    extrapolate: Tail = True,
    output: Alerts = None,
    follow: Follow = False,
    idle: Idle = None,
    replayed: Replayed = False,
    save_every: SaveEvery = 10.0,
    view: View = True,
    sensitive: Sensitive = None,
    drop: Drop = None,
    kind: Kind = None,
    unit: Unit = None,
    option: Reading = None,
    seed: Seed = 0,
    debug: Debug = False,
) -> None:
    """Watch a stream for rows that do not belong, and drift.

    One line of JSON for each such row, each drift, each problem of the input.
    """
    written = "alerts until then stand" + ("" if state is None else f", and {state} is as it was saved last")
    with explained(debug, written) as step, ExitStack() as closing:
        from assay.data.field import Declared

        step.what = "Opening the stream"
        output = None if output == STANDARD else output
        _check_places(data, state, output)
        declared = Declared(pairs(kind, "--kind"), pairs(unit, "--unit"), {}, frozenset(sensitive or ()))
        options: dict[str, Any] = {
            "level": level, "half_life": half_life, "every": every, "horizon": horizon, "against": against,
            "extrapolate": extrapolate, "drop": drop or [], "random_state": seed,
        }  # fmt: skip
        watched = _begun(state, reference, options, declared)
        known = watched.position
        how = {name: value(text) for name, text in pairs(option, "--option").items()}
        feed = _feed(data, declared, known, follow, idle, replayed, state is not None, how)
        lines = _Lines(closing, output, int(known.get("alerts", 0)))
        saver = _Saver(watched, state, save_every)
        step.what = "Watching"
        stopped = _run(watched, feed, lines, saver, view=view)
        saver.save()
    told = f"{watched.rows:,} rows, {sum(watched.alerts.values()):,} alerts"
    kept = "" if state is None else f"; the state is in {state}"
    if feed.held:
        kept += f"; the last line has no end yet and is left for the next time ({feed.held:,} bytes)"
    if watched.needed:
        kept += f"; nothing was judged, as the reference still needs {watched.needed:,} rows"
    say(f"stopped after {told}{kept}" if stopped else f"{told}{kept}")
    if stopped:
        raise typer.Exit(128 + stopped)


def _check_places(data: str, state: Path | None, output: Path | None) -> None:
    from assay.errors import ParameterError

    if state is not None and output is not None and os.path.realpath(state) == os.path.realpath(output):
        raise ParameterError(f"the state and the alerts cannot both be in {state}; give two names")
    check_places((state, output), (data,), force=True)  # alerts go on where they ended, and a state is loaded first


def _begun(state: Path | None, reference: str, options: dict[str, Any], declared: Any) -> Any:
    """The watch as it was saved, if it was, and else a new one."""
    from assay.data.read import read
    from assay.errors import DataError, ParameterError
    from assay.models.files import load
    from assay.watch.watch import Watch

    if state is not None and state.exists():
        watched = load(state)
        if not isinstance(watched, Watch):
            raise DataError(f"{state} holds a {type(watched).__name__}, not the state of a watch; give another name")
        asked = {**options, "drop": list(options["drop"])}
        other = [name for name, value in asked.items() if value != watched.options[name]]
        if other:
            was, now = watched.options[other[0]], asked[other[0]]
            flag = "seed" if other[0] == "random_state" else other[0].replace("_", "-")
            raise ParameterError(
                f"{state} was begun with {flag} {was}, and now it is {now}: give the same options, or another state"
            )
        return watched
    if reference.isascii() and reference.isdigit():
        return Watch(int(reference), **options)
    if Path(reference).suffix == "" and not Path(reference).exists():
        raise ParameterError(f"--reference is a number of rows, or a file; got {reference!r}")
    return Watch(read(reference, sensitive=declared.sensitive, kinds=declared.kinds, units=declared.units), **options)


def _feed(
    data: str,
    declared: Any,
    known: dict[str, Any],
    follow: bool,
    idle: float | None,
    replayed: bool,
    kept: bool,
    how: Any,
) -> Any:
    from assay.data.text.resumed import Position, feed_of
    from assay.errors import ParameterError

    if data == "-" and (sys.stdin is None or sys.stdin.isatty()):
        raise ParameterError("nothing is piped into standard input; try `tail -f log.csv | assay watch -`")
    if idle is not None and not follow:
        raise ParameterError("--idle is for a file that is followed; add --follow")
    if replayed and data != "-":
        raise ParameterError("--replayed is for standard input; a file is read from where it was left anyway")
    position = Position.of({k: v for k, v in known.items() if k != "alerts"})
    return feed_of(data, declared, position, follow=follow, idle=idle, replayed=replayed, hold_last=kept, **how)


class _Lines:
    """Where alerts go. A file that is gone on with is cut to what it had when the state was saved."""

    def __init__(self, closing: ExitStack, output: Path | None, length: int) -> None:
        self._handle: IO[bytes] | None = None
        self.length = length
        self._output = output
        if output is not None:
            with self._write_errors():
                self._handle = output.open("r+b" if output.exists() and length else "wb")
                closing.callback(self._close)
                self._handle.truncate(length)
                self._handle.seek(0, 2)
                self.length = self._handle.tell()

    def _close(self) -> None:
        with suppress(OSError):  # what could not be written was told of
            if self._handle is not None:
                self._handle.close()

    @contextmanager
    def _write_errors(self) -> Iterator[None]:
        from assay.errors import DataError
        from assay.system_errors import with_remedy

        try:
            yield
        except OSError as error:
            raise DataError(f"cannot write {self._output}: {with_remedy(error)}") from error

    def write(self, alerts: list[Any]) -> bool:
        """Write alerts; False where nobody reads them any more."""
        text = "".join(f"{alert.line()}\n" for alert in alerts)
        if self._handle is not None:
            with self._write_errors():
                self._handle.write(text.encode())
                self._handle.flush()
                self.length = self._handle.tell()
            return True
        try:
            if text:
                sys.stdout.write(text)
                sys.stdout.flush()
        except BrokenPipeError:
            # what is still to be flushed at the end goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return False
        return True


class _Saver:
    """Saves the state now and then."""

    def __init__(self, watched: Any, state: Path | None, seconds: float) -> None:
        self._watched, self._state, self._seconds = watched, state, seconds
        self._last = time.monotonic()

    def save_if_due(self) -> None:
        if self._state is not None and time.monotonic() - self._last >= self._seconds:
            self.save()

    def save(self) -> None:
        if self._state is not None:
            self._watched.save(self._state)
            self._last = time.monotonic()


class _Stop:
    """Signals end the watch between blocks, or at once while it waits for rows."""

    def __init__(self) -> None:
        self.asked = 0
        self.waiting = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.asked = self.asked or number
        if self.waiting:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self) -> Iterator["_Stop"]:
        with heard(self, signal.SIGINT, *ENDING):
            yield self


def _run(watched: Any, feed: Any, lines: _Lines, saver: _Saver, *, view: bool) -> int:
    """Take in rows until they end; the number of the signal where one stopped it, and else 0."""
    from assay.cli.watch_view import live

    with _Stop().listening() as stop, live(watched, feed.name, shown=view) as show:
        blocks = feed.blocks()
        while True:
            stop.waiting = True
            try:
                if stop.asked:
                    return stop.asked
                block = next(blocks, None)
            except KeyboardInterrupt:
                return stop.asked or signal.SIGINT
            finally:
                stop.waiting = False
            if block is None:
                return 0
            rows, problems = block
            alerts = watched.update(rows) if rows.num_rows else []
            alerts += watched.note(problems)
            read_on = lines.write(alerts)
            watched.position = {**feed.position.as_dict(), "alerts": lines.length}
            saver.save_if_due()
            show(alerts)
            if not read_on:
                return 0
