"""What figures share: theme, ticks, names, checked numbers."""
