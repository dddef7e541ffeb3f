"""Runs an attack in a process of its own, with little memory and time: a crash of it is seen, and harms nobody."""

import os
import subprocess
import sys
import textwrap

_LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
from assay.errors import AssayError
def refused(attack):
    try:
        attack()
    except AssayError as error:
        print(type(error).__name__ + ":", error)
    else:
        print("accepted")
"""


def attacked(script, *arguments, memory=4 << 30, seconds=60):
    """What a script printed, line by line; it fails where the process was killed or an error left it.

    Args:
        script: Python, with a function `refused(attack)` that prints on purpose what an attack was told.
        arguments: to `sys.argv`.
        memory: bytes of address space.
        seconds: of time.
    """
    whole = _LIMITED.format(memory=memory) + textwrap.dedent(script)
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", whole, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=seconds,
        env=alone,
        check=False,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.splitlines()
