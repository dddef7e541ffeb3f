"""Eigenvalues and singular values, whole or the leading ones, and what is read from them."""
