"""Which doctests are collected where an extra is missing (in CI none is), and how tests are shared among processes."""

import gc
import os
from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("jax") or "ASSAY_VAE" in os.environ else ["src/assay/models/embedding/vae/vae.py"]

# What takes longest begins first, so that no process is left with a long file while the others have ended; the first
# two share hardly a compiled loop. Files of a second or two are left for the end.
LONGEST = (
    "tests/engines/", "tests/study/", "tests/conformance/test_settings.py", "tests/questions/", "tests/fuzz/",
    "tests/calibrate/", "tests/docs/", "tests/conformance/", "tests/watch/", "tests/browser/",
    "tests/data/", "tests/models/",
)  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """A million objects are made here to stay: none of them is garbage to look for, now or while the tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config, items):
    """The longest files first, in the processes of `-n`; alone, a run keeps the order of the folders."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: _place(item.nodeid))


def _place(nodeid):
    return next((i for i, start in enumerate(LONGEST) if nodeid.startswith(start)), len(LONGEST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file runs in one process, so that its fixtures are made once and its loops compiled once; so do all clusters.

    The marks of `--dist loadgroup` would say it, but xdist 3.8 writes them where pytest from 9.2 on does not look.
    """
    from xdist.scheduler import LoadScopeScheduling

    class WholeFiles(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "clusters" if nodeid.startswith("tests/engines/") else nodeid.partition("::")[0]

    config.option.loadscopereorder = False  # the order above, not by the number of tests
    return WholeFiles(config, log)
