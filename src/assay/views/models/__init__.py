"""How a fitted model is drawn: one small function for each kind, named in `models.registry`."""
