"""Does it matter what is done with a machine, and what is best?"""

import numpy as np
import pandas as pd

import assay

# 100 machines, 20 days each: running one earns 2 and wears it, mending costs 1 and makes it new
rng = np.random.default_rng(0)
next_state = {"new": "worn", "worn": "broken", "broken": "broken"}
rows = []
for trial in range(100):
    state = "new"
    for step in range(20):
        action = str(rng.choice(["run", "mend"]))
        earned = -1.0 if action == "mend" else {"new": 2.0, "worn": 2.0, "broken": 0.0}[state]
        rows.append((trial, step, state, action, earned))
        state = "new" if action == "mend" else next_state[state] if rng.random() < 0.5 else state

trials = pd.DataFrame(rows, columns=["trial", "step", "state", "action", "reward"])
policy = assay.study(trials, only="policy").answers["policy"]
for finding in policy.findings():
    print(f"{finding.evidence.verdict}: {finding.sentence}")
print("Best:", assay.learn_mdp(trials).policy)
assay.plot(policy).figures["The best action in each state"].save("policy.svg")
