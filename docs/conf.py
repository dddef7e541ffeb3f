import sys
from pathlib import Path

from assay import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE / "_ext"))
from tools.commands import commands  # noqa: E402
from tools.public import reference  # noqa: E402

# every public name and every command; written only where it changed, so that Sphinx keeps what it has built
for name, text in (("reference.md", reference()), ("command-line.md", commands())):
    page = HERE / name
    if not page.exists() or page.read_text() != text:
        page.write_text(text)

project = "assay"
author = "The assay founders"
copyright = "2026, The assay founders"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "gallery", "notebooks"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_ext", "gallery/_made"]
html_static_path = ["_static"]
html_css_files = ["gallery.css"]
html_theme = "furo"
html_title = "assay"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# shapes such as (n, d) in the types of attributes are no links, though several classes have a property d
suppress_warnings = ["ref.python"]
