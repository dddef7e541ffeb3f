"""Kernels and their values between rows."""
