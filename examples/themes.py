"""What are 1,200 text messages about, and which are like a query? Run: python examples/themes.py."""

from pathlib import Path

import assay

messages = assay.read(Path(__file__).parent / "data" / "messages.csv")
labels = messages.to_arrow()["label"].to_pylist()

lsi = assay.LSI(50).fit_texts(messages, "text")
nearest = lsi.query("you have won a prize, call to claim", 20)
print(f"Of the 20 messages most like the query {sum(labels[i] == 'spam' for i in nearest.documents)} are spam.")
print("Used like 'morning':", ", ".join(lsi.nearest_terms("morning", 5).terms))

real = assay.LSI("real", random_state=0).fit_texts(messages, "text")
print(f"{real.n_concepts_} concepts are beyond chance:")
for concept in real.concepts(4)[1:]:  # the first dimension is the mean of all messages
    print(" ", ", ".join(concept.towards), "against", ", ".join(concept.away))
