"""Robust support vector data description."""
