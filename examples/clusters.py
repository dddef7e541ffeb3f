"""The same rows grouped in five ways, and the trees behind two of them.

Run `python examples/clusters.py`. Writes us_arrests.html (two trees of the 50 states) and moons.html (two groups that
are not round, as each method sees them).
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import assay
from assay.views.html.figure_file import write_figure
from assay.views.rows.embedding import embedding_map
from assay.views.tree.dendrogram import dendrogram


def groups_of(X, k):
    """Labels of each method for k groups."""
    return {
        "KMeans": assay.KMeans(k, random_state=0).fit(X).labels_,
        "GaussianMixture": assay.GaussianMixture(k, random_state=0).fit(X).predict(X),
        "SpectralClustering": assay.SpectralClustering(k, random_state=0).fit(X).labels_,
        "Agglomerative": assay.Agglomerative(k).fit(X).labels_,
        "Divisive": assay.Divisive(k, random_state=0).fit(X).labels_,
    }


def states():
    """Arrests in 50 states: two trees, grown from below and from above, cut into four groups."""
    table = assay.read(Path(__file__).parent / "data" / "us_arrests.csv").to_arrow()
    names = table.column(0).to_pylist()
    X = np.stack([table.column(j).to_numpy() for j in range(1, table.num_columns)], axis=1).astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    trees = {
        "Agglomerative, Ward": assay.Agglomerative(4).fit(X),
        "Divisive": assay.Divisive(4, full=True, random_state=0).fit(X),
    }
    figures = {name: dendrogram(tree.merges_, names=names, cut=4) for name, tree in trees.items()}
    print("50 states in four groups; agreement (adjusted Rand index) with Agglomerative:")
    found = groups_of(X, 4)
    for name, labels in found.items():
        print(
            f"  {name}: {adjusted_rand_score(found['Agglomerative'], labels):.2f}, sizes {np.bincount(labels).tolist()}"
        )
    return write_figure(figures, "us_arrests.html", "Arrests in 50 states, two trees cut into four groups")


def moons():
    """Two crescents: methods that look at means cut them across, those that look at neighbours follow them."""
    X, truth = make_moons(400, noise=0.06, random_state=0)
    found = groups_of(X, 2)
    found["Agglomerative, single linkage"] = assay.Agglomerative(2, linkage="single").fit(X).labels_
    found["Divisive, sweep"] = assay.Divisive(2, splitter="sweep").fit(X).labels_
    figures, captions = {}, {}
    print("two moons; agreement with the truth:")
    for name, labels in found.items():
        figures[name] = embedding_map(X, groups=labels, height=260)
        captions[name] = f"Agreement with the truth (adjusted Rand index): {adjusted_rand_score(truth, labels):.2f}."
        print(f"  {name}: {adjusted_rand_score(truth, labels):.2f}")
    return write_figure(figures, "moons.html", "Two moons, grouped", captions=captions)


if __name__ == "__main__":
    print("wrote", states(), moons())
