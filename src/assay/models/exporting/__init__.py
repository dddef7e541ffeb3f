"""Fitted models for other programs: the ONNX format."""
