"""Which values are missing, and does that go with anything?"""

from pathlib import Path

import pandas as pd

import assay

data = Path(__file__).parents[1] / "data"
air = assay.study(data / "air_quality.csv", only="missing")
print("Air of New York, 1973, as measured:")
for finding in air.answers["missing"].findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")

# where it is known why values are missing: every second large customer tells only a part
customers = pd.read_csv(data / "wholesale_customers.csv")
silent = (customers.Grocery > 12_000) & (customers.index % 2 == 0)
customers.loc[silent, "Delicassen"] = None
customers.loc[silent & (customers.index % 4 == 0), "Frozen"] = None
gaps = assay.study(customers, only="missing").answers["missing"]
print("\nCustomers, every second large one with a gap:")
for finding in gaps.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(gaps).save("missing.svg")
