"""Counts and moments of classes."""
