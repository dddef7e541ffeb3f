"""Support vector regression."""
