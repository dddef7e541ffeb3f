"""Naive Bayes: the model, the laws of its columns, and the choice of laws."""
