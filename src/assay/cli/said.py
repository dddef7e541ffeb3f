"""What was said on the command line, as values: pairs, options of readers, and the source that they open."""

from typing import Any

from assay.asking.effort import Effort


def opened_source(
    data: list[str], said: dict[str, Any], fusing: dict[str, Any], options: dict[str, str], form: str | None = None
) -> Any:
    """What is to be studied, opened where something was said about how.

    Args:
        data: as given; several are fused.
        said: of the columns.
        fusing: of columns of several sources.
        options: of the reader.
        form: as which it is read.
    """
    from assay.data.files import archive_kind
    from assay.data.fusion.fuse import fuse
    from assay.data.read import read
    from assay.errors import ParameterError

    how: dict[str, Any] = {name: value(text) for name, text in options.items()}
    if len(data) == 1 and archive_kind(data[0]) is not None:
        if how or any(said.values()):
            raise ParameterError(f"{data[0]} was saved by assay: there is nothing to say about how to read it")
        return data[0]
    if len(data) > 1:
        return fuse(data, **said, **fusing, **how)
    if any(fusing.values()):
        raise ParameterError("--match and --resolve are for several sources; only one was given")
    if not any(said.values()) and (not how or form not in (None, "table")):
        from assay.study.forms.opened import opened

        return opened(data[0], form, how) if how else data[0]
    return read(data[0], **said, **how)


def several_pairs(given: list[str] | None, option: str) -> dict[str, list[str]]:
    """The values of each name, which may come several times.

    Args:
        given: as NAME=VALUE.
        option: how messages call the option.
    """
    pairs_of: dict[str, list[str]] = {}
    for text in given or []:
        for name, one in pairs([text], option).items():
            pairs_of.setdefault(name, []).append(one)
    return pairs_of


def pairs(given: list[str] | None, option: str) -> dict[str, Any]:
    """The value of each name.

    Args:
        given: as NAME=VALUE.
        option: how messages call the option.
    """
    from assay.errors import ParameterError

    pairs_of: dict[str, Any] = {}
    for text in given or []:
        name, sign, told = text.rpartition("=")
        if not sign or not name:
            raise ParameterError(f"{option} takes NAME=VALUE; got {text!r}")
        pairs_of[name] = told
    return pairs_of


def value(text: str) -> str | int | bool:
    """A word as what it means: a whole number, true or false, or itself.

    >>> value("7"), value("yes"), value("tab")
    (7, True, 'tab')
    """
    words = {"true": True, "yes": True, "false": False, "no": False}
    return int(text) if text.isascii() and text.isdigit() else words.get(text.lower(), text)


def effort_of(quick: bool, thorough: bool) -> Effort:
    """The effort that two flags ask for; both at once are refused.

    Args:
        quick: whether less is to be spent.
        thorough: whether more is.

    >>> effort_of(False, True)
    'thorough'
    """
    from assay.errors import ParameterError

    if quick and thorough:
        raise ParameterError("--quick and --thorough contradict each other; give one of them, or none")
    return "quick" if quick else "thorough" if thorough else "standard"


def logs_of(log: str) -> str | list[str]:
    """Which columns enter by their logarithm: a word for a rule, or names.

    >>> logs_of("auto"), logs_of("a,b")
    ('auto', ['a', 'b'])
    """
    return log if log in ("auto", "never") else log.split(",")


def columns_of_place(place: str | None) -> tuple[str, ...]:
    """The columns that say where rows lie.

    >>> columns_of_place("x,y"), columns_of_place(None)
    (('x', 'y'), ())
    """
    return tuple(place.split(",")) if place else ()


def names(given: list[str] | None) -> tuple[str, ...]:
    """Names that came one by one, or several separated by commas.

    >>> names(["a,b", "c"])
    ('a', 'b', 'c')
    """
    return tuple(name.strip() for text in given or [] for name in text.split(",") if name.strip())
