"""Is there an order in which neighbouring states, and neighbouring columns, are alike?"""

from pathlib import Path

import assay

table = Path(__file__).parents[1] / "data" / "us_arrests.csv"
study = assay.study(table, only="stringing")
order = study.answers["stringing"]
for finding in order.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(order).save("stringing.png")
