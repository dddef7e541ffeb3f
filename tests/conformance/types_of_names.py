"""Read by mypy in `make lint`: a type checker sees what is behind the names that assay loads when they are used."""

from typing import assert_type

import assay
from assay.models.components.pca import PCA
from assay.study.findings import Study
from assay.summary.moments.moments import Moments


def types_are_seen(moments: Moments) -> None:
    assert_type(assay.PCA(2).fit_moments(moments), PCA)
    assert_type(assay.Moments.of([]), Moments)
    assert_type(assay.study("table.csv"), Study)
    assert_type(assay.__version__, str)


def unknown_names_are_refused() -> None:
    assay.nonsense  # type: ignore[attr-defined]  # noqa: B018
