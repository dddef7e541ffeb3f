"""The same data on several maps, each with how far it can be trusted.

Run `python examples/embeddings.py`, or name a table with a column of labels, such as gene expression by tissue:
`python examples/embeddings.py alon_colon.csv label`. Writes swiss_roll.html, digits.html and the name of the table.
Points are faint where neighbours on the map are not neighbours in the data.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, make_swiss_roll

import assay
from assay.views.clusters.scales import scale_choice
from assay.views.html.figure_file import write_figure
from assay.views.rows.embedding import embedding_map


def drawn(X, maps, **look):
    """A figure and its caption for each map of X."""
    figures, captions = {}, {}
    for name, Y in maps.items():
        found = assay.fidelity(X, Y)
        faint = np.clip((1 - found.point_trustworthiness) / (1 - found.rank_chance), 0, 1)
        figures[name] = embedding_map(Y, faint=faint, **look)
        captions[name] = (
            f"Trustworthiness {found.trustworthiness:.2f}, continuity {found.continuity:.2f} (chance "
            f"{found.rank_chance:.2f}); {found.agreement:.0%} of neighbours kept (chance {found.agreement_chance:.1%})."
        )
        print(f"  {name}: {captions[name]}")
    return figures, captions


def swiss_roll():
    """A sheet rolled up in space: PCA looks at it from the side, Isomap unrolls it, t-SNE tears it."""
    print("swiss roll")
    X, along = make_swiss_roll(1500, random_state=0)
    scales = assay.isomap_scales(X)
    maps = {
        "PCA": assay.PCA(2).fit_transform(X),
        "Isomap": assay.Isomap(graph=scales.graph).fit_transform(X),
        "t-SNE": assay.TSNE(random_state=0).fit_transform(X),
    }
    figures, captions = drawn(X, maps, colour=along, colour_label="along the roll")
    figures["The scale of Isomap"] = scale_choice(
        scales.scales, scales.residual_variance, scales.share_kept, scales.chosen
    )
    captions["The scale of Isomap"] = f"Taken: {scales.rule}"
    return write_figure(figures, "swiss_roll.html", "A swiss roll on three maps", captions=captions)


def digits():
    """Handwritten digits: two components mix what t-SNE keeps apart; distances between clumps still mean little."""
    print("digits")
    X, y = load_digits(return_X_y=True)
    maps = {"PCA": assay.PCA(2).fit_transform(X), "t-SNE": assay.TSNE(random_state=0).fit_transform(X)}
    figures, captions = drawn(X, maps, groups=y)
    return write_figure(figures, "digits.html", "1,797 handwritten digits on two maps", captions=captions)


def table(path, label):
    """Any table of numbers with a column of labels."""
    print(Path(path).stem)
    rows = assay.read(path).to_arrow()
    groups = rows[label].to_pylist()
    X = np.stack([column.to_numpy() for column in rows.drop_columns([label]).columns], axis=1).astype(float)
    Z = assay.PCA(min(50, *X.shape), scale=True).fit_transform(X)
    maps = {"PCA": Z[:, :2], "t-SNE": assay.TSNE(random_state=0).fit_transform(Z)}
    figures, captions = drawn(Z, maps, groups=groups)
    return write_figure(figures, f"{Path(path).stem}.html", f"{Path(path).stem} on two maps", captions=captions)


if __name__ == "__main__":
    pages = [swiss_roll(), digits()]
    if len(sys.argv) > 1:
        pages.append(table(sys.argv[1], *(sys.argv[2:3] or ["label"])))
    print("wrote", *pages)
