"""Who appears with whom in Les Misérables: are there communities?"""

from pathlib import Path

import assay

links = Path(__file__).parents[1] / "data" / "les_miserables.csv"
network = assay.read_network(links, directed=False)
study = assay.study(network, only="communities")
found = study.answers["communities"]
for finding in found.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(found).save("communities.png")
