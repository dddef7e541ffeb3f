"""Which links between characters of Les Misérables are missing or surprising?"""

from pathlib import Path

import assay

links = Path(__file__).parents[1] / "data" / "les_miserables.csv"
network = assay.read_network(links, directed=False)
study = assay.study(network, only="links")
found = study.answers["links"]
for finding in found.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(found).save("links.svg")
