"""Make the pictures of the guide that `assay.plot` draws: python docs/img/plots.py [name ...] (needs Chromium)."""

import io
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas
from PIL import Image
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_moons,
    make_swiss_roll,
)  # fmt: skip
from sklearn.neighbors import KNeighborsClassifier

import assay

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "examples" / "data"
LARGEST = 60_000  # bytes of a picture


def arrests():
    """Standardised arrests in 50 states, and the names of these."""
    table = assay.read(DATA / "us_arrests.csv").to_arrow()
    X = np.stack([table.column(j).to_numpy() for j in range(1, table.num_columns)], axis=1).astype(float)
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), table.column(0).to_pylist()


def customers():
    """Logarithms of what 440 customers bought, standardised, as a frame."""
    table = pandas.read_csv(DATA / "wholesale_customers.csv").drop(columns=["Channel", "Region"])
    logs = np.log(table)
    return (logs - logs.mean()) / logs.std()


def components():
    """For components.md."""
    X = customers()
    return assay.PCA("real", scale=True).fit(X).plot(X)


def kernel_pca():
    """For kernel-pca.md."""
    X, ring = make_circles(600, factor=0.3, noise=0.03, random_state=0)
    return assay.KernelPCA(6, kernel=assay.Gaussian(0.5)).fit(X).plot(groups=np.where(ring, "inner", "outer"))


def shepard():
    """For mds.md."""
    X, states = arrests()
    return assay.MDS(2, metric_mds=False, random_state=0).fit(X).plot(names=states)


def scales():
    """For isomap.md."""
    X, _ = make_swiss_roll(1500, random_state=0)
    return assay.plot(assay.isomap_scales(X))


def dendrogram():
    """For hierarchical.md."""
    X, states = arrests()
    return assay.Agglomerative(4).fit(X).plot(names=states)


def divisive():
    """For divisive.md."""
    return assay.Divisive(12, random_state=0).fit(load_digits().data).plot(cut=4)


def cells():
    """For kmeans.md."""
    X = load_iris().data
    return assay.KMeans(3, random_state=0).fit(X).plot(X)


def how_many():
    """For kmeans.md."""
    return assay.plot(assay.choose_k(load_iris().data, range(1, 11), random_state=0))


def mixture():
    """For mixture.md."""
    X = load_iris(as_frame=True).data
    return assay.GaussianMixture(3, random_state=0).fit(X).plot(X, columns=("petal length (cm)", "petal width (cm)"))


def bic():
    """For mixture.md."""
    return assay.plot(assay.choose_components(load_iris().data, range(1, 6), random_state=0))


def eigengap():
    """For spectral-clustering.md."""
    X, _ = make_moons(400, noise=0.08, random_state=0)
    return assay.SpectralClustering(random_state=0).fit(X).plot(X)


def anomalies():
    """For robust-svdd.md."""
    X = customers()
    return assay.RobustSVDD(nu=0.06).fit(X).plot(X)


def svdd():
    """For svdd.md."""
    X = load_iris(as_frame=True).data.iloc[:, 2:]
    return assay.SVDD(nu=0.1, kernel=assay.Gaussian(1.0)).fit(X).plot(X)


def reordered():
    """For stringing.md."""
    X = customers()
    return assay.Stringing().fit(X).plot(X)


def margin():
    """For svm.md."""
    X, y = make_moons(200, noise=0.25, random_state=0)
    return assay.SVM(C=1.0, kernel=assay.Gaussian(sigma=0.5)).fit(X, y).plot(X, y).figures["The margin"]


def coefficients():
    """For regression.md."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return assay.LeastSquares().fit(X, y).plot()


def path():
    """For regression.md."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return assay.Ridge("held-out", random_state=0).fit(X, y).plot()


def complexity():
    """For validation.md."""
    X, y = load_breast_cancer(return_X_y=True)
    return assay.plot(
        assay.complexity_curve(KNeighborsClassifier(), "n_neighbors", [101, 51, 25, 11, 5, 3, 1], X, y),
        y_label="share of errors",
    )


def refusal():
    """For subspace.md."""
    X, y = load_digits(return_X_y=True)
    model = assay.SubspaceClassifier().fit(X[:1200], y[:1200])
    return model.plot(X[1200:], y[1200:])


def variates():
    """For discriminant.md."""
    X, y = load_wine(return_X_y=True)
    growers = np.array([f"grower {g + 1}" for g in y])
    return assay.Fisher().fit(X, growers).plot(X, growers)


def delay():
    """For temporal-cca.md."""
    rng = np.random.default_rng(0)
    lead = rng.standard_normal((200, 1))
    behind = np.roll(lead[:, 0], 3) + 1.5 * rng.standard_normal(200)
    return assay.TemporalCCA(lags=range(-8, 9)).fit(lead, behind).plot(chance=1.96 / np.sqrt(200))


def themes():
    """For lsi.md."""
    return assay.study(DATA / "messages.csv").answers["themes"].plot()


def policy():
    """For learning-decisions.md."""
    return assay.plot(assay.explore("FrozenLake-v1", trials=300, discount=0.99, random_state=1))


PICTURES = (
    components, kernel_pca, shepard, scales, dendrogram, divisive, cells, how_many, mixture, bic, eigengap, anomalies,
    svdd, reordered, margin, coefficients, path, complexity, refusal, variates, delay, themes, policy,
)  # fmt: skip


def main(names):
    """Draw the pictures that are named, or all."""
    for draw in PICTURES:
        name = draw.__name__.replace("_", "-")
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            drawn = draw().save(Path(folder) / "drawn.png", scale=1.25)
            picture = Image.open(io.BytesIO(drawn.read_bytes())).convert("RGB")
        target = HERE / f"plot-{name}.png"
        for colours in (255, 128, 64, 64, 64):
            # colours of groups stay apart: the usual method merges those that few pixels have
            few = picture.quantize(colours, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
            few.save(target, optimize=True)
            if target.stat().st_size <= LARGEST:
                break
            if colours == 64:
                smaller = round(0.85 * picture.width), round(0.85 * picture.height)
                picture = picture.resize(smaller, Image.Resampling.LANCZOS)
        print(target.name, picture.size, colours, "colours,", target.stat().st_size // 1024, "KB")


if __name__ == "__main__":
    main(sys.argv[1:])
