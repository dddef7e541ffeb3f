"""Sources, blocks, folds and files: the only room where raw input is judged."""
