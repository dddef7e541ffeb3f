"""The questions a study asks, one folder each: its test, its words, its views, and one Question object.

Nothing outside a folder knows it by name; `assay.asking.found` finds them. No question imports another.
"""
