"""How rows depend on each other, asked first."""
