"""The multivariate normal: its estimates, robust ones too, and its conditionals."""
