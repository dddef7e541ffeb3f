"""Do users differ in their tastes, beyond how high they rate and how much an item is liked?"""

import numpy as np
import pandas as pd

import assay

# 120 users, 40 items, 20 ratings each, drawn with one taste that divides users and items
rng = np.random.default_rng(0)
user, item = (each.ravel() for each in np.meshgrid(np.arange(120), np.arange(40), indexing="ij"))
taste, quality = rng.standard_normal(120), rng.standard_normal(40)
level, liked = rng.normal(0, 0.4, 120), rng.normal(0, 0.5, 40)
rating = 3.2 + level[user] + liked[item] + 0.6 * taste[user] * quality[item] + rng.normal(0, 0.7, len(user))
ratings = pd.DataFrame({"user": user, "item": item, "rating": np.clip(np.round(rating), 1, 5)})
ratings = ratings.sample(2400, random_state=0)

tastes = assay.study(ratings, only="tastes").answers["tastes"]
for finding in tastes.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(tastes).figures["Errors on ratings that were held out"].save("tastes.svg")
