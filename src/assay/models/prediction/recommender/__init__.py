"""Matrix factorisation of sparse ratings."""
