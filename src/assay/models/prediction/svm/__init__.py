"""Support vector machine: the model, its pairs of classes, its probabilities and its path over C."""
