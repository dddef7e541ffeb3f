"""Groups of rows and how many there are."""
