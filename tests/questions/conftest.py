"""The sample studies of the report, and its page as tests read it, are importable by name."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "report"))
