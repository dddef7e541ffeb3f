"""k-means: the model, its passes over sources, and the choice of k."""
