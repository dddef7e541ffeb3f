"""Settings for the whole suite."""

from pathlib import Path

import pytest
from hypothesis import settings

# the same examples on every run: a red suite is red for everybody
settings.register_profile("assay", deadline=None, max_examples=60, derandomize=True, database=None)
settings.load_profile("assay")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def wholesale() -> Path:
    return ROOT / "examples" / "data" / "wholesale_customers.csv"
