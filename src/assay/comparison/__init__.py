"""Two data sets compared: what differs between them beyond chance."""
