"""Files of other formats, and which file is what."""
