import sys
from pathlib import Path

from assay import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from tools.public import reference  # noqa: E402

# every public name with what it returns; written only where it changed, so that Sphinx keeps what it has built
REFERENCE = HERE / "reference.md"
if not REFERENCE.exists() or REFERENCE.read_text() != reference():
    REFERENCE.write_text(reference())

project = "assay"
author = "The assay founders"
copyright = "2026, The assay founders"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "assay"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# shapes such as (n, d) in the types of attributes are no links, though several classes have a property d
suppress_warnings = ["ref.python"]
