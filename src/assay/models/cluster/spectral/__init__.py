"""Spectral clustering: the model, the parts a graph falls into, and the rounding of its modes to groups."""
