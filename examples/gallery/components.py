"""How many directions of the wholesale customers are real?"""

from pathlib import Path

import assay

table = Path(__file__).parents[1] / "data" / "wholesale_customers.csv"
study = assay.study(table, only="components")
components = study.answers["components"]
for finding in components.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(components).figures["Components against chance"].save("components.svg")
