"""Figures and tables as HTML and files."""
