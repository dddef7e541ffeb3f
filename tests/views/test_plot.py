"""One word draws every model: the figure shows itself, saves itself, and refuses in words."""

from __future__ import annotations

import ast
import html
import importlib.util
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.plotting import figure as bokeh_figure
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import assay
from assay.errors import DataError, ParameterError
from assay.models.registry import MODELS, model_class
from assay.views.figures import Figure, Figures
from assay.views.html.view import View
from assay.views.plot import RESULTS, found_function

SRC = Path(assay.__file__).parent

IRIS = load_iris()
X, Y = IRIS.data, IRIS.target
TWO = Y < 2
FLAT = X[:, 2:]
PROGRESS = load_diabetes()
N, T = PROGRESS.data[:150], PROGRESS.target[:150]


def _gappy():
    table = X.copy()
    table[::7, 1] = np.nan
    return table


def _series():
    rng = np.random.default_rng(0)
    lead = rng.standard_normal((150, 1))
    return lead, np.roll(lead[:, 0], 3) + rng.standard_normal(150)


def _graph():
    return assay.Graph.of_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])


LEAD, BEHIND = _series()
TABLE = np.array([[*(f"{value:.0f}" for value in row[:3]), row[3]] for row in X], dtype=object)

# for each model: how it is fitted, and the ways it is drawn
CASES = {
    "PCA": (lambda: assay.PCA(3).fit(X), [(), (X,), (X, Y)]),
    "MCA": (lambda: assay.MCA(3).fit(TABLE[:, :3]), [(), (TABLE[:, :3],), (TABLE[:, :3], Y)]),
    "MixedPCA": (lambda: assay.MixedPCA(3).fit(TABLE), [(), (TABLE,), (TABLE, Y)]),
    "KernelPCA": (lambda: assay.KernelPCA(4, kernel=assay.Gaussian()).fit(X), [(), (X[:9],), (X, Y)]),
    "LSI": (lambda: assay.LSI(3).fit(X), [(), (X, Y)]),
    "ClassicalMDS": (lambda: assay.ClassicalMDS(3).fit(X), [(), (X,), (X, Y)]),
    "MDS": (lambda: assay.MDS(n_init=1).fit(X[::5]), [(), (None, Y[::5])]),
    "DiffusionMap": (lambda: assay.DiffusionMap(3).fit(X), [(), (X, Y)]),
    "SNE": (lambda: assay.SNE(max_iter=300, tol=1.0).fit(X[::5]), [(), (None, Y[::5])]),
    "SymmetricSNE": (lambda: assay.SymmetricSNE(max_iter=300, tol=1.0).fit(X[::5]), [()]),
    "TSNE": (lambda: assay.TSNE(max_iter=300, tol=1.0).fit(X[::5]), [(), (None, Y[::5])]),
    "VAE": (lambda: assay.VAE(max_iter=30, patience=1).fit(X), [(), (X, Y)]),
    "FillMissing": (lambda: assay.FillMissing().fit(_gappy()), [(), (_gappy(),)]),
    "NetworkEmbedding": (lambda: assay.NetworkEmbedding().fit_graph(_graph()), [(), (None, list("aaabbb"))]),
    "SpectralClustering": (lambda: assay.SpectralClustering(random_state=0).fit(FLAT), [(), (FLAT,)]),
    "Stringing": (lambda: assay.Stringing().fit(X), [(X,)]),
    "Isomap": (lambda: assay.Isomap(3).fit(X[:50]), [(), (X[:9],)]),
    "GaussianMixture": (lambda: assay.GaussianMixture(3, random_state=0).fit(X), [(), (X,)]),
    "ZScore": (lambda: assay.ZScore(0.9).fit(X), [(X,)]),
    "Mahalanobis": (lambda: assay.Mahalanobis(level=0.9).fit(FLAT), [(FLAT,)]),
    "SVDD": (lambda: assay.SVDD(kernel=assay.Gaussian()).fit(FLAT), [(FLAT,)]),
    "RobustSVDD": (lambda: assay.RobustSVDD().fit(X), [(X,)]),
    "SVM": (lambda: assay.SVM().fit(FLAT[~(Y == 0)], Y[~(Y == 0)]), [(FLAT[~(Y == 0)], Y[~(Y == 0)])]),
    "KMeans": (lambda: assay.KMeans(3, random_state=0).fit(X), [(), (X,)]),
    "Agglomerative": (lambda: assay.Agglomerative(3).fit(X), [()]),
    "Divisive": (lambda: assay.Divisive(4, random_state=0).fit(X), [()]),
    "LeastSquares": (lambda: assay.LeastSquares().fit(N, T), [(), (N, T)]),
    "Ridge": (lambda: assay.Ridge("held-out", random_state=0).fit(N, T), [(), (N, T)]),
    "ElasticNet": (lambda: assay.ElasticNet("held-out", random_state=0).fit(N, T), [(), (N, T)]),
    "SVR": (lambda: assay.SVR(kernel=assay.Linear()).fit(N[:60], T[:60]), [(), (N[60:], T[60:])]),
    "Logistic": (lambda: assay.Logistic().fit(X[Y > 0], Y[Y > 0]), [(), (X[Y > 0], Y[Y > 0])]),
    "CCA": (lambda: assay.CCA(2).fit(X[:, :2], FLAT), [(), (X[:, :2], FLAT)]),
    "MultisetCCA": (lambda: assay.MultisetCCA((2, 2)).fit(X), [(), (X,), (X, Y)]),
    "TemporalCCA": (lambda: assay.TemporalCCA(lags=range(-5, 6)).fit(LEAD, BEHIND), [(), (LEAD, BEHIND)]),
    "NonlinearCCA": (lambda: assay.NonlinearCCA(2).fit(X[:, :2], FLAT), [(), (X[:, :2], FLAT)]),
    "KernelCCA": (lambda: assay.KernelCCA().fit(X[:, :2], FLAT), [(X[:, :2], FLAT)]),
    "DifferenceOfMeans": (lambda: assay.DifferenceOfMeans().fit(X, Y), [(), (X, Y)]),
    "Fisher": (lambda: assay.Fisher().fit(X, Y), [(), (X, Y)]),
    "GaussianRule": (lambda: assay.GaussianRule().fit(X[TWO], Y[TWO]), [(X[TWO], Y[TWO])]),
    "NaiveBayes": (lambda: assay.NaiveBayes().fit(X, Y), [(X, Y)]),
    "Perceptron": (lambda: assay.Perceptron(random_state=0).fit(X[TWO], Y[TWO]), [(), (X[TWO], Y[TWO])]),
    "NearestCentroid": (lambda: assay.NearestCentroid(refuse=0.9).fit(X, Y), [(), (X, Y)]),
    "MatrixFactorization": (lambda: assay.MatrixFactorization("held-out").fit(_gappy()), [()]),
    "SubspaceClassifier": (lambda: assay.SubspaceClassifier(1).fit(X, Y), [(X, Y)]),
}


def fitted(name):
    make, ways = CASES[name]
    needs = MODELS[name].needs
    if needs is not None and importlib.util.find_spec(needs) is None and "ASSAY_VAE" not in os.environ:
        pytest.skip(f"{needs} is not installed")
    return make(), ways


def figures_of(drawn):
    return list(drawn.figures.values()) if isinstance(drawn, Figures) else [drawn]


def marks(figure):
    """Numbers behind the glyphs of a figure, those of legends left out."""
    sources = [glyph.data_source for glyph in figure.renderers if hasattr(glyph, "data_source")]  # contours have none
    return sum(len(next(iter(source.data.values()), ())) for source in sources)


def test_every_registered_model_is_drawn_here():
    assert set(CASES) == set(MODELS)


@pytest.mark.parametrize("name", CASES)
def test_a_fitted_model_gives_bokeh_figures_with_marks(name):
    model, ways = fitted(name)
    for way in ways:
        drawn = model.plot(*way)
        assert isinstance(drawn, (Figure, Figures)) and drawn.heading.startswith(name)
        for figure in figures_of(drawn):
            assert isinstance(figure, bokeh_figure)
            assert marks(figure) > 0
        roots = Document()
        roots.add_root(drawn)  # a browser knows its kind: Bokeh's own names are written
        assert {root["name"] for root in roots.to_json(deferred=False)["roots"]} <= {"Figure", "GridBox"}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_is_not_fitted_is_refused_as_scikit_learn_does(name):
    with pytest.raises(NotFittedError):
        model_class(name)().plot()


@pytest.mark.parametrize("name", [n for n, (_, ways) in CASES.items() if () not in ways])
def test_a_picture_that_needs_rows_asks_for_them(name):
    model, _ = fitted(name)
    with pytest.raises(ParameterError, match=r"plot\(model, X"):
        model.plot()


def test_rows_can_be_frames_whose_columns_name_the_axes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(FLAT, columns=["length", "width"])
    cells = assay.KMeans(3, random_state=0).fit(frame).plot(frame)
    assert cells.xaxis.axis_label.text == "length"
    ball = assay.SVDD(kernel=assay.Gaussian()).fit(frame).plot(frame)
    assert ball.yaxis.axis_label.text == "width"
    kinds = IRIS.target_names[Y[Y > 0]]
    margin = assay.SVM().fit(frame[Y > 0], kinds).plot(frame[Y > 0], kinds).figures["The margin"]
    assert margin.xaxis.axis_label.text == "length"


def test_a_source_names_its_own_target(wholesale):
    source = assay.read(wholesale)
    model = assay.LeastSquares().fit(source, "Grocery")
    drawn = model.plot(source)
    truth = np.asarray(source.to_arrow()["Grocery"].to_numpy(), dtype=float)
    (shown,) = (
        r.data_source.data for r in drawn.figures["Predicted and true"].renderers if r.data_source.name == "rows"
    )
    assert sorted(shown["truth"]) == sorted(truth)


def test_the_figures_of_a_plot_hold_what_the_model_says():
    model = assay.PCA(2).fit(X)
    drawn = model.plot(X).figures
    assert drawn["Variance carried together"].renderers[1].data_source.data["share"][2] == pytest.approx(
        model.explained_variance_ratio_.sum(), rel=1e-12
    )
    places = drawn["Rows and columns on components 1 and 2"].renderers[0].data_source.data
    # of unit variance, so that both axes are in standard deviations; sums of 150 squares are exact to about 1e-14
    assert np.var([places["c1"], places["c2"]], axis=1, ddof=1) == pytest.approx([1.0, 1.0], rel=1e-10)
    arrows = [
        r.data_source.data
        for r in drawn["Rows and columns on components 1 and 2"].renderers
        if "first" in r.data_source.data
    ]
    Z = model.transform(X)
    for name, first in zip(arrows[0]["name"], arrows[0]["first"], strict=True):
        j = int(name.split()[1])
        assert first == pytest.approx(np.corrcoef(X[:, j], Z[:, 0])[0, 1], abs=1e-10)


def test_the_shepard_diagram_shows_the_distances_of_the_rows_and_of_the_map():
    model = assay.ClassicalMDS(3).fit(X[:20])
    pairs = model.plot(X[:20]).figures["Shepard diagram"].renderers[0].data_source.data
    i, j = pairs["first"] - 1, pairs["second"] - 1
    assert pairs["given"] == pytest.approx(np.linalg.norm(X[i] - X[j], axis=1), abs=1e-12)
    assert pairs["kept"] == pytest.approx(np.linalg.norm(model.embedding_[i] - model.embedding_[j], axis=1), abs=1e-12)


def test_a_detector_flags_in_the_picture_what_it_flags():
    model = assay.RobustSVDD(nu=0.2).fit(X)
    drawn = model.plot(X)
    said = drawn.figures["Rows that do not belong"].below[-1].items[0].label.value
    assert f"{len(model.outliers_)} of 150 rows are flagged" in said
    why = drawn.figures["Why these rows stand out"].renderers[0].data_source.data
    assert set(why["row"]) == set(model.outliers_ + 1)


def test_a_ring_marks_the_support_vectors_of_the_rows_fitted_and_of_no_others():
    late = Y > 0
    model = assay.SVM().fit(FLAT[late], Y[late])

    def note(drawn):
        return drawn.figures["The margin"].below[-1].items[0].label.value

    assert f"{len(model.support_)} of 100 rows are support vectors" in note(model.plot(FLAT[late], Y[late]))
    assert "support vectors" not in note(model.plot(FLAT[late][::-1], Y[late][::-1]))


def test_options_reach_the_picture_and_unknown_ones_are_named():
    model = assay.KMeans(2, random_state=0).fit(X)
    with pytest.raises(ParameterError, match="a picture of KMeans has no option 'colour'; there are none"):
        model.plot(X, colour=Y)
    mixed = assay.GaussianMixture(2, random_state=0).fit(X)
    assert mixed.plot(X, columns=(2, 3)).xaxis.axis_label.text == "column 2"
    with pytest.raises(ParameterError, match="no option 'colums'; there are columns"):
        mixed.plot(X, colums=(2, 3))
    with pytest.raises(ParameterError, match="no column 'petal'"):
        mixed.plot(X, columns=("petal", 0))
    tree = assay.Agglomerative(3).fit(X).plot(cut=5)
    assert isinstance(tree, Figure)


def test_rows_and_groups_must_fit_together():
    with pytest.raises(DataError, match=r"y has one entry per row; got shape \(3,\) for 150 rows"):
        assay.PCA(2).fit(X).plot(X, [1, 2, 3])
    with pytest.raises(ParameterError, match="a pair has two sides: give both"):
        assay.CCA(1).fit(X[:, :2], FLAT).plot(X[:, :2])
    with pytest.raises(ParameterError, match="one target; this Ridge has 2"):
        assay.Ridge().fit(N, np.column_stack([T, T])).plot()


def test_what_cannot_be_drawn_is_told_what_can():
    for thing in (3, LinearRegression(), object()):
        with pytest.raises(ParameterError, match="cannot be drawn; assay.plot draws fitted models of assay, results"):
            assay.plot(thing)
    with pytest.raises(ParameterError, match=r"PCA is a class: plot a fitted one, such as PCA\(...\).fit\(X\)"):
        assay.plot(assay.PCA)


def test_a_model_made_from_one_of_ours_is_drawn_like_it():
    class Mine(assay.KMeans):
        pass

    assert Mine(2, random_state=0).fit(X).plot(X).heading == "KMeans: cells of the centres"


class Answer:
    """As an answer of a study has it: views with name, title, figure and caption."""

    def views(self):
        class View:
            def __init__(self, name, title, figure, caption):
                self.name, self.title, self.figure, self.caption = name, title, figure, caption

        maps = [assay.ClassicalMDS().fit(X[:9]).plot() for _ in range(3)]
        return [View(f"v{i}", "Rows" if i else "Above", figure, f"caption {i}") for i, figure in enumerate(maps)]


def test_views_without_a_figure_are_left_out_and_an_answer_without_any_says_why():
    class Remark(Answer):
        def views(self):
            return [View("no-map", caption="No map is drawn: chance gives one as good."), *super().views()[:1]]

    assert isinstance(assay.plot(Remark()), Figure)

    class Silent:
        def views(self):
            return [View("no-map", caption="No map is drawn: chance gives one as good.")]

    with pytest.raises(ParameterError, match="chance gives one as good"):
        assay.plot(Silent())


def test_anything_with_views_is_drawn_with_its_titles_and_captions(tmp_path):
    drawn = assay.plot(Answer())
    assert list(drawn.figures) == ["Above", "Rows", "Rows (2)"]
    assert list(drawn.captions.values()) == ["caption 0", "caption 1", "caption 2"]
    page = drawn.save(tmp_path / "answer.html").read_text()
    assert page.count("<figcaption>caption") == 3 and "<h1>Answer</h1>" in page
    with pytest.raises(ParameterError, match="drawn as they are"):
        assay.plot(Answer(), X)


def test_saved_pages_are_the_same_each_time_and_need_no_network(tmp_path):
    pages = [assay.PCA(3).fit(X).plot(X, Y).save(tmp_path / f"{i}.html", title="Iris").read_bytes() for i in range(2)]
    assert pages[0] == pages[1]
    outside = re.sub(r"<script>.*?</script>", "", pages[0].decode(), flags=re.DOTALL)
    assert "default-src 'none'" in outside and not re.search(r"(src|href)=|https?://", outside)
    assert "<h1>Iris</h1>" in outside


def test_a_notebook_frames_the_page_without_anything_being_set_up():
    for drawn in (assay.KMeans(3, random_state=0).fit(X).plot(X), assay.PCA(2).fit(X).plot(X)):
        shown = drawn._repr_html_()
        frame = re.fullmatch(
            r'<iframe title="([^"]*)" sandbox="([^"]*)" srcdoc="([^"]*)" style="([^"]*)"></iframe>', shown
        )
        assert frame.group(2) == "allow-scripts allow-downloads"
        page = html.unescape(frame.group(3))
        assert page.count('class="bokeh"') == len(figures_of(drawn))
        assert "default-src 'none'" in page
        assert re.search(r"height:\d{3,4}px", frame.group(4))


def test_a_figure_of_a_users_document_can_be_saved_and_stays_there(tmp_path):
    document, drawn = Document(), assay.PCA(2).fit(X).plot(X)
    document.add_root(drawn)
    drawn.save(tmp_path / "a.html")
    assert document.roots == [drawn] and all(figure.document is document for figure in drawn.figures.values())


def test_making_our_figures_leaves_bokehs_own_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = bokeh_figure()
    assert type(plain) is bokeh_figure
    document = Document()
    document.add_root(assay.KMeans(2, random_state=0).fit(X).plot())
    assert type(Document.from_json(document.to_json(deferred=False)).roots[0]) is bokeh_figure


def public_functions():
    """Every public function of views with the file it is in, its body, and what names mean in that file."""
    for path in SRC.rglob("*.py"):
        text = path.read_text()
        module = "assay." + ".".join(path.relative_to(SRC).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        if not module.startswith("assay.views") and "assay.views" not in text:  # it uses none of them
            continue
        tree = ast.parse(text)
        means = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("assay.views")
            for alias in node.names
        }
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        for node in tree.body:
            uses = {means.get(n.id, (module, n.id)) for n in ast.walk(node) if isinstance(n, ast.Name)}
            name = node.name if isinstance(node, ast.FunctionDef) else ""
            yield module, name, {use for use in uses if use[0] != module or use[1] in own}


def test_every_public_view_is_reached_from_a_table_of_plots_or_from_another_room():
    uses, asked = {}, set()
    for module, name, used in public_functions():
        uses.setdefault((module, name), set()).update(used)
        if not module.startswith("assay.views") or not name:  # another room, or what runs on import and in classes
            asked |= used
    asked |= {(f"assay.views.models.{e.plot.split(':')[0]}", e.plot.split(":")[1]) for e in MODELS.values()}
    asked |= {(f"assay.views.results.{where.split(':')[0]}", where.split(":")[1]) for where in RESULTS.values()}
    asked |= {("assay.views.plot", "plot"), ("assay.views.html.saving", "save"), ("assay.views.html.sheet", "framed")}
    reached = set()
    while asked - reached:
        new = asked - reached
        reached |= new
        asked |= set().union(*(uses.get(key, set()) for key in new))
    public = {key for key in uses if key[0].startswith("assay.views") and key[1] and key[1][0] != "_"}
    assert public - reached == set()


def test_every_plot_that_a_table_names_can_be_found():
    for entry in MODELS.values():
        assert callable(found_function(entry.plot, "models"))
    for where in RESULTS.values():
        assert callable(found_function(where, "results"))
