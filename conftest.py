"""Doctests of what needs an extra are collected where it is installed; in CI it has to be."""

import os
from importlib.util import find_spec

collect_ignore = [] if find_spec("jax") or "ASSAY_VAE" in os.environ else ["src/assay/models/embedding/vae/vae.py"]
