"""What differs between penguins of two islands, and between random halves of one?"""

from pathlib import Path

import pandas as pd

import assay

penguins = pd.read_csv(Path(__file__).parents[1] / "data" / "penguins.csv").drop(columns=["species", "sex"]).dropna()
islands = {island: rows.drop(columns="island") for island, rows in penguins.groupby("island")}
comparison = assay.compare(islands["Biscoe"], islands["Dream"])
for finding in comparison.differences:
    print(f"{finding.evidence.verdict}: {finding.sentence}")

shuffled = islands["Biscoe"].sample(frac=1, random_state=0)
print("Two random halves of Biscoe differ:", assay.compare(shuffled[::2], shuffled[1::2]).differs)

both = penguins[penguins.island.isin(["Biscoe", "Dream"])]
measures = both.drop(columns="island")
picture = assay.PCA(2, scale=True).fit(measures).plot(measures, both.island)
picture.figures["The same rows by group"].save("comparison.svg")
