"""Measure how far verdicts and intervals can be trusted, and write docs/theory/calibration.md."""

from __future__ import annotations

import argparse
import json

from calibrate.page import BEFORE, write
from calibrate.run import jobs, run
from calibrate.summary import summary


def main() -> None:
    """Read the command line, run, write."""
    parser = argparse.ArgumentParser(prog="python -m calibrate", description=__doc__)
    parser.add_argument("--minutes", type=float, help="begin no table after so many")
    parser.add_argument(
        "--only", default="", metavar="FAMILY", help="only those with this in their name; writes no page"
    )
    parser.add_argument("--tables", type=int, metavar="N", help="of the usual family, not 27; others in proportion")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--keep-as-before", metavar="VERSION", help="write calibrate/before.json in place of the page")
    told = parser.parse_args()
    found = summary(run(jobs(told.tables, told.only), minutes=told.minutes, workers=told.workers))
    if told.keep_as_before:
        BEFORE.write_text(json.dumps({"version": told.keep_as_before} | found, indent=1) + "\n")
    elif told.only:
        print(json.dumps(found, indent=1))
    else:
        write(found)


if __name__ == "__main__":
    main()
