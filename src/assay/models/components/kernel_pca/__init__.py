"""Kernel PCA."""
