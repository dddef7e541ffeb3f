"""How often verdicts are wrong, structure is found and intervals hold: `python -m calibrate`, or `make calibrate`."""
