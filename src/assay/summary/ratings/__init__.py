"""Who rated what."""
