"""Filling in missing values: the model, and the choice of its ridges."""
