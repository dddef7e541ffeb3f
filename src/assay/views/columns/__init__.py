"""Columns, alone and in pairs."""
