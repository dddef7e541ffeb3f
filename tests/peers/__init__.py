"""scikit-learn's own tests, run against assay's models.

    python -m tests.peers                 all of them, a table at the end (some minutes)
    python -m tests.peers pca ridge       those whose module has one of these in its name
    python -m tests.peers ridge --show    with what did not pass, and why

Each test module of the installed scikit-learn is imported with adapters in the place of its estimators (`adapters.py`):
scikit-learn's arguments are translated to assay's (`table.py`, `translated.py`), what assay has no word for ends the
test as *missing*. A test counts only if it made an adapter. What fails is *deliberate* if `differences.py` says why,
else a *defect*, and so is what takes over 20 s of CPU time. Another text of an error or a warning lets the test go on;
if it passes otherwise, it is deliberate.
"""
