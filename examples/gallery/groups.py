"""Do 344 penguins fall into groups, if nobody says of which species they are?"""

from pathlib import Path

import assay

table = Path(__file__).parents[1] / "data" / "penguins.csv"
study = assay.study(table, only="groups", drop=["species", "island", "sex"])
groups = study.answers["groups"]
for finding in groups.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(groups).save("groups.svg")
