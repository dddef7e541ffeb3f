"""Can the mass of a penguin be predicted from what else is known of it?"""

from pathlib import Path

import assay

table = Path(__file__).parents[1] / "data" / "penguins.csv"
study = assay.study(table, target="body_mass_g", only="prediction")
prediction = study.answers["prediction"]
for finding in prediction.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(prediction).figures["body_mass_g: predicted and true"].save("prediction.svg")
