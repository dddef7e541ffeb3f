"""Which doctests are collected where an extra is missing (in CI none is), and which tests share a process."""

import os
from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("jax") or "ASSAY_VAE" in os.environ else ["src/assay/models/embedding/vae/vae.py"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of clusters run in one process, so that each cluster is started once; all others wherever there is room.

    The marks of `--dist loadgroup` would say it, but xdist 3.8 writes them where pytest from 9.2 on does not look.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneProcessForClusters(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "clusters" if nodeid.startswith("tests/engines/") else nodeid

    return OneProcessForClusters(config, log)
