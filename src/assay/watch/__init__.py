"""Streams: running summaries, rows that do not belong, drift; state that is saved and goes on to the bit."""
