"""Networks seen: nodes on a ring with their links, as curves or straight, and links as an ordered matrix."""
