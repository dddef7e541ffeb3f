"""Columns and targets together: what regressions need."""
