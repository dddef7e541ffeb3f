"""How a watch stands, on a terminal, while it runs."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SHOWN = 8


@contextmanager
def live(watched: Any, name: str, *, shown: bool) -> Iterator[Callable[[list[Any]], None]]:
    """A view that is brought up to date with the alerts of each block; nothing where there is no terminal."""
    from rich.console import Console

    from assay.cli.terminal import QUIET

    console = Console(stderr=True, **QUIET)
    if not (shown and console.is_terminal):
        yield lambda alerts: None
        return
    import sys

    from rich.live import Live

    latest: deque[Any] = deque(maxlen=_SHOWN)
    begun, rows = time.monotonic(), watched.rows
    beside = sys.stdout.isatty()  # alerts are printed above the view
    with Live(console=console, refresh_per_second=4, redirect_stdout=beside, redirect_stderr=False) as shown_now:
        last = 0.0

        def show(alerts: list[Any]) -> None:
            nonlocal last
            latest.extend(alerts)
            now = time.monotonic()
            if now - last >= 0.25:
                last = now
                rate = (watched.rows - rows) / max(now - begun, 1e-9)
                shown_now.update(picture(watched, name, rate, list(latest)))

        yield show
        rate = (watched.rows - rows) / max(time.monotonic() - begun, 1e-9)
        shown_now.update(picture(watched, name, rate, list(latest)), refresh=True)


def picture(watched: Any, name: str, rate: float, latest: list[Any]) -> Any:
    """What is shown: rows and their rate, moments, gauges of drift, the latest alerts."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from assay.views.html.escape import visible

    head = f"{visible(name)}: {watched.rows:,} rows, {rate:,.0f} a second"
    if watched.needed:
        return Group(Text(head), Text(f"gathering the reference, {watched.needed:,} rows to come"))
    parts: list[Any] = [Text(head, style="bold")]
    table = Table("column", "mean", "standard deviation", "moved", box=None, pad_edge=False)
    moments = watched.moments
    if moments.weight > 1.0:
        law = watched.aspects.law
        moved = (moments.mean - law.location) / law.scale
        spread = moments.variance**0.5
        for j in sorted(range(moments.d), key=lambda j: -abs(moved[j]))[:_SHOWN]:
            values = f"{moments.mean[j]:.4g}", f"{spread[j]:.4g}", f"{moved[j]:+.2f} sd"
            table.add_row(visible(watched.names[j]), *values)
        parts.append(table)
    parts += [Text(gauge(aspect, p)) for aspect, p in watched.drift.items()]
    counts = ", ".join(f"{kind} {count:,}" for kind, count in watched.alerts.items())
    parts.append(Text(f"alerts: {counts or 'none'}"))
    parts += [Text(visible(alert.message), overflow="ellipsis", no_wrap=True) for alert in latest]
    return Group(*parts)


def gauge(aspect: str, p: float) -> str:
    """Drift as a bar, one step for each power of ten of its chance.

    >>> gauge("mean", 1e-4)
    'drift of the mean        ####............ p 1e-04'
    """
    steps = min(int(-math.log10(max(p, 1e-16))), 16)
    return f"{f'drift of the {aspect}':<25}{'#' * steps}{'.' * (16 - steps)} p {p:.0e}"
