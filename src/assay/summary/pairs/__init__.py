"""All pairs of columns at once."""
