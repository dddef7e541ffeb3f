"""Diffusion maps."""
