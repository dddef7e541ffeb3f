"""What can go wrong, as types. Each message says what was wrong, where, and what to do."""

from __future__ import annotations

import sys

from assay.shown import safe


class AssayError(Exception):
    """Base of every error that assay raises on purpose; no secret is in its message, and nothing that acts or hides."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(safe(each) if isinstance(each, str) else each for each in args))


class DataError(AssayError, ValueError):
    """The data cannot be used as they are."""


class UnreadableError(DataError):
    """Bytes of a file cannot be read: they are damaged, cut short or gone."""


class ParameterError(AssayError, ValueError):
    """An option has a value it cannot have."""


class UnknownNameError(ParameterError, KeyError):
    """Nothing has the name that was asked for; the message lists those there are."""

    def __str__(self) -> str:
        """The sentence, which a KeyError would put in quotes."""
        return str(self.args[0]) if self.args else ""


class SingularError(DataError):
    """A matrix has no inverse, or is not positive definite, where one is needed."""


class FileFormatError(DataError):
    """A file is not what it claims to be."""


class EngineError(AssayError, RuntimeError):
    """A cluster cannot be started, reached or used."""


class Caution(UserWarning):
    """Something to be known of a result, in a sentence; base of every warning that assay gives on purpose."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(safe(each) if isinstance(each, str) else each for each in args))


class NotConverged(Caution):
    """A solver stopped before its tolerance was met.

    Wherever scikit-learn is loaded it is one of its `ConvergenceWarning`s too, so that filters for those hold for it.
    """

    def __init__(self, *args: object) -> None:
        join_convergence_warnings()
        super().__init__(*args)


class NotCached(Caution):
    """Compiled code cannot be kept between runs, so that each of them takes longer."""


def join_convergence_warnings() -> None:
    """Make `NotConverged` a `ConvergenceWarning` where scikit-learn is loaded; it is not loaded for that.

    Filters ask `issubclass` of the class of others, which looks at true bases only; and nobody has such a filter before
    scikit-learn is loaded. A warning is made before filters are asked.
    """
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "ConvergenceWarning", None)
    if theirs is not None and theirs not in NotConverged.__bases__:
        NotConverged.__bases__ = (Caution, theirs)
