"""Summaries that sites share in place of rows, with noise or without."""
