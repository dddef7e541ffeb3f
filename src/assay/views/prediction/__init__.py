"""Predictions beside the truth."""
