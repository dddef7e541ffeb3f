"""Least squares and ridge, with certificates."""
