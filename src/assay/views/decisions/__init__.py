"""Decision processes and their policies."""
