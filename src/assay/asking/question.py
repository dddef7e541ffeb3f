"""A question that can be put to data: what it is called, what the user may tell it, when it applies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from assay.asking.effort import Effort
from assay.asking.telling import Telling

if TYPE_CHECKING:  # questions are listed by the command line, which must start quickly
    from assay.asking.answer import Answer
    from assay.asking.table import Table  # noqa: F401, by its name, of what Question is asked

Asked = TypeVar("Asked")
T = TypeVar("T")
Tell: TypeAlias = Callable[[str, int | None, float | None], object]


@dataclass(frozen=True, slots=True)
class Option:
    """What the user may tell a question: a keyword of `assay.study`, and a flag of the command line.

    Attributes:
        name: the keyword; the flag is `--name`, with hyphens for underscores.
        help: what it is for, one sentence.
        many: whether it takes several values; the flag may then be repeated.
        type: of a value: str, int, float or bool.
        outcome: whether it names a column that is an outcome. Rows that lack it are left out, and questions that are
            not about all columns are asked of the other ones.
    """

    name: str
    help: str
    many: bool = False
    type: type = str
    outcome: bool = False

    @property
    def empty(self) -> Any:
        """Its value where the user says nothing."""
        return () if self.many else False if self.type is bool else None


def _silent(what: str, done: int | None, fraction: float | None) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Context:
    """How a question is asked.

    Attributes:
        seed: of everything random.
        level: level of the study.
        options: what the user told this question, by name; what was not said is empty.
        tell: told what is being done.
        effort: how much is spent on telling structure from chance.
        heading: which question of how many is asked, where a study asks it; empty elsewhere.
    """

    seed: int = 0
    level: float = 0.05
    options: Mapping[str, Any] = field(default_factory=dict)
    tell: Tell = _silent
    effort: Effort = "standard"
    heading: str = ""

    def by_effort(self, quick: T, standard: T, thorough: T) -> T:
        """What belongs to the effort of the study, such as how many draws are made.

        >>> Context(effort="quick").by_effort(39, 199, 999)
        39
        """
        return {"quick": quick, "standard": standard, "thorough": thorough}[self.effort]

    def told(self, question: str) -> Telling:
        """Tell what is being done for a question, and which share of it is.

        Args:
            question: in a word or two, for where no study says which one is asked.

        >>> Context(tell=print).told("Groups")("grouping")
        Groups: grouping None None
        """
        return lambda what, share=None: self.tell(what if self.heading else f"{question}: {what}", None, share)

    def under(self, heading: str) -> Context:
        """The same for one question of several; all that it tells comes under a heading.

        Args:
            heading: which question is asked.

        >>> Context(tell=print).under("2 of 8: Which rows do not belong?").told("Rows")("looking for gaps")
        2 of 8: Which rows do not belong? Looking for gaps None None
        """

        def tell(what: str, done: int | None, fraction: float | None) -> None:
            # a share with the time that is left says enough, in a line that has to be short
            short = done is None and fraction is not None
            self.tell(heading if short else f"{heading} {what[:1].upper()}{what[1:]}".rstrip(), done, fraction)

        return replace(self, heading=heading, tell=tell)


class QuestionOf(ABC, Generic[Asked]):
    """A question. A folder of `assay.questions`, or an entry point of a group of that name, holds one as QUESTION.

    It is asked of data of one form: `Question` of a table; of a network, of ratings or of trials it is a
    `QuestionOf[Subject[...]]` that names the form (see `assay.study.forms`).

    Attributes:
        form: of the data it is asked of, such as "table" or "network".
        name: one word, under which its answer is kept.
        wording: the question as the ledger prints it.
        reading: how to read its answer, two sentences that stand with its findings and views; may be empty.
        guide: the page of the documentation that says more, such as "guide/components.md"; may be empty.
        options: what the user may tell it.
        priority: its place among findings and on the page; what has a smaller one comes first.
        costly: whether a quick study leaves it out.
    """

    form: ClassVar[str]
    name: ClassVar[str]
    wording: ClassVar[str]
    reading: ClassVar[str] = ""
    guide: ClassVar[str] = ""
    options: ClassVar[tuple[Option, ...]] = ()
    priority: ClassVar[int] = 100
    costly: ClassVar[bool] = False

    def why_not(self, table: Asked, context: Context) -> str:
        """Why it does not apply to these data, in words; empty where it does.

        Args:
            table: the data.
            context: how it would be asked.
        """
        return ""

    def concerns(self, table: Asked) -> bool:
        """Whether the data have what it is about; where not, the ledger does not even say that it was not asked.

        Args:
            table: the data.
        """
        return True

    def asked_for(self, context: Context) -> bool:
        """Whether it is to be asked at all: a question that needs to be told something waits for it."""
        return True

    @abstractmethod
    def ask(self, table: Asked, context: Context) -> Answer | None:
        """The answer; None where nothing could be compared.

        Args:
            table: the data.
            context: how to ask.
        """


class Question(QuestionOf["Table"]):
    """A question that is asked of a table.

    Attributes:
        whole: whether it is asked of all columns, outcomes of other questions among them.
        of_summaries: whether it can be asked where there are no rows, only moments: see `Table.summarised`.
        sparse: whether it is also asked of columns that lack more than half of their values, and so heeds the gaps.
    """

    form: ClassVar[str] = "table"
    whole: ClassVar[bool] = False
    of_summaries: ClassVar[bool] = False
    sparse: ClassVar[bool] = False
