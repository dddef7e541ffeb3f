"""One word for every picture: a fitted model, a named result, or an answer, as a figure."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from sklearn.utils.validation import check_is_fitted

from assay.errors import ParameterError
from assay.models.registry import MODELS
from assay.public import MODULES
from assay.views.figures import Panel, side_by_side

# the class of a result, and the function of views.results that draws it
RESULTS: dict[str, str] = {
    "ChoiceOfK": "choices:number_of_groups",
    "MixtureChoice": "choices:number_of_components",
    "ScaleChoice": "choices:scale_of_isomap",
    "ComplexityCurve": "choices:complexity",
    "LearningCurve": "choices:learning",
    "RefusalCurve": "choices:refusal",
    "RidgePath": "choices:ridge_path",
    "ElasticNetPath": "choices:ridge_path",
    "MachinePath": "choices:machine_path",
    "ForwardSelection": "choices:selection",
    "Roc": "measures:roc",
    "Calibration": "measures:calibration",
    "Confusion": "measures:confusion",
    "Dependence": "measures:dependence",
    "Moments": "measures:moments",
    "Fidelity": "measures:fidelity",
    "Ordering": "measures:reordered",
    "CoefficientTable": "measures:coefficients",
    "Explained": "measures:explained",
    "EuclideanDimension": "measures:euclidean",
    "Spectrum": "measures:spectrum",
    "Ranking": "measures:ranking",
    "Solution": "decisions:solution",
    "Learned": "decisions:learned",
    "PolicyCurve": "decisions:curve",
    "Exploration": "decisions:exploration",
    "Graph": "network:graph",
    "Communities": "network:communities",
    "RatingsEvidence": "ratings:evidence",
}


def plot(thing: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
    """Draw a fitted model, a result or an answer.

    Args:
        thing: a fitted model of assay; a result such as those of `choose_k`, `roc`, `dependence` or `learning_curve`;
            or anything that has `views()`, as the answers of a study have.
        X: rows, where the picture shows rows: what the model's `fit` takes.
        y: what is true of them, or groups that colour them.
        options: of the picture, such as names of the rows; the guide page of each method shows them.

    Returns:
        A Bokeh figure, or several in one Bokeh layout, whose `figures` are by heading. A notebook shows it as it is;
        `save("x.html")`, `save("x.png")` and `save("x.svg")` write it to a file.

    >>> import numpy as np
    >>> from assay.models.components.pca import PCA
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> list(plot(PCA(2).fit(X), X).figures)
    ['Rows and columns on components 1 and 2', 'What carries components 1 and 2', 'Eigenvalues',
     'Variance carried together']
    """
    model = _registered(thing)
    if model is not None:
        check_is_fitted(thing)
        panels = _called(MODELS[model].plot, "models", thing, X, y, options)
        return side_by_side(panels, model if len(panels) > 1 else f"{model}: {_begun_small(panels[0].title)}")
    views = getattr(thing, "views", None)
    if callable(views) and not isinstance(thing, type):
        if X is not None or y is not None or options:
            raise ParameterError(
                f"the views of {type(thing).__name__} are drawn as they are: plot(it), without options"
            )
        every = views()
        drawn = [view for view in every if view.figure is not None]
        if not drawn:
            remarks = " ".join(filter(None, (view.caption for view in every)))
            raise ParameterError(remarks or f"{type(thing).__name__} has nothing to draw: it did not stand out")
        return side_by_side(drawn, getattr(thing, "wording", "") or type(thing).__name__)
    result = next((c.__name__ for c in type(thing).__mro__ if c.__name__ in RESULTS and _ours(c)), None)
    if result is not None:
        return side_by_side(_called(RESULTS[result], "results", thing, X, y, options))
    raise ParameterError(_what_can_be_drawn(thing))


def _registered(thing: Any) -> str | None:
    """The name of the model that a thing is, or is made from."""
    if isinstance(thing, type):
        return None
    return next(
        (c.__name__ for c in type(thing).__mro__ if c.__name__ in MODELS and c.__module__ == MODULES[c.__name__]),
        None,
    )


def _ours(cls: type[Any]) -> bool:
    return cls.__module__.split(".")[0] == "assay"


def _called(where: str, shelf: str, thing: Any, X: Any, y: Any, options: dict[str, Any]) -> Sequence[Panel]:
    """Call the function that draws it, with what it takes and no more."""
    function = found_function(where, shelf)
    known = list(inspect.signature(function).parameters.values())
    rows = [p.name for p in known[1:] if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    named = [p.name for p in known if p.kind is inspect.Parameter.KEYWORD_ONLY]
    given = [X, y] if y is not None else [X] if X is not None else []
    kind = type(thing).__name__
    if len(given) > len(rows):
        raise ParameterError(
            f"a picture of {kind} takes {' and '.join(rows) if rows else 'no rows'}; got more: see help(assay.plot)"
        )
    wrong = [name for name in options if name not in named]
    if wrong:
        there = f"there are {', '.join(named)}" if named else "there are none"
        raise ParameterError(f"a picture of {kind} has no option {wrong[0]!r}; {there}")
    panels: Sequence[Panel] = function(thing, *given, **options)
    return panels


def found_function(where: str, shelf: str) -> Callable[..., Any]:
    """The function that a table names as "module:function".

    Args:
        where: such as "cluster:kmeans".
        shelf: of views that it is on, "models" or "results".

    >>> found_function("cluster:kmeans", "models").__name__
    'kmeans'
    """
    module, _, name = where.partition(":")
    function: Callable[..., Any] = getattr(import_module(f"assay.views.{shelf}.{module}"), name)
    return function


def _begun_small(words: str) -> str:
    return words[:1].lower() + words[1:]


def _what_can_be_drawn(thing: Any) -> str:
    if isinstance(thing, type):
        return f"{thing.__name__} is a class: plot a fitted one, such as {thing.__name__}(...).fit(X)"
    return (
        f"a {type(thing).__name__} cannot be drawn; assay.plot draws fitted models of assay, results such as those of "
        "choose_k, roc, confusion, dependence, fidelity or learning_curve, and answers of a study, which have views()"
    )
