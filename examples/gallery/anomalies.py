"""Which of 68 chinstrap penguins do not belong?"""

from pathlib import Path

import pandas as pd

import assay

penguins = pd.read_csv(Path(__file__).parents[1] / "data" / "penguins.csv")
chinstraps = penguins[penguins.species == "Chinstrap"].drop(columns=["species", "island", "sex"]).reset_index(drop=True)
print("As measured:")
for finding in assay.study(chinstraps, only="anomalies").answers["anomalies"].findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")

# three rows as a slip of the pen would leave them: bill length and bill depth exchanged
slips = chinstraps.copy()
slips.loc[[4, 30, 55], ["bill_length_mm", "bill_depth_mm"]] = slips.loc[
    [4, 30, 55], ["bill_depth_mm", "bill_length_mm"]
].to_numpy()
found = assay.study(slips, only="anomalies").answers["anomalies"]
print("\nWith columns exchanged in rows 5, 31 and 56:")
for finding in found.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(found).figures["How far out the rows lie"].save("anomalies.svg")
