"""Folders of images, texts and sounds: one row a file."""
