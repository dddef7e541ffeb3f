"""The sample studies are importable by name in this folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
