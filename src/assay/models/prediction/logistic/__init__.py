"""Logistic regression: the model, its passes over rows, its coordinates and its solvers."""
