"""Latent semantic indexing."""
