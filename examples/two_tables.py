"""What differs between two tables: customers of two channels, and random halves of one of them."""

from pathlib import Path

import numpy as np
import pyarrow.csv as csv

import assay

customers = csv.read_csv(Path(__file__).parent / "data" / "wholesale_customers.csv")
channel = customers["Channel"].to_numpy()
columns = customers.drop_columns("Channel")
restaurants, retail = (columns.filter(channel == which) for which in (1, 2))

for finding in assay.compare(restaurants, retail).differences:
    print(finding.sentence)

rng, differ = np.random.default_rng(0), 0
for _ in range(10):
    order = rng.permutation(restaurants.num_rows)
    differ += assay.compare(restaurants.take(order[::2]), restaurants.take(order[1::2])).differs
print(f"Said to differ, of 10 pairs of random halves of the restaurants: {differ}. In the long run at most 5% are.")
