"""Three sites may share summaries but not rows: the components of all, from three files without a row in them.

Run: python examples/three_sites.py
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow.csv

import assay

folder = Path(tempfile.mkdtemp())
everybody = pyarrow.csv.read_csv(Path(__file__).parent / "data" / "wholesale_customers.csv")
site_of = np.random.default_rng(0).integers(0, 3, len(everybody))

# the first site decides how columns become numbers, and sends that to the others
own = [everybody.filter(site_of == i) for i in range(3)]
first = assay.read(own[0], sensitive=["Delicassen"])
assay.encode(first, drop=["Channel", "Region"]).encoding.save(folder / "encoding.assay")

# each site summarises its rows; the column that must not leave is not even read
for i, rows in enumerate(own):
    source = assay.read(rows, sensitive=["Delicassen"])
    encoded = assay.encode(source, assay.load(folder / "encoding.assay"))
    assay.Moments.of(encoded).save(folder / f"site{i}.assay")

# whoever may see the summaries adds them up: the same numbers as from all rows together
together = sum(assay.load(folder / f"site{i}.assay") for i in range(3))
pca = assay.PCA("real", standardise=True).fit_moments(together)
print(f"{together.count} rows of three sites, {pca.n_components_} real components:")
for axis, share in zip(pca.components_, pca.explained_variance_ratio_, strict=True):
    strongest = sorted(zip(np.abs(axis), pca.feature_names_in_, strict=True), reverse=True)[:3]
    print(f"  {share:.0%} of the variance: {', '.join(name for _, name in strongest)}")

encoding = assay.load(folder / "encoding.assay")
whole = assay.Moments.of(assay.encode(assay.read(everybody.drop_columns(["Delicassen"])), encoding))
print(f"largest difference from the covariance of all rows: {np.abs(whole.covariance - together.covariance).max():.0e}")
