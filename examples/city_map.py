"""Distances become a map: cities placed by how far apart they are, then turned to the north.

Run `python examples/city_map.py` for distances over the globe, or name a square table of distances between cities,
`python examples/city_map.py eurodist_km.csv`, for what roads make of the map. Writes city_map.html.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist, squareform

import assay
from assay.linalg.dense.procrustes import procrustes
from assay.views.columns.decay import eigenvalue_decay
from assay.views.html.figure_file import write_figure
from assay.views.rows.embedding import embedding_map
from assay.views.rows.shepard import shepard

CITIES = Path(__file__).parent / "data" / "cities.csv"
EARTH = 6371.0  # km


def read_cities(path=CITIES):
    """Latitude and longitude in radians, by name."""
    with Path(path).open(encoding="utf-8", newline="") as handle:
        return {
            row["city"]: np.radians([float(row["latitude"]), float(row["longitude"])]) for row in csv.DictReader(handle)
        }


def read_distances(path):
    """Names, and the square table of distances between them."""
    with Path(path).open(encoding="utf-8", newline="") as handle:
        _, *table = csv.reader(handle)
    return [row[0] for row in table], np.array([row[1:] for row in table], dtype=float)


def great_circle(places):
    """Distances over the globe in km, by the haversine formula."""
    latitude, longitude = places.T
    upward = np.sin((latitude[:, None] - latitude) / 2) ** 2
    across = np.cos(latitude[:, None]) * np.cos(latitude) * np.sin((longitude[:, None] - longitude) / 2) ** 2
    return 2 * EARTH * np.arcsin(np.sqrt(upward + across))


def flat(places):
    """Kilometres to the east and to the north of the middle, about right for a continent."""
    latitude, longitude = (places - places.mean(axis=0)).T
    return EARTH * np.stack([longitude * np.cos(places[:, 0]), latitude], axis=1)


def main(table=None):
    """Draw the map, tell how far it is from the true one, and show whether it can be trusted."""
    known = read_cities()
    names, distances = read_distances(table) if table else (list(known), great_circle(np.array(list(known.values()))))
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"{CITIES.name} does not say where {unknown[0]} is; add it there")
    true = flat(np.array([known[name] for name in names]))
    classical = assay.ClassicalMDS(metric="precomputed").fit(distances)
    metric = assay.MDS(metric="precomputed", random_state=0).fit(distances)
    for method, found in (("classical scaling", classical.embedding_), ("metric scaling", metric.embedding_)):
        turned = procrustes(found, true)
        print(f"{method}: r2 {turned.r2:.4f} with the true map, {turned.residual:.0f} km off, scale {turned.scale:.2f}")
    needed = assay.euclidean_dimension(distances)
    print(f"eigenvalues below zero: {needed.lost:.1%} of the sizes of all")
    kind = "road" if table else "great-circle"
    turned_map = embedding_map(turned.apply(metric.embedding_), names=names, axes=("east, km", "north, km"), height=620)
    figures = {
        "The cities, turned to the north": turned_map,
        "Does a flat map keep the distances?": shepard(distances, squareform(pdist(metric.embedding_)), names=names),
        "How many dimensions do they need?": eigenvalue_decay(needed.eigenvalues, kept=2),
    }
    captions = {
        "The cities, turned to the north": (
            f"Made from {kind} distances alone, then turned and stretched as a whole onto the true map. "
            f"The cities end up {turned.residual:.0f} km off (root mean square)."
        ),
        "How many dimensions do they need?": "Below zero is what fits on no flat map: the globe is round, roads wind.",
    }
    print("wrote", write_figure(figures, "city_map.html", f"A map from {kind} distances", captions=captions))


if __name__ == "__main__":
    main(*sys.argv[1:2])
