"""The elastic net."""
