"""`python -m assay` is `assay`."""

import sys


def main() -> None:
    """Run the command line; an interrupt or a lack of memory while it is loaded is one line, too."""
    try:
        from assay.cli import main as run

        run()
    except KeyboardInterrupt:
        _end("stopped; nothing was written", 130)
    except MemoryError:
        _end("there is not enough memory to begin, and nothing was written: free some", 3)


def _end(words: str, code: int) -> None:
    print(f"assay: {words}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
