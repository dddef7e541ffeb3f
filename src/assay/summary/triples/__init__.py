"""Matrices as (i, j, value) triples, larger than memory, and what their products give."""
