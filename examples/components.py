"""How many components of the wholesale customers are real? Run: python examples/components.py."""

from pathlib import Path

import assay

found = assay.study(Path(__file__).parent / "data" / "wholesale_customers.csv", drop=["Channel", "Region"])
for finding in found.findings:
    print(f"[{finding.evidence.verdict}] {finding.sentence}")
print(f"{found.ledger.looks} looks were taken.")
