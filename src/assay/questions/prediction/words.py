"""What can be predicted, in plain words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.asking.words import SURVIVED, Words, chance, listed, one_line
from assay.questions.prediction.answer import Prediction
from assay.questions.prediction.better import LEAST
from assay.questions.prediction.machines import Kind
from assay.questions.prediction.sure import COVERED
from assay.views.axes.numbers import count, fraction, number, percent

_NAMED = 3  # columns, in the sentence
_HARDLY = 0.005  # of the variance

WORDS = Words(
    "prediction",
    "predictions",
    statistic="Share of variance explained on unseen rows",
    statistic_format=percent,
    held_out="of the variance explained",
    held_out_format=percent,
)
_CLASS_WORDS = replace(
    WORDS,
    statistic="Fall of the squared error on unseen rows",
    held_out="less squared error than by the shares of classes",
)


def subject(found: Prediction) -> str:
    """What is predicted, and from which columns above all."""
    return f"{found.target} from {listed(_telling(found))}"


def words_of(found: Prediction) -> Words:
    """How its evidence is spoken of: a class has no variance, and chance is compared with what no trend explains."""
    words = _CLASS_WORDS if found.classes else WORDS
    return replace(words, statistic=f"{words.statistic}, without the straight trend") if _trend(found) else words


def line(found: Prediction) -> str:
    """How much of the target is known on unseen rows, or which column gives it away."""
    verdict = found.evidence.verdict
    if found.leaks:
        leak = found.leaks[0].name
        return one_line(lambda short: f"{short(found.target)} is given away by {short(leak)}: a probable leak")
    size = f"{percent(max(found.evidence.held_out or 0.0, 0.0))} of its variance on unseen rows"
    if found.classes:
        size = f"{percent(found.right)} of unseen rows right, the largest class is {percent(found.largest)}"
    can = {"supported": "can be predicted", "suggestive": "can perhaps be predicted"}
    return one_line(lambda short: f"{short(found.target)} {can.get(verdict, 'cannot be predicted')}: {size}")


def sentence(found: Prediction) -> str:
    """How much of the target is known on unseen rows and by what, how sure a prediction is, and what chance does."""
    told = _cannot(found) if found.evidence.verdict not in SURVIVED else _can(found)
    return " ".join(part for part in (_leaks(found), *told, _left(found), _of_all(found)) if part)


def _of_all(found: Prediction) -> str:
    """Which rows were looked at, where these are not all."""
    n, total = found.evidence.n, found.total
    return f"Learned from and judged by {count(n)} rows, drawn fairly of {count(total)}." if total else ""


def machine_name(kind: Kind) -> str:
    """A machine in words that fit after "by"."""
    return {
        "line": "a line",
        "curves": "a sum of one curve for each column",
        "kernel": "a rule in which columns act together (a Gaussian kernel)",
    }[kind]


def points(share: float) -> str:
    """A share as points of a hundred, whole from one on.

    >>> points(0.034), points(-0.0042), points(0.0004)
    ('3', '−0.4', '0')
    """
    if abs(share) < 0.0005:
        return "0"
    return f"{100.0 * share:.{0 if abs(share) >= 0.0095 else 1}f}".replace("-", "−")


def counted_points(share: float) -> str:
    """The same with their name.

    >>> counted_points(0.01), counted_points(-0.02)
    ('1 point', '−2 points')
    """
    said = points(share)
    return f"{said} {'point' if said == '1' else 'points'}"


def _size(found: Prediction) -> tuple[str, str, str]:
    """The share explained, its interval, and what chance reaches."""
    evidence = found.evidence
    low, high = (percent(end) for end in evidence.interval or (0.0, 0.0))
    by_chance = ""
    if evidence.null is not None:
        reach = percent(max(evidence.null.upper, 0.0))
        by_chance = f"{found.drawn} reach {reach} one time in twenty ({chance(evidence)})"
        if _trend(found):
            left = percent(max(evidence.statistic, 0.0))
            by_chance = f"without the straight trend from the first row to the last it is {left}; {by_chance}"
    return percent(max(evidence.held_out or 0.0, 0.0)), f"(95% interval {low} to {high})", by_chance


def _trend(found: Prediction) -> bool:
    """Whether chance was compared with what no line from first to last row explains, and that is another number."""
    return percent(found.evidence.statistic) != percent(found.evidence.held_out)


def _cannot(found: Prediction) -> tuple[str, ...]:
    size, interval, by_chance = _size(found)
    known = f"they take {size} {interval} off" if found.classes else f"they explain {size} of"
    what = "the squared error of knowing the shares of classes alone" if found.classes else f"its variance {interval}"
    by = {"line": "a line", "curves": "a curve for each column", "kernel": "a Gaussian kernel"}
    *some, last = [by[kind] for kind in found.reached]
    asked = f"{', '.join(some)} or {last}" if some else last
    # what others find cannot be said not to be there
    cannot = "is not predicted" if found.peer is not None and found.peer.more.sure else "cannot be predicted"
    beyond = " beyond its trend" if _trend(found) else ""
    opening = f"{found.target} {cannot} from the other columns{beyond} by {asked}"
    return (f"{opening}: on unseen rows {known} {what}; {by_chance}.",)


def _can(found: Prediction) -> tuple[str, ...]:
    size, interval, by_chance = _size(found)
    can = "can" if found.evidence.verdict == "supported" else "can perhaps"
    opening = f"{found.target} {can} be predicted from the other columns: on unseen rows"
    if found.classes:
        error = (
            f"The squared error of the predicted classes is {size} {interval} smaller than where only the shares of "
            "the classes are known"
        )
        first, sure = f"{opening} {_classes(found)}. {error}; {by_chance}.", _sets(found)
    else:
        first = f"{opening} they explain {size} of its variance {interval}; {by_chance}."
        sure = f"Of new rows {percent(COVERED)} lie within {number(found.half_width)} of their prediction."
    return first, _others(found), sure, _rests_on(found), _growth(found)


def _leaks(found: Prediction) -> str:
    """Columns that alone give all, named first."""
    if not found.leaks:
        return ""
    units = [leak.name for leak in found.leaks if leak.how == "units"]
    others = [leak.name for leak in found.leaks if leak.how == "all"]
    told = [f"{listed(units)} {'is' if len(units) == 1 else 'are'} {found.target} in other units"] if units else []
    told += (
        [f"{listed(others)} alone {'gives' if len(others) == 1 else 'give'} all of {found.target}"] if others else []
    )
    one = len(found.leaks) == 1
    made = "it may be made from it, or known only with it" if one else "they may be made from it, or known only with it"
    return (
        f"Probable {'leak' if one else 'leaks'}: {'; '.join(told)}; {made}. {_without(found, 'it' if one else 'them')}"
    )


def _without(found: Prediction, them: str) -> str:
    if (rest := found.without) is None:
        return f"Without {them} there is nothing to predict from."
    size, interval, _ = _size(rest)
    if rest.evidence.verdict not in SURVIVED:
        return f"Without {them} {found.target} cannot be told from chance ({chance(rest.evidence)})."
    what = "off the squared error of the shares of classes" if found.classes else "of its variance"
    takes = "the other columns take" if found.classes else "the other columns explain"
    return f"Without {them} {takes} {size} {what} {interval[:-1]}; {chance(rest.evidence)})."


def _others(found: Prediction) -> str:
    """The simplest machine that does it, what a line reaches, and a less simple one that may be better."""
    names = list(found.reached)
    own, place = found.reached[found.machine], names.index(found.machine)
    told = f"The simplest rule that none of the others surely beats is {machine_name(found.machine)}"
    best = max(names[place:], key=lambda kind: found.reached[kind])
    more = found.reached[best] >= own + LEAST
    if not place and not more:
        return f"{told}."
    # kinds are compared in the first repeat, the finding is of all of them
    verb, then = ("is right for", "for ") if found.classes else ("explains", "")
    told += f": on one split into folds it {verb} {percent(max(own, 0.0))}"
    if place:
        told += f", a line alone {then}{percent(max(found.reached['line'], 0.0))}"
    if more:
        told += f"; {machine_name(best)} {verb} {percent(found.reached[best])}, which is not surely more"
    return f"{told}."


def _sets(found: Prediction) -> str:
    if found.sets is None or found.sets.single > 0.9995:
        return ""
    return (
        f"Sets of classes that hold the true one for {percent(COVERED)} of new rows are a single class for "
        f"{percent(found.sets.single)} of them, {number(found.sets.size)} classes on average."
    )


def _rests_on(found: Prediction) -> str:
    """The columns without which most is lost."""
    if (known := found.matters) is None:
        return ""
    if not known.sure:
        return "No column is surely needed by itself: others stand in for it."
    told: list[str] = []
    for k in known.sure[:_NAMED]:
        low, high = known.interval[k]
        lost = points(known.loss[k])
        if not told:  # says once what the points are of
            them = "it" if len(known.names[k]) == 1 else "them"
            does = "the rule takes off the squared error" if found.classes else "the rule explains"
            lost += f" of the {points(known.whole)} points that {does} are lost without {them}"
        told.append(f"{_with(known.names[k])} ({lost}, {points(low)} to {points(high)})")
    rest = len(known.sure) - len(told)
    if rest:
        return f"It rests on {', '.join(told)} and {rest} more."
    return f"It rests on {told[0] if len(told) == 1 else ', '.join(told[:-1]) + ' and ' + told[-1]}."


def _with(names: tuple[str, ...]) -> str:
    """Columns that stand in for each other, as one."""
    return names[0] if len(names) == 1 else f"{names[0]} with {listed(names[1:])}"


def _growth(found: Prediction) -> str:
    if (known := found.growth) is None:
        return ""
    if known.high < _HARDLY:
        return "Twice the rows would hardly bring more."
    would = "With twice the rows the squared error would fall by" if found.classes else "Twice the rows would explain"
    if known.low < _HARDLY and known.twice < _HARDLY:
        return f"{would} {counted_points(known.high)} more at most."
    return f"{would} about {counted_points(known.twice)} more ({points(known.low)} to {points(known.high)})."


def _left(found: Prediction) -> str:
    """What boosted trees find beyond."""
    if (peer := found.peer) is None or not peer.more.sure:
        return ""
    reach = f"are right for {percent(peer.right)}" if found.classes else f"explain {percent(peer.share)}"
    return f"Boosted trees {reach} on the same unseen rows: there is structure that this does not describe."


def _classes(found: Prediction) -> str:
    """How often the class called is right, beside always calling the largest one, and how many of the rarest it finds.

    Right for most rows is no success where one class has most rows.
    """
    low, high = found.right_interval or (0.0, 1.0)
    judged = len(found.truth)
    of = f" of the {count(judged)} judged" if judged < found.evidence.n else ""  # in time the first rows only teach
    interval = f"(95% interval {percent(low)} to {percent(high)})"
    right = f"the class called is right for {percent(found.right)}{of} {interval}"
    counts = None if found.confusion is None else found.confusion.matrix.sum(axis=1)
    alike = counts is not None and len(set(counts[counts > 0].tolist())) == 1
    largest = f"{'each' if alike else 'the largest'} class is {percent(found.largest)}"
    one = "one of them" if alike else "that one"
    would = "would" if found.largest >= found.right else "may"
    better = "" if low > found.largest else f", so calling {one} always {would} do as well"
    if found.confusion is None or counts is None:
        return f"{right}; {largest}{better}"
    hits = found.confusion.matrix.diagonal()
    # where no class is rarer than the others, the one found least often
    least = int(np.where(counts > 0, hits if alike else counts, counts.max() + 1).argmin())
    which = "class found least often" if alike else "rarest class"
    told = f"{count(int(hits[least]))} of {count(int(counts[least]))} of the {which}, {found.classes[least]}, are found"
    area = "" if found.roc is None else f", area under the ROC curve {_area(found.roc.area)}"
    balanced = f"balanced accuracy {percent(found.confusion.balanced_accuracy)}"
    return f"{right}; {largest}{better}; {told}; {balanced}{area}"


def _area(area: float) -> str:
    """An area that lacks little is not called one."""
    return "above .99" if 0.995 <= area < 1.0 else fraction(area)


def _telling(found: Prediction) -> list[str]:
    """What it rests on most: at least half of the largest loss, or of the largest coefficient where nothing holds."""
    if found.matters is not None and found.matters.sure:
        known = found.matters
        return [_with(known.names[k]) for k in known.sure if known.loss[k] >= 0.5 * known.loss[0]]
    size = np.sqrt((found.coefficients**2).sum(axis=1))
    order = np.argsort(-size, kind="stable")
    return [found.columns[j] for j in order if size[j] >= 0.5 * size[order[0]]]
