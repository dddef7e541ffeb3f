"""Sparse matrices: their structure, and their rows about the mean."""
