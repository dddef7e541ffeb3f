"""PageRank, and what of its order holds."""
