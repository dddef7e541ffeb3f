"""Descent of layouts of points."""
