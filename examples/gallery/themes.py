"""Do 1,200 text messages share themes beyond chance?"""

from pathlib import Path

import assay

table = Path(__file__).parents[1] / "data" / "messages.csv"
study = assay.study(table, only="themes")
themes = study.answers["themes"]
for finding in themes.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(themes).save("themes.svg")
