"""Metric and non-metric multidimensional scaling."""
