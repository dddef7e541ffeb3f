"""What can be seen of a prediction: numbers, classes, two sides that have something in common, a delay.

Run `python examples/prediction.py [folder]`. Writes numbers.html (ridge regression on 442 patients), classes.html
(Fisher's discriminant, a margin, a rule for tumours, digits with refusal) and together.html (correlations, canonical
pairs, a delay) into the folder, by default the current one.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_predict

import assay
from assay.summary.graph.seriation import fiedler_positions, order_of
from assay.views.columns.canonical_pairs import canonical_pairs_view, loadings_view
from assay.views.columns.correlation import correlation_view
from assay.views.columns.delay import delay_view
from assay.views.html.figure_file import write_figure
from assay.views.prediction.complexity import complexity_curve_view
from assay.views.prediction.confusion import confusion_view
from assay.views.prediction.margin import margin_view
from assay.views.prediction.path import coefficient_path_view
from assay.views.prediction.prediction import prediction_view
from assay.views.prediction.refusal import refusal_view
from assay.views.prediction.residuals import residual_view
from assay.views.prediction.roc import calibration_view, roc_view
from assay.views.rows.variates import canonical_variates_view


def numbers(folder):
    """Progress of diabetes after a year, predicted from ten measurements."""
    table = load_diabetes()
    X, y = table.data / table.data.std(axis=0), table.target
    model = assay.Ridge("held-out", random_state=0).fit(X, y)
    predicted = cross_val_predict(assay.Ridge(model.alpha_), X, y, cv=10)
    left = y - predicted
    r_squared = 1 - np.sum(left**2) / np.sum((y - y.mean()) ** 2)
    reach = np.quantile(np.abs(left), 0.9)
    path = model.path(model.alphas_)
    curve = assay.complexity_curve(assay.Ridge(), "alpha", list(model.alphas_[::3]), X, y, cv=5, simplest="last")
    rows = assay.learning_curve(assay.Ridge(model.alpha_), X, y, cv=5)
    unit = "progress score"
    figures = {
        "Prediction against truth": prediction_view(y, predicted, r_squared=r_squared, unit=unit),
        "With 90% intervals, 80 patients": prediction_view(
            y[:80], predicted[:80], intervals=np.stack([predicted - reach, predicted + reach], axis=1)[:80], unit=unit
        ),
        **residual_view(predicted, left, unit=unit),
        "Coefficients over the penalty": coefficient_path_view(
            path.alphas, path.coef, table.feature_names, chosen=model.alpha_, y_label="score per standard deviation"
        ),
        "Choosing the penalty": complexity_curve_view(
            curve.param_range, curve.training_mean, curve.held_out_mean, curve.held_out_error,
            chosen=curve.param_range[curve.best], one_standard_error=curve.choice, x_label="penalty",
            y_label="squared error",
        ),
        "Would more patients help?": complexity_curve_view(
            rows.sizes, rows.training_mean, rows.held_out_mean, rows.held_out_error, x_label="patients to learn from",
            y_label="squared error", logarithmic=False,
        ),
    }  # fmt: skip
    print(f"diabetes: R2 {r_squared:.3f} on held-out patients, penalty {model.alpha_:.3g}")
    return write_figure(figures, folder / "numbers.html", "Progress of diabetes, predicted")


def classes(folder):
    """Wines, irises, tumours and digits: groups told apart, and how often wrongly."""
    wine, iris, tumour, digits = load_wine(), load_iris(), load_breast_cancer(), load_digits()
    fisher = assay.Fisher().fit(wine.data, wine.target)
    two = iris.target > 0
    petals, kinds = iris.data[two][:, 2:], iris.target_names[iris.target[two]]
    margin = assay.SVM(kernel=assay.Linear(), C=1.0).fit(petals, kinds)
    benign = cross_val_predict(assay.GaussianRule(), tumour.data[:, :5], tumour.target, cv=10, method="predict_proba")
    curve = assay.roc(tumour.target_names[tumour.target], benign[:, 0], positive="malignant")
    said = assay.calibration(tumour.target, benign[:, 1])
    called = cross_val_predict(assay.NaiveBayes(), digits.data, digits.target, cv=5)
    found = assay.confusion(digits.target, called)
    half = np.arange(len(digits.target)) % 2 == 0
    refusal = assay.SubspaceClassifier(6).fit(digits.data[half], digits.target[half])
    refusal = refusal.refusal_curve(digits.data[~half], digits.target[~half])
    figures = {
        "Three cultivars on their canonical variates": canonical_variates_view(
            fisher.transform(wine.data), [f"cultivar {c + 1}" for c in wine.target],
            share=fisher.explained_variance_ratio_,
        ),
        "A margin between two irises": margin_view(
            petals, kinds, margin.decision_function, support=margin.support_,
            axes=("petal length (cm)", "petal width (cm)"),
        ),
        "Malignant tumours found": roc_view(
            curve.false_positive, curve.true_positive, area=curve.area, interval=curve.interval,
            band=(curve.band_at, curve.lower, curve.upper), thresholds=curve.thresholds, positive="malignant",
        ),
        "Do probabilities come true?": calibration_view(
            said.predicted, said.observed, said.counts, lower=said.lower, upper=said.upper, edges=said.edges,
            error=said.error, event="was benign",
        ),
        "Digits confused by naive Bayes": confusion_view(found.matrix, found.classes),
        "Digits refused by a subspace classifier": refusal_view(refusal.refused, refusal.accuracy),
    }  # fmt: skip
    low, high = curve.interval
    print(f"tumours: area {curve.area:.3f} ({low:.3f} to {high:.3f}); digits: {found.accuracy:.1%} right")
    return write_figure(figures, folder / "classes.html", "Groups told apart")


def together(folder):
    """Which measurements of a tumour go together, and how far one series runs behind another."""
    table = load_breast_cancer()
    found = assay.dependence(table.data, columns=list(table.feature_names))
    sure = np.eye(30, dtype=bool)
    real = found.pairs.q <= 0.05
    sure[found.pairs.first[real], found.pairs.second[real]] = True
    means, errors = table.data[:, :10], table.data[:, 10:20]
    pairs = assay.CCA(3, ridge="held-out").fit(means, errors)
    u, v = pairs.transform(means, errors)
    rng = np.random.default_rng(0)
    lead = rng.standard_normal(200)
    behind = np.roll(lead, 3) + 1.5 * rng.standard_normal(200)
    delay = assay.TemporalCCA(lags=range(-8, 9)).fit(lead[:, None], behind)
    figures = {
        "Thirty measurements of tumours": correlation_view(
            found.pearson, found.columns, order=order_of(fiedler_positions(np.abs(found.rank))), rank=found.rank,
            supported=sure | sure.T,
        ),
        "What carries the first pair": loadings_view(
            pairs.x_loadings_[:, 0], pairs.y_loadings_[:, 0], table.feature_names[:10], table.feature_names[10:20],
            sides=("means", "standard errors"),
        ),
        **canonical_pairs_view(
            u, v, pairs.variate_correlations_, pairs.held_out_correlations_, sides=("means", "standard errors")
        ),
        "How far behind": delay_view(
            delay.lags_, delay.canonical_correlogram_[:, 0], delay.delay_, chance=1.96 / np.sqrt(200), unit="steps"
        ),
    }  # fmt: skip
    print(f"first pair: {pairs.held_out_correlations_[0]:.3f} on held-out rows; delay {delay.delay_} of 3")
    return write_figure(figures, folder / "together.html", "What goes together")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    print("wrote", numbers(target), classes(target), together(target))
