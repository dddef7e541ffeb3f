"""Newton steps for linear machines on tall data."""
