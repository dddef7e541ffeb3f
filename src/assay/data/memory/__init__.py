"""Tables that are in memory already."""
