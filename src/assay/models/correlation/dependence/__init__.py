"""Dependence of all pairs of columns."""
