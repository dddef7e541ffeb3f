"""How much a study spends on telling structure from chance.

Level, laws and looks are the same for each: a quick study draws chance less often, so that it finds less, and leaves
out the questions that cost most (`QuestionOf.costly`); a thorough one draws more often and can tell smaller p-values.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast, get_args

from assay.errors import ParameterError

Effort: TypeAlias = Literal["quick", "standard", "thorough"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
LEFT_OUT = "a quick study leaves it out, as it takes long"


def checked_effort(effort: Any) -> Effort:
    """The effort, refused where it is none.

    Args:
        effort: as the user said it.

    >>> checked_effort("quick")
    'quick'
    """
    if effort not in EFFORTS:
        raise ParameterError(f"effort is quick, standard or thorough; got {effort!r}")
    return cast(Effort, effort)
