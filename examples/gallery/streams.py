"""Does a stream of customers go on as usual, when restaurants become shops?"""

from pathlib import Path

import pandas as pd

import assay

customers = pd.read_csv(Path(__file__).parents[1] / "data" / "wholesale_customers.csv").drop(columns="Region")
restaurants, shops = (customers[customers.Channel == channel].drop(columns="Channel") for channel in (1, 2))

watch = assay.Watch(reference=restaurants.sample(1000, replace=True, random_state=0), every=100)
usual = watch.update(restaurants.sample(500, replace=True, random_state=1))
print("Alerts in 500 more restaurants:", [alert.kind for alert in usual])
for alert in watch.update(shops.sample(300, replace=True, random_state=2)):
    print(f"{alert.verdict}, row {alert.row}: {alert.message}")
assay.plot(watch.moments).save("streams.svg")
