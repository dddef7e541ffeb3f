"""Moments of rows with gaps."""
