"""Which links of a network can be told from the others, and which are missing."""
