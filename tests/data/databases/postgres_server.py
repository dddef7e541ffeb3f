"""A PostgreSQL server of the tests' own: on loopback, in a temporary folder, gone when the tests are."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

USER = "assay"


def binaries() -> Path | None:
    """The folder of initdb and postgres, on the path or where Debian puts them."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Start one and yield its URL; without binaries skip, or fail where ASSAY_POSTGRES=1 says there must be some."""
    folder = binaries()
    if folder is None:
        missing = "PostgreSQL's initdb and postgres are neither on the path nor in /usr/lib/postgresql"
        if os.environ.get("ASSAY_POSTGRES") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    # not pytest's tmp_path: its parents are closed to the unprivileged user
    place = Path(tempfile.mkdtemp(prefix="assay-postgres-"))
    who = "nobody" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root
    if who:
        shutil.chown(place, who)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = None
    try:
        with (place / "log").open("w") as log:
            common = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT, "cwd": place}
            common |= {"user": who, "env": {"HOME": str(place), "PATH": os.environ["PATH"]}}
            data = ["-D", str(place / "data")]
            made = [folder / "initdb", *data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
            subprocess.run(made, check=True, timeout=60, **common)
            settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=20")
            options = [part for setting in settings for part in ("-c", setting)]
            process = subprocess.Popen([folder / "postgres", *data, "-p", str(port), *options], **common)
        _wait(process, port, place / "log")
        yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
    except (OSError, subprocess.SubprocessError) as error:
        log_text = (place / "log").read_text() if (place / "log").exists() else ""
        pytest.fail(f"PostgreSQL did not start: {error}\n{log_text}")
    finally:
        if process is not None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(place, ignore_errors=True)


def _wait(process: subprocess.Popen, port: int, log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise OSError(f"it ended with code {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            if "ready to accept connections" in log.read_text():
                return
        time.sleep(0.05)
    raise OSError("it was not ready within 30 seconds")
