"""Benchmarks: assay and its peers on the same data in one run. `python -m benchmarks [name ...]`."""
