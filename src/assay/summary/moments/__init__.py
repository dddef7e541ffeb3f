"""Counts, means and scatter that add up."""
