"""Damaged files of every format, read in children with limits: each gives rows or one sentence, never anything else.

`python -m tests.fuzz --minutes 10` tries all formats in turn, `--format xlsx` one of them, `--seed 17` one case again.
"""
