"""Map-reduce over blocks."""
