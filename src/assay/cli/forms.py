"""The commands of data that are no tables: decision processes, networks, ratings."""

from typing import Annotated

import typer

from assay.cli import early
from assay.cli.app import command
from assay.cli.options import Debug, Figure, Force, Json, Seed
from assay.cli.output import STANDARD, check_places, draw, write_json
from assay.cli.terminal import explained, progress, terminal

Transitions = Annotated[
    str,
    typer.Argument(
        help="A table of state, action, next, probability, reward; or of trials: trial, step, state, action, reward.",
        show_default=False,
        callback=early.there,
    ),
]
Discount = Annotated[float, typer.Option(help="How much the next step counts, from 0 to 1.", callback=early.share)]


@command("assay mdp trials.csv --discount 0.9")
def mdp(
    file: Transitions,
    discount: Discount = 0.95,
    json: Json = None,
    plot: Figure = None,
    seed: Seed = 0,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Find the best actions of a decision process.

    Says what is best to do in each state and what that is worth; from trials, it learns the process first.
    """
    from assay.models.decision.mdp.learning.cells import holds_trials
    from assay.models.decision.mdp.learning.learn import learn_mdp
    from assay.models.decision.mdp.mdp import MDP
    from assay.report.decision_text import show, show_learned

    learned, process = None, None
    with explained(debug) as step, progress(step) as tell:
        check_places((plot, json), (file,), force=force)
        tell("Reading the table", None, None)
        if holds_trials(file):
            learned = learn_mdp(file, discount, unseen="left out", random_state=seed)
            tell("Drawing trials anew", None, None)
            _ = learned.choices, learned.more_trials
        else:
            process = MDP.read(file, discount)
            tell("Finding the best actions", None, None)
            many = process.n_states > 100_000
            found = process.modified_policy_iteration() if many else process.policy_iteration()
        draw(found if learned is None else learned, plot, tell)
        write_json(found if learned is None else learned, json)
    with explained(debug) as step:
        step.what = "Showing the findings"
        console = terminal(beside=json == STANDARD)
        if learned is not None:
            show_learned(learned, console)
        elif process is not None:
            show(found, process.notes, console)


Edges = Annotated[
    str,
    typer.Argument(help="A list of links: a text file or any table.", show_default=False, callback=early.there),
]
Top = Annotated[int, typer.Option(help="How many nodes to show.", min=1)]
Damping = Annotated[
    float, typer.Option(help="Probability of following a link: at least 0, below 1.", callback=early.share)
]
Proven = Annotated[
    bool, typer.Option("--evidence/--scores", help="Draw intervals and random networks, or scores alone.")
]
OneWay = Annotated[
    bool | None,
    typer.Option("--directed/--undirected", help="Whether links lead one way; as the file says when not given."),
]


@command("assay rank links.csv --top 20")
def rank(
    edges: Edges,
    top: Top = 10,
    json: Json = None,
    damping: Damping = 0.85,
    directed: OneWay = None,
    evidence: Proven = True,
    plot: Figure = None,
    seed: Seed = 0,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Rank the nodes of a network by PageRank.

    With intervals, and which ranks only repeat how many links lead to a node.
    """
    from assay.models.network.pagerank.pagerank import pagerank
    from assay.views.html.escape import visible

    with explained(debug) as step, progress(step) as tell:
        check_places((plot, json), (edges,), force=force)
        tell("Ranking the nodes", None, None)
        ranking = pagerank(
            edges, damping=damping, directed=directed, random_state=seed,
            progress=lambda share: tell("Drawing random networks", None, share),
        )  # fmt: skip
        tell("Drawing links anew", None, None)
        found = ranking.as_dict(top, evidence=evidence)
        draw(ranking, plot, tell)
        write_json(found, json)
    with explained(debug) as step:
        step.what = "Showing the ranking"
        console = terminal(beside=json == STANDARD)
        console.out("\n".join(map(visible, ranking.lines(top, evidence=evidence))), highlight=False)


Rated = Annotated[
    str,
    typer.Argument(
        help="A table with a row for each rating: user, item, rating.", show_default=False, callback=early.there
    ),
]
Whom = Annotated[
    str, typer.Option("--user", help="The user to recommend to, as the table calls him or her.", show_default=False)
]
Best = Annotated[int, typer.Option("-n", "--number", help="How many items to recommend.", min=1)]
Called = Annotated[
    str | None,
    typer.Option(
        "--items",
        help="A table with names of the items, such as movies.csv.",
        show_default=False,
        callback=early.there,
    ),
]
Rank = Annotated[int, typer.Option("--factors", help="How many factors.", min=1)]


@command("assay recommend ratings.csv --user 42 --items movies.csv")
def recommend(
    ratings: Rated,
    user: Whom,
    number: Best = 10,
    items: Called = None,
    factors: Rank = 10,
    json: Json = None,
    plot: Figure = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Recommend items to a user, by the ratings of all."""
    from assay.models.prediction.recommender.item_names import item_names
    from assay.models.prediction.recommender.matrix_factorization import MatrixFactorization
    from assay.report.recommendation_text import as_dict, lines
    from assay.summary.ratings.ratings import Ratings

    with explained(debug) as step, progress(step) as tell:
        check_places((plot, json), (ratings, *([items] if items else [])), force=force)
        tell("Reading the ratings", None, None)
        seen = Ratings.of(ratings)
        seen.user_number(user)  # refuses a name that is not known, before anything is fitted
        names = {} if items is None else item_names(items, seen)
        model = MatrixFactorization(factors, feedback="implicit" if seen.counts else "explicit")
        model.fit_ratings(seen, progress=lambda done, _: tell(f"Fitting {factors} factors, sweep {done}", None, None))
        found = as_dict(model, user, model.recommend(user, number), names)
        draw(model, plot, tell)
        write_json(found, json)
    with explained(debug) as step:
        step.what = "Showing the recommendations"
        console = terminal(beside=json == STANDARD)
        console.out("\n".join(lines(found)), highlight=False)
