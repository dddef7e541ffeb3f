"""Support vector data description."""
