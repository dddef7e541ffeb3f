"""Canonical pairs of two sets of columns, on the rows given and on others."""
