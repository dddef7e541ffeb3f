"""Canonical correlation with lags."""
