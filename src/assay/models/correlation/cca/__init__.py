"""Canonical correlation."""
