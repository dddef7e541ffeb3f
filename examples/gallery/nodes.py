"""Which characters of Les Misérables matter beyond the number of their links?"""

from pathlib import Path

import assay

links = Path(__file__).parents[1] / "data" / "les_miserables.csv"
network = assay.read_network(links, directed=False)
study = assay.study(network, only="nodes")
found = study.answers["nodes"]
for finding in found.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
assay.plot(found).figures["Who is ranked first"].save("nodes.svg")
