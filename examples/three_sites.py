"""Three sites may share summaries but not rows: what can be said of all, from three files without a row in them.

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
own = [everybody.filter(site_of == i) for i in range(3)]

# each site summarises its rows, by group; the column that must not leave is not even read
# the first site decides how columns become numbers, the others do as it did
told = {"by": "Channel", "sensitive": ["Delicassen"], "drop": ["Region"]}
assay.summarize(own[0], **told).save(folder / "site0.moments")
for i in (1, 2):
    assay.summarize(own[i], like=assay.load(folder / "site0.moments"), **told).save(folder / f"site{i}.moments")

# whoever may see the summaries adds them up, and studies the sum
together = sum(assay.load(folder / f"site{i}.moments") for i in range(3))
study = assay.study(together, target="Milk", side=["Fresh", "Frozen"])
print(f"{together.total.count} rows of three sites:")
for finding in study.findings:
    print(f"  {finding.evidence.verdict}: {finding.sentence}")

# the same from all rows together, which nobody here ever saw
pooled = assay.summarize(everybody, like=together, **told)
off = np.abs(together.total.correlation - pooled.total.correlation).max()
print(f"largest difference from the correlations of all rows: {off:.0e}")
same = assay.study(pooled, target="Milk", side=["Fresh", "Frozen"])
for name, answer in study.answers.items():
    print(f"  {name}: {answer.evidence.statistic:.10f}, of all rows {same.answers[name].evidence.statistic:.10f}")
