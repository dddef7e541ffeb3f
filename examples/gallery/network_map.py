"""Does a map of the characters of Les Misérables show more than chance?"""

from pathlib import Path

import assay

links = Path(__file__).parents[1] / "data" / "les_miserables.csv"
network = assay.read_network(links, directed=False)
study = assay.study(network, only="network_map")
found = study.answers["network_map"]
for finding in found.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(found).save("network_map.svg")
