"""Which measures of 344 penguins go together, whatever the shape?"""

from pathlib import Path

import assay

table = Path(__file__).parents[1] / "data" / "penguins.csv"
study = assay.study(table, only="correlations")
pairs = study.answers["correlations"]
for finding in pairs.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(pairs).figures["The columns that go together"].save("correlations.svg")
