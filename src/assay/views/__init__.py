"""Numbers to figures: arrays and names in, Bokeh figures out; the only room that knows the plotting library.

Importing a module of this room imports Bokeh (about half a second), so importing the room alone does not.
"""
