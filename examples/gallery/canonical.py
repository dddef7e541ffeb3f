"""Do the chemistry of 178 wines and their look have something in common?"""

from sklearn.datasets import load_wine

import assay

wines = load_wine(as_frame=True).data
study = assay.study(wines, side=["color_intensity", "hue", "od280/od315_of_diluted_wines"], only="canonical")
sides = study.answers["canonical"]
for finding in sides.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(sides).figures["Pair 1 of the two sets of columns"].save("canonical.svg")
