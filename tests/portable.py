"""The tests of numbers again, on the code paths of other processors.

BLAS, NumPy and Numba choose their code by the processor: sums come in another order, products are fused or not, and
results differ in the last digits. A bound that is only just above what one processor gives fails on the next. Every
x86 machine can take the paths of the older ones, by settings that its libraries read when they start:

    OPENBLAS_CORETYPE          kernels of OpenBLAS, which NumPy and SciPy bring along
    NPY_DISABLE_CPU_FEATURES   vector loops of NumPy that are left out
    NUMBA_CPU_NAME             processor that Numba compiles for
    OPENBLAS_NUM_THREADS       threads of one product, which cut its sums

    python tests/portable.py                all paths that this machine can take
    python tests/portable.py --list         what they are
    python tests/portable.py oldest --fast  one of them, without the slow tests
    python tests/portable.py --pick TEXT    one of them, chosen by a text such as a commit
    python tests/portable.py oldest -- tests/linalg -x   what follows -- is handed to pytest
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
NUMBERS = ("linalg", "optimize", "summary", "models", "evidence", "questions")
X86 = {"x86_64", "amd64", "i386", "i686"}
SETTINGS = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "NUMBA_CPU_NAME", "OPENBLAS_NUM_THREADS")

# names that NumPy gives to what a processor can do, and whether this one can
ASK_NUMPY = """
import json
from numpy._core import _multiarray_umath as core
here = [name for name, there in core.__cpu_features__.items() if there]
print(json.dumps({"dispatched": list(core.__cpu_dispatch__), "here": here}))
"""


@dataclass(frozen=True)
class Route:
    """One way through the libraries.

    Attributes:
        name: what it is called on the command line.
        core: kernels of OpenBLAS; None for those that it chooses itself.
        needs: features of the processor without which these kernels cannot run.
        loops: which loops of NumPy are left in: "baseline", "AVX2" (at most) or "all".
        generic: whether Numba compiles for any processor of the kind, without vectors of this one.
        threads: of one product.
    """

    name: str
    core: str | None
    needs: tuple[str, ...]
    loops: str
    generic: bool
    threads: int


PATHS = (
    Route("oldest", "Prescott", (), "baseline", True, 1),
    Route("oldest-two-threads", "Prescott", (), "baseline", True, 2),
    Route("sandybridge", "Sandybridge", ("AVX",), "baseline", False, 1),
    Route("haswell", "Haswell", ("AVX2", "FMA3"), "AVX2", False, 1),
    Route("haswell-two-threads", "Haswell", ("AVX2", "FMA3"), "AVX2", True, 2),
    Route("baseline", None, (), "baseline", True, 1),
    Route("two-threads", None, (), "all", False, 2),
)


@dataclass(frozen=True)
class Machine:
    """What this machine can do.

    Attributes:
        kind: of processor, as Python names it.
        dispatched: the vector loops that this NumPy has beside its baseline.
        here: features that the processor has, by NumPy's names.
        cores: how many there are.
    """

    kind: str
    dispatched: tuple[str, ...]
    here: frozenset[str]
    cores: int

    @classmethod
    def this(cls) -> Machine:
        """Asked of NumPy in a process of its own, without the settings that this one may have been started with."""
        plain = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        told = json.loads(subprocess.check_output([sys.executable, "-c", ASK_NUMPY], env=plain))
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return cls(platform.machine(), tuple(told["dispatched"]), frozenset(told["here"]), cores)

    def can_take(self, path: Route) -> bool:
        """Whether the kernels asked for run here: OpenBLAS itself does not look, and would crash."""
        return path.core is None or (self.kind.lower() in X86 and self.here.issuperset(path.needs))

    def settings(self, path: Route) -> dict[str, str]:
        """The environment of a path. Only loops that would run here are named: NumPy warns of others."""
        loops = [name for name in self.dispatched if name in self.here]
        if path.loops != "baseline":
            loops = [name for name in loops if path.loops == "AVX2" and name.startswith(("AVX512", "X86_V4"))]
        given = {
            "OPENBLAS_CORETYPE": path.core or "",
            "NPY_DISABLE_CPU_FEATURES": ",".join(loops),
            "NUMBA_CPU_NAME": "generic" if path.generic else "",
            "OPENBLAS_NUM_THREADS": str(path.threads),
        }
        return {name: value for name, value in given.items() if value}


def picked(paths: Sequence[Route], text: str) -> Route:
    """One of the paths, the same for the same text.

    >>> picked(PATHS, "a commit") == picked(PATHS, "a commit")
    True
    """
    return paths[int(hashlib.sha256(text.encode()).hexdigest(), 16) % len(paths)]


def shown(path: Route, settings: Mapping[str, str]) -> str:
    """A path as the shell would have it."""
    return f"{path.name}: " + " ".join(f"{name}={value}" for name, value in settings.items())


def run(machine: Machine, path: Route, more: Sequence[str]) -> bool:
    """Whether the tests pass on a path."""
    settings = machine.settings(path)
    # threads of scikit-learn's trees in as many workers as cores would only wait for each other
    plain = {name: value for name, value in os.environ.items() if name not in SETTINGS} | {"OMP_NUM_THREADS": "1"}
    # as many workers as cores with two threads too: few products are so large that the second thread is used
    workers = min(machine.cores, 8)
    command = [sys.executable, "-m", "pytest", "-q", *(["-n", str(workers)] if workers > 1 else []), *more]
    return subprocess.run(command, cwd=HERE.parent, env=plain | settings, check=False).returncode == 0


def main(words: Sequence[str]) -> int:
    """Run what the command line asks for; 1 if a path fails."""
    words, more = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    machine = Machine.this()
    paths = [path for path in PATHS if machine.can_take(path)]
    parser = argparse.ArgumentParser(description="The tests of numbers on the code paths of other processors.")
    parser.add_argument("names", nargs="*", metavar="path", help=f"of {', '.join(path.name for path in paths)}")
    parser.add_argument("--fast", action="store_true", help="leave out the tests marked slow")
    parser.add_argument("--pick", metavar="TEXT", help="one path, chosen by this text, such as a commit")
    parser.add_argument("--list", action="store_true", help="say what the paths are, and run nothing")
    asked = parser.parse_args(words)
    if unknown := set(asked.names) - {path.name for path in paths}:
        parser.error(f"this machine ({machine.kind}) has no path {', '.join(sorted(unknown))}")
    if left := [path.name for path in PATHS if path not in paths]:
        print(f"left out, since this processor ({machine.kind}) cannot take them: {', '.join(left)}", flush=True)
    if asked.names:
        paths = [path for path in paths if path.name in asked.names]
    if asked.pick is not None:
        paths = [picked(paths, asked.pick)]
    if asked.list:
        print("\n".join(shown(path, machine.settings(path)) for path in paths))
        return 0
    more = [*more, "-m", "not slow and not calibrate" if asked.fast else "not calibrate"]
    if not any((HERE.parent / word.split("::")[0]).exists() for word in more):
        more = [*more, *(str(HERE / room) for room in NUMBERS if (HERE / room).is_dir())]
    failed = []
    for i, path in enumerate(paths, start=1):
        print(f"path {i} of {len(paths)}, {shown(path, machine.settings(path))}", flush=True)
        begun = time.monotonic()
        if not run(machine, path, more):
            failed.append(path.name)
        print(f"path {path.name} {'failed' if path.name in failed else 'passed'} in {time.monotonic() - begun:.0f} s")
    if failed:
        print(f"failed on {', '.join(failed)}; to repeat: python tests/portable.py {' '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
