"""Environments of Gymnasium: their tables of transitions, and learning by trying."""
