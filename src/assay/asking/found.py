"""Questions find themselves: the folders of `assay.questions`, and the entry points of that name in other packages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from assay.asking.question import Option, QuestionOf
from assay.errors import ParameterError

GROUP = "assay.questions"
# words that `assay.study` and the command line have themselves
TAKEN = frozenset([
    "data", "output", "json", "seed", "random_state", "level", "drop", "sensitive", "kind", "unit", "match", "resolve",
    "option",
    "log", "order", "include_rows", "missing", "progress", "debug", "help", "time", "by", "place", "form",
    "only", "skip", "columns", "force", "config", "effort", "quick", "thorough", "engine", "resume", "tables",
    "skip_unreadable",
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """The questions there are.

    Attributes:
        questions: by priority, then by name.
        broken: sentences on those of other packages that could not be loaded.
    """

    questions: tuple[QuestionOf[Any], ...]
    broken: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        """What users may tell them, each option once: two questions that share one share its value."""
        every = {option.name: option for question in self.questions for option in question.options}
        return tuple(every.values())

    def of(self, form: str) -> Found:
        """Those that are asked of data of this form.

        Args:
            form: such as "table" or "network".
        """
        return Found(tuple(question for question in self.questions if question.form == form), self.broken)

    def checked(self, given: dict[str, object]) -> dict[str, object]:
        """What was told, complete; a name that is no option is refused.

        Args:
            given: by the name of the option.
        """
        known = {option.name: option for option in self.options}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ParameterError(f"no question takes {unknown[0]!r}; they take {', '.join(known) or 'nothing'}")
        values = {name: option.empty for name, option in known.items()} | given
        for name, option in known.items():
            if option.many and isinstance(values[name], str):
                values[name] = (values[name],)
        return values


@cache
def found() -> Found:
    """Look for questions, once."""
    spec = find_spec(GROUP)
    folders = iter_modules(spec.submodule_search_locations if spec else ())
    own = [import_module(f"{GROUP}.{module.name}").QUESTION for module in folders if module.ispkg]
    questions: dict[str, QuestionOf[Any]] = {question.name: question for question in own}
    broken: list[str] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            brought = _brought(point)
            if brought.name in questions:
                raise ParameterError(f"there is a question {brought.name!r} already")
            taken = [option.name for option in brought.options if option.name in TAKEN]
            if taken:
                raise ParameterError(f"its option {taken[0]!r} is a word of the study's own")
        except Exception as error:  # a package of somebody else's must not stop the others
            source = point.dist.name if point.dist else point.value
            why = f"{type(error).__name__}: {error}"
            broken.append(f"The question {point.name!r} of {source} could not be loaded and was not asked ({why}).")
        else:
            questions[brought.name] = brought
    ordered = sorted(questions.values(), key=lambda question: (question.priority, question.name))
    return Found(tuple(ordered), tuple(broken))


def _brought(point: EntryPoint) -> QuestionOf[Any]:
    """The question of another package: an object, a class without arguments, or a module with QUESTION."""
    loaded = point.load()
    question = getattr(loaded, "QUESTION", loaded)
    question = question() if isinstance(question, type) else question
    if not isinstance(question, QuestionOf):
        raise ParameterError(f"{point.value} is no assay.asking.Question but {type(question).__name__}")
    return question
