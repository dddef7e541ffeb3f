"""k-means: seeding, a pass over the rows, and Lloyd's iteration until the centres rest."""
