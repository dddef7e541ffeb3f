"""Commands in processes of their own, without the second and a half that a new interpreter takes to import assay.

A server imports what commands import, and nothing more; each command is a fork of it, with its own streams, folder,
environment, memory and exit code. Tests of what happens while modules are imported, of signals and of encodings start
interpreters themselves.

    python -m tests.forked SOCKET    the server, on the file descriptor of a socket
"""

import atexit
import gc
import json
import os
import socket
import subprocess
import sys
import threading
from functools import cache
from importlib import import_module
from pathlib import Path

IMPORTED = (
    "assay.cli",
    "assay.study.run",
    "assay.report.write",
    "assay.report.page",
    "assay.report.text",
    "assay.watch.watch",
)


def run(*arguments, cwd=None, stdin=None):
    """What `subprocess.run` of `assay` with these arguments gives, as text.

    Args:
        arguments: of the command line.
        cwd: where it runs; None for here.
        stdin: what it reads, from a pipe; None for nothing.
    """
    asked = {"arguments": [*map(str, arguments)], "cwd": os.fspath(cwd or Path.cwd()), "environment": dict(os.environ)}
    (read_in, in_), (out, write_out), (err, write_err) = os.pipe(), os.pipe(), os.pipe()
    server = _server()
    socket.send_fds(server, [json.dumps(asked).encode() + b"\n"], [read_in, write_out, write_err])
    for given in (read_in, write_out, write_err):
        os.close(given)
    told = {}
    feeding = threading.Thread(target=_feed, args=(in_, (stdin or "").encode()))
    reading = [threading.Thread(target=_drain, args=(told, name, end)) for name, end in (("out", out), ("err", err))]
    for thread in (feeding, *reading):
        thread.start()
    for thread in (feeding, *reading):
        thread.join()
    code = json.loads(_line(server))
    return subprocess.CompletedProcess(["assay", *asked["arguments"]], code, told["out"], told["err"])


def _feed(end, content):
    with os.fdopen(end, "wb") as pipe:
        try:
            pipe.write(content)
            pipe.flush()
        except BrokenPipeError:  # a command that refuses its words reads nothing
            pass


def _drain(told, name, end):
    with os.fdopen(end, "rb") as pipe:
        told[name] = pipe.read().decode()


def _line(connection):
    said = b""
    while not said.endswith(b"\n"):
        more = connection.recv(1 << 16)
        if not more:
            raise EOFError("the server of commands has ended")
        said += more
    return said


@cache
def _server():
    """One of each process of tests; it ends with it, as its socket does."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "tests.forked", str(theirs.fileno())]
    root = str(Path(__file__).parents[1])
    paths = os.pathsep.join([root, *filter(None, sys.path)])
    server = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=root, env=os.environ | {"PYTHONPATH": paths})

    @atexit.register
    def end():
        ours.close()
        server.wait()

    theirs.close()
    return ours


def serve(connection):
    """Answer until the tests end; a child returns what it was asked."""
    for name in IMPORTED:
        import_module(name)
    gc.freeze()  # no child looks through all of it again
    while True:
        said, streams = b"", []
        while not said.endswith(b"\n"):
            more, given, *_ = socket.recv_fds(connection, 1 << 16, 3)
            if not more:
                return None
            said, streams = said + more, streams + given
        child = os.fork()
        if not child:
            for place, stream in enumerate(streams):
                os.dup2(stream, place)
                os.close(stream)
            connection.close()
            return json.loads(said)
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(f"{code}\n".encode())


def main():
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["cwd"])
        # those of the server hold what it was told of its own; these are made as an interpreter makes them
        sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", errors="backslashreplace", buffering=1, closefd=False)
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
        sys.argv = ["assay", *asked["arguments"]]
        from assay.__main__ import main as assay

        assay()


if __name__ == "__main__":
    main()
