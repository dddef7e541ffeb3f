"""SNE, symmetric SNE and t-SNE."""
