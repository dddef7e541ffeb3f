"""The perceptron."""
