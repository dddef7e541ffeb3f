"""Run all benchmarks, or those named."""

import importlib
import sys
from pathlib import Path

from benchmarks.harness import keep, show

HERE = Path(__file__).parent
names = sys.argv[1:] or sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("_") and p.stem != "harness")
for name in names:
    rows = importlib.import_module(f"benchmarks.{name}").run()
    keep(name, rows)
    show(rows)
