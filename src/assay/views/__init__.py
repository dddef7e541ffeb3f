"""Numbers to figures: arrays and names in, Bokeh figures out; the only package that knows the plotting library.

Importing a module of this package imports Bokeh (about half a second), so importing the package alone does not.
"""
