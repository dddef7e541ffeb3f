"""How rows depend on each other: what may be exchanged, split and counted."""

from assay.evidence.design.design import Design, Independent
from assay.evidence.design.grouped import Grouped
from assay.evidence.design.placed import Placed, correlogram
from assay.evidence.design.runs import Runs, within_parts
from assay.evidence.design.serial import Serial

__all__ = ["Design", "Grouped", "Independent", "Placed", "Runs", "Serial", "correlogram", "within_parts"]
