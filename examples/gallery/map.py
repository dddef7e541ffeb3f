"""Does a map of 178 wines show more than chance?"""

from sklearn.datasets import load_wine

import assay

wines = load_wine(as_frame=True).data
study = assay.study(wines, only="map")
found = study.answers["map"]
for finding in found.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(found).save("map.svg")
