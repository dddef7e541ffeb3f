"""Isomap."""
