"""Try damaged files until the time is over, and keep those that did harm."""

import argparse
import json
import multiprocessing as mp
import queue
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.cases import files_of, outcome, worked, write
from tests.fuzz.reading import prepare
from tests.fuzz.samples import MAKERS, samples


def main() -> int:
    """Run the command; 1 where something was wrong."""
    said = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    said.add_argument("--minutes", type=float, default=10.0)
    said.add_argument("--format", action="append", choices=[*MAKERS], help="several times for several; all by default")
    said.add_argument("--seed", type=int, help="this one only")
    said.add_argument("--first", type=int, default=0, help="the first seed")
    said.add_argument("--cases", type=int, default=10**9, help="so many seeds of each format at most")
    said.add_argument("--workers", type=int, default=2)
    said.add_argument("--keep", type=Path, default=Path("fuzz-found"), help="folder for files that did harm")
    how = said.parse_args()
    forms = how.format or [*MAKERS]
    return _many(forms, how) if how.seed is None else _once(forms[0], how.seed, how.keep)


def _once(form: str, seed: int, keep: Path) -> int:
    prepare()
    found = outcome(form, seed)
    write(files_of(form, seed), keep / f"{form}-{seed}")
    print(found.pop("trace", ""))
    print(f"{form} {seed}: {found}; its files are in {keep / f'{form}-{seed}'}")
    return int("wrong" in found)


def _many(forms: list[str], how: argparse.Namespace) -> int:
    context = mp.get_context("spawn")
    results: Any = context.Queue()
    made, end = samples(forms), how.first + how.cases
    workers = [
        context.Process(target=worked, args=(made, range(how.first + i, end, how.workers), 60 * how.minutes, results))
        for i in range(how.workers)
    ]
    for worker in workers:
        worker.start()
    counts: Counter[tuple[str, str]] = Counter()
    wrong: dict[str, tuple[str, int, dict[str, Any]]] = {}
    slowest = ("", 0, 0.0)
    for form, seed, found in _results(results, workers):
        sort = "wrong" if "wrong" in found else "rows" if "rows" in found else "refused"
        counts[form, sort] += 1
        slowest = max(slowest, (form, seed, found.get("seconds", 0.0)), key=lambda each: each[2])
        if sort == "wrong":
            key = f"{form}: {_alike(found)}"
            if key not in wrong:
                wrong[key] = form, seed, found
                write(files_of(form, seed), how.keep / f"{form}-{seed}")
                print(f"wrong: {form} {seed}: {found['wrong'][:300]} {found.get('where', '')}", flush=True)
    for worker in workers:
        worker.join()
    print(f"{'format':<10}{'rows':>8}{'refused':>9}{'wrong':>7}")
    for form in forms:
        print(f"{form:<10}{counts[form, 'rows']:>8}{counts[form, 'refused']:>9}{counts[form, 'wrong']:>7}")
    print(f"{sum(counts.values()):,} files; the slowest was {slowest[0]} {slowest[1]} with {slowest[2]:.1f} s")
    if wrong:
        (how.keep / "found.json").write_text(json.dumps([wrong[key] for key in sorted(wrong)], indent=1))
        print(f"{len(wrong)} sorts of harm, told in {how.keep / 'found.json'}; --format F --seed N repeats one")
    return int(bool(wrong))


def _results(results: Any, workers: list[Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    running = len(workers)
    while running:
        try:
            got = results.get(timeout=5)
        except queue.Empty:
            if not any(worker.is_alive() for worker in workers):
                sys.exit("the fuzzer itself broke")
            continue
        if got is None:
            running -= 1
        else:
            yield got


def _alike(found: dict[str, Any]) -> str:
    """What two cases of one fault have in common."""
    return re.sub(r"0x[0-9a-f]+|\d+|'[^']*'|\"[^\"]*\"", "#", found["wrong"])[:60] + found.get("where", "")


if __name__ == "__main__":
    sys.exit(main())
