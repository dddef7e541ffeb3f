"""`python -m assay` is `assay`."""

import atexit
import os
import signal
import sys
import threading
from typing import Any, NoReturn


def main() -> None:
    """Run the command line and end the process; an interrupt or lack of memory while it is loaded is one line, too."""
    sys.unraisablehook = _unraisable
    try:
        from assay.cli import run
        from assay.cli.spared import own_process

        own_process()
        code = run()
    except KeyboardInterrupt:
        code = _refused("stopped; nothing was written", 130)
    except MemoryError:
        code = _refused("there is not enough memory to begin, and nothing was written: free some", 3)
    _leave(code)


def _refused(words: str, code: int) -> int:
    print(f"assay: {words}", file=sys.stderr)
    return code


def _unraisable(lost: Any) -> None:
    """An interrupt that came where nothing can be raised is raised a little later; all else is no user's concern."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        from threading import Timer

        Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()


def _leave(code: int) -> NoReturn:
    """End the process without taking apart what it has loaded: half a second of a report, and after an interrupt within
    `exec` Python would end by the signal instead of the code.
    """
    try:
        if code != 130:
            threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as Python does first of all
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
