"""Metrics, distances and nearest rows."""
