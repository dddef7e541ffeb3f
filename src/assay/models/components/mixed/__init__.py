"""Axes of categories and of mixed columns."""
