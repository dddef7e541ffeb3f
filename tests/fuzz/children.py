"""Children with limits: a fork for each file, so that whatever it does ends with it."""

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

MEMORY = 4 << 30  # bytes of addresses, of which the imports take a part
RESIDENT = 600 << 20  # bytes of memory beyond those of a child that does nothing
SECONDS = 20


def in_child(work: Callable[[], dict[str, Any]], seconds: float = SECONDS) -> dict[str, Any]:
    """What work gives, or {"wrong": how it ended}.

    Args:
        work: done in a fork of this process.
        seconds: of processor time, and six times as much on the clock, as others may be at work.
    """
    out, into = os.pipe()
    before = _resident()
    child = os.fork()
    if not child:
        os.close(out)
        _limited(work, into, seconds)
    os.close(into)
    said, ended = _heard(out, 6 * seconds)
    if not ended:
        os.kill(child, signal.SIGKILL)
    os.close(out)
    _, status = os.waitpid(child, 0)
    if not ended:
        return {"wrong": f"nothing came within {6 * seconds:g} s"}
    if os.WIFSIGNALED(status):
        return {
            "wrong": f"killed by {signal.Signals(os.WTERMSIG(status)).name}",
            "heard": said[-2000:].decode(errors="replace"),
        }
    try:
        found = json.loads(said.rpartition(b"\n")[2])
    except ValueError:
        return {
            "wrong": f"exit code {os.WEXITSTATUS(status)} without a word",
            "heard": said[-2000:].decode(errors="replace"),
        }
    more = found.pop("resident", 0) - before  # without processes that readers start, whose bounds are their own
    if more > RESIDENT and "wrong" not in found:
        return {"wrong": f"it took {more >> 20:,} MB of memory", **found}
    return found


def _limited(work: Callable[[], dict[str, Any]], into: int, seconds: float) -> None:
    try:
        os.dup2(into, 1)
        os.dup2(into, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        start = time.monotonic()
        try:
            found = work()
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)
            ours = next((f"{f.filename}:{f.lineno}" for f in reversed(where) if "/src/assay/" in f.filename), "")
            told = "".join(traceback.format_exception(error))[-3000:]
            found = {"wrong": f"{type(error).__name__}: {str(error)[:300]}", "where": ours, "trace": told}
        found["seconds"] = round(time.monotonic() - start, 3)
        found["resident"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        os.write(into, b"\n" + json.dumps(found).encode())
    finally:
        os._exit(0)


def _heard(out: int, seconds: float) -> tuple[bytes, bool]:
    said, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not select.select([out], [], [], left)[0]:
            break
        piece = os.read(out, 1 << 16)
        if not piece:
            return said, True
        said = (said + piece)[-(1 << 20) :]
    return said, False


def _resident() -> int:
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize()
