"""The pytest plugin: adapters in the place of scikit-learn's estimators, a line of JSON for each test that used one."""

from __future__ import annotations

import json
import os
import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.peers.adapters import USED, adapter
from tests.peers.differences import DEPRECATED, IN_OTHER_WORDS, lacking, reason
from tests.peers.table import PEERS

LIMIT = 20
OTHER_WORDS: list[str] = []  # why the test at hand is no pass even if it goes through
_HIDDEN: list[tuple[Any, type]] = []  # private modules, and the estimators they are to have again


def pytest_configure(config: pytest.Config) -> None:
    """Put adapters where tests import estimators from; scikit-learn itself has imported its own by then."""
    for place, translation in PEERS.items():
        module, name = place.rsplit(".", 1)
        home = import_module(module)
        peer = getattr(home, name)
        made = adapter(peer, translation)
        setattr(home, name, made)
        _HIDDEN.append((import_module(peer.__module__), peer))
        setattr(_HIDDEN[-1][0], name, made)
    for name in ("raises", "warns"):
        setattr(pytest, name, _in_any_words(getattr(pytest, name)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Where tests import from private modules they have done so; scikit-learn works with its own again.

    But for its maps: their tests look into private modules as they run, and no other estimator uses them.
    """
    for home, peer in _HIDDEN:
        if not home.__name__.startswith("sklearn.manifold"):
            setattr(home, peer.__name__, peer)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """End a test after LIMIT seconds of CPU time."""
    signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)


def _too_slow(*_: Any) -> None:
    raise TooSlow(f"too slow: over {LIMIT} s of CPU time")


class TooSlow(BaseException):
    """No test expects it."""


def _in_any_words(expects: Any) -> Any:
    """`pytest.raises` or `warns` that notes where the words are others, and lets the test go on."""

    @contextmanager
    def expecting(expected: Any, match: str | None, words: dict[str, Any]) -> Iterator[Any]:
        with expects(expected, **words) as told:
            yield told
        said = [str(told.value)] if hasattr(told, "value") else [str(warning.message) for warning in told]
        if match is not None and not any(re.search(match, line) for line in said):
            OTHER_WORDS.append(IN_OTHER_WORDS)

    @contextmanager
    def deprecation() -> Iterator[Any]:
        with warnings.catch_warnings(record=True) as told:
            yield told
        OTHER_WORDS.append(DEPRECATED)

    def asked(expected: Any = Warning, *args: Any, match: str | None = None, **words: Any) -> Any:
        if args:
            return expects(expected, *args, **words)
        return deprecation() if expected is FutureWarning else expecting(expected, match, words)

    return asked


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    USED.clear()
    OTHER_WORDS.clear()
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    if report.when != "call" or not USED or (report.skipped and "missing: " not in str(report.longrepr)):
        return
    told = _last_line(str(report.longrepr)) if report.longrepr else ""
    kind, why = _judged(f"{item.module.__name__}::{item.name}", report, told)  # type: ignore[attr-defined]
    line = {"test": item.name, "kind": kind, "why": why or told, "peers": sorted(USED)}
    with Path(os.environ["ASSAY_PEERS_RECORD"]).open("a", encoding="utf-8") as record:
        record.write(json.dumps(line) + "\n")


def _judged(test: str, report: Any, told: str) -> tuple[str, str | None]:
    if report.passed:
        return ("deliberate", OTHER_WORDS[0]) if OTHER_WORDS else ("pass", None)
    if report.skipped:
        return "missing", None
    if what := lacking(test, told):
        return "missing", f"missing: {what}"
    why = reason(test, told)
    return ("deliberate", why) if why else ("defect", None)


def _last_line(told: str) -> str:
    """What was raised, in one line."""
    raised = re.findall(r"^E +(.*)$", told, re.MULTILINE)
    missing = re.search(r"missing: [^'\"]*", told)
    return (missing.group() if missing else raised[0] if raised else told.strip().splitlines()[-1])[:300]
