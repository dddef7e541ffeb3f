"""Run scikit-learn's tests of what assay has too; see the package."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.peers.table import MODULES

ROOT = Path(__file__).parents[2]
KINDS = ("pass", "deliberate", "missing", "defect")


def main() -> int:
    """Print how many tests of each module pass, differ, miss something or fail; exit 1 if any fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("modules", nargs="*", help="only modules with one of these in their names")
    parser.add_argument("--show", action="store_true", help="print what did not pass, and why")
    parser.add_argument("--trace", action="store_true", help="print the tracebacks")
    parser.add_argument("-k", default="", help="handed to pytest")
    asked = parser.parse_args()
    modules = [name for name in MODULES if not asked.modules or any(part in name for part in asked.modules)]
    total: Counter[str] = Counter()
    print(f"{'scikit-learn tests':58}" + "".join(f"{kind:>12}" for kind in KINDS))
    for module in modules:
        lines = run(module, asked.k, asked.trace)
        counts = Counter(line["kind"] for line in lines)
        total += counts
        print(f"{module:58}" + "".join(f"{counts[kind]:12}" for kind in KINDS), flush=True)
        if asked.show:
            alike = Counter((line["kind"], line["test"].split("[")[0], line["why"]) for line in lines)
            for (kind, test, why), times in sorted(alike.items()):
                if kind != "pass":
                    print(f"  {kind:10} {times:4} {test}: {why}", flush=True)
    print(f"{'all':58}" + "".join(f"{total[kind]:12}" for kind in KINDS))
    return 1 if total["defect"] else 0


def run(module: str, only: str = "", trace: bool = False) -> list[dict[str, str]]:
    """What became of each test of one module, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.jsonl"
        record.touch()
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "tests.peers.plugin",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
        ]
        command += ["--rootdir", folder, "--pyargs", module, "-W", "ignore", *(["-k", only] if only else [])]
        paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        env = {
            **os.environ,
            "ASSAY_PEERS_RECORD": str(record),
            "PYTHONPATH": paths,
            "SKLEARN_TESTS_GLOBAL_RANDOM_SEED": "42",
        }
        ended = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    if trace:
        print(ended.stdout)
    if ended.returncode not in (0, 1):
        print(ended.stdout[-3000:], ended.stderr[-3000:], file=sys.stderr)
        raise SystemExit(f"{module} could not be run")
    return lines


if __name__ == "__main__":
    sys.exit(main())
