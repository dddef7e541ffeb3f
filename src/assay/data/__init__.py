"""Sources, blocks, folds and files: the only package where raw input is judged."""
