"""Frozen values that stand for the data: Moments, Gram and Graph."""
