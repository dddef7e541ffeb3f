"""Data that are no table of rows: how each form is told from a table, and read.

A form is a file here with a `FORM`; no other file is edited. Questions say which form they are asked of.
"""
