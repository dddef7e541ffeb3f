"""What tells the two channels of customers apart, if only a summary may leave the house?"""

from pathlib import Path

import numpy as np
import pandas as pd

import assay

table = Path(__file__).parents[1] / "data" / "wholesale_customers.csv"
summary = assay.summarize(table, by="Channel", drop=["Region"])  # means and covariances of each channel, no rows
study = assay.study(summary, only="known_groups")
for finding in study.answers["known_groups"].findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")

customers = pd.read_csv(table)
logs = np.log1p(customers.drop(columns=["Channel", "Region"]))
channels = assay.GroupedMoments.of(logs, customers.Channel)
assay.plot(assay.Fisher().fit_moments(channels)).save("known_groups.svg")
