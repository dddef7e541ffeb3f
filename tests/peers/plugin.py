"""The pytest plugin: adapters in the place of scikit-learn's estimators, and one line of JSON for each test that used one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from tests.peers.adapters import USED, adapter
from tests.peers.differences import reason
from tests.peers.table import PEERS


def pytest_configure(config: pytest.Config) -> None:
    """Put adapters where tests import estimators from; scikit-learn itself has imported its own by then."""
    for place, translation in PEERS.items():
        module, name = place.rsplit(".", 1)
        home = import_module(module)
        setattr(home, name, adapter(getattr(home, name), translation))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    USED.clear()
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    if report.when != "call" or not USED or (report.skipped and "missing: " not in str(report.longrepr)):
        return
    told = _last_line(str(report.longrepr)) if report.longrepr else ""
    why = reason(item.nodeid.replace(os.sep, "/"), told) if report.failed else None
    kind = "pass" if report.passed else "missing" if report.skipped else "deliberate" if why else "defect"
    line = {"test": item.nodeid, "kind": kind, "why": why or told, "peers": sorted(USED)}
    with open(os.environ["ASSAY_PEERS_RECORD"], "a", encoding="utf-8") as record:
        record.write(json.dumps(line) + "\n")


def _last_line(told: str) -> str:
    """What was raised, in one line."""
    raised = re.findall(r"^E +(.*)$", told, re.MULTILINE)
    missing = re.search(r"missing: [^'\"]*", told)
    return (missing.group() if missing else raised[0] if raised else told.strip().splitlines()[-1])[:300]
