"""Checks and generators of the repository itself, run by `make lint`, `make stub` and `make docs`."""
