"""Sparse graphs of rows: neighbours, Laplacians, paths, cuts, trees."""
