"""Dendrograms."""
