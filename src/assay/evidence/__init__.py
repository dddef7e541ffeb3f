"""Evidence against chance: held-out value, null distribution, multiplicity, verdict."""

from assay.evidence.evidence import Evidence, Null, Verdict, verdict_of

__all__ = ["Evidence", "Null", "Verdict", "verdict_of"]
