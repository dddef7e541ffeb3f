from assay import __version__

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
