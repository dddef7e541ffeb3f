"""Rows as points."""
