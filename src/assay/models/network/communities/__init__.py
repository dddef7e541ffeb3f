"""Communities of a network by modularity."""
