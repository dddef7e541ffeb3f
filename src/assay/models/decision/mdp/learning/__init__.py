"""Decision processes learned from trials: the trials, their counts, and what draws of them say."""
