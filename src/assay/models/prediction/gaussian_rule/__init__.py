"""The Gaussian maximum likelihood rule."""
