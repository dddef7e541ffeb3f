"""Networks as users have them, and random ones with the same degrees."""
