"""How a named result is drawn: one small function for each, named in `views.plot`."""
