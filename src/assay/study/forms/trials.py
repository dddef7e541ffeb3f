"""Trials of a decision process: what was done in which state, and what it gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.asking.card import DataCard
from assay.asking.subject import Subject
from assay.data.source import Source
from assay.errors import ParameterError
from assay.models.decision.mdp.learning.trials import Trials, read_trials
from assay.study.forms.form import Form, name_of, named
from assay.views.axes.numbers import counted

_TRIAL = frozenset(["trial", "trialid", "episode", "episodeid", "trajectory", "trajectoryid", "run", "runid"])
_OPTIONS = ("trial", "step", "state", "action", "reward", "next_state", "done", "ended")
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class TrialsForm(Form[Trials]):
    """Trials."""

    name = "trials"
    called = "trials of decisions"

    def is_one(self, data: Any) -> str:
        """Trials that were read already."""
        return "they are trials" if isinstance(data, Trials) else ""

    def looks_like_one(self, source: Source) -> str:
        """A trial, a state, an action and a reward, each called so."""
        names = source.arrow_schema.names
        found = [named(names, words) for words in (_TRIAL, *(frozenset([w]) for w in ("state", "action", "reward")))]
        if not all(len(one) == 1 for one in found):
            return ""
        trial, state, action, reward = (one[0] for one in found)
        return f"they have columns {trial!r}, {state!r}, {action!r} and {reward!r}"

    def read(self, data: Any, how: Mapping[str, Any]) -> Subject[Trials]:
        """The trials, with what was decided while they were read in the notes."""
        for option in how:
            if option not in _OPTIONS:
                raise ParameterError(f"trials are read without {option!r}; they take {', '.join(_OPTIONS)}")
        told = dict(how)
        if "ended" in told and not isinstance(told["ended"], bool):
            if str(told["ended"]).lower() not in _YES:
                raise ParameterError(f"ended says yes or no; got {told['ended']!r}")
            told["ended"] = _YES[str(told["ended"]).lower()]
        trials = data if isinstance(data, Trials) else read_trials(data, **told)
        steps = len(trials.state)
        facts = (
            counted(trials.n_trials, "trial"), counted(steps, "step"), counted(len(trials.states), "state"),
            counted(len(trials.actions), "action"),
        )  # fmt: skip
        name = name_of(data, self.name)
        card = DataCard(name, steps, steps, (), trials.notes, form=self.name, facts=facts, units=("trial", "trials"))
        return Subject(self.name, card, trials)


FORM = TrialsForm()
