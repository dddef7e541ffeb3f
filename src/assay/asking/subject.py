"""Data that are no table of rows, as questions are asked of them: a network, ratings, trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from assay.asking.card import DataCard

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class Subject(Generic[Value]):
    """What questions are asked of where the data are no table.

    Attributes:
        form: of the data, such as "network"; questions of this form are asked.
        card: what was read and used; its `facts` say how much there is.
        value: the data themselves, such as a `Graph`.
    """

    form: str
    card: DataCard
    value: Value
