"""Trials of a decision process: what was done in which state, what it gave, and where it led.

A row is a step: in `state` the `action` was taken and gave `reward`. It led to the next state that the row names, or
else to the state of the next step of its trial. Of the last action of a trial that is cut off it is not known where it
led: its reward counts, its transition does not.

A trial ended only where the table says so: by a column such as `terminated`; where there is none, by a last row with a
state and no action, the end, whose reward is what ending there is worth; or because the user says that all did. Where
it ended is a state without actions. If others went on from a state of that name, it is called "name (ended)"; where no
row names it, "end".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.arrays import Array, Mask, Whole
from assay.errors import DataError
from assay.models.decision.mdp.layout import Names
from assay.models.decision.mdp.learning.cells import TrialCells, read_cells

_LARGEST = 1e150
UNKNOWN = -1  # where an action led, when nobody knows


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """Steps of trials as numbers, by trial and in order.

    Attributes:
        trial: (z,) number of the trial of each step, ascending.
        state: (z,) number of the state.
        action: (z,) number of the action.
        reward: (z,) what it gave.
        after: (z,) number of the state that it led to, -1 where that is not known.
        begin: (T,) the first state of each trial.
        ended: (T,) whether the trial ended, rather than being cut off.
        ends: (n,) the states in which trials ended.
        final: (n,) what ending there was worth, on average; 0 elsewhere.
        states: n names.
        actions: k names.
        notes: what was decided on the way, counted.
    """

    trial: Whole
    state: Whole
    action: Whole
    reward: Array
    after: Whole
    begin: Whole
    ended: Mask
    ends: Mask
    final: Array
    states: Names
    actions: Names
    notes: tuple[str, ...] = ()

    @property
    def n_trials(self) -> int:
        """How many trials there are."""
        return len(self.begin)

    def only(self, kept: Mask) -> Trials:
        """Some of the trials, with the names of all.

        Args:
            kept: (T,) which.
        """
        rows = kept[self.trial]
        return Trials(
            (np.cumsum(kept) - 1)[self.trial[rows]], self.state[rows], self.action[rows], self.reward[rows],
            self.after[rows], self.begin[kept], self.ended[kept], self.ends, self.final, self.states, self.actions,
            self.notes,
        )  # fmt: skip


def read_trials(data: Any, *, ended: bool | None = None, **columns: str | None) -> Trials:
    """Read trials from a table.

    Args:
        data: whatever `assay.read` takes, or a list of rows.
        ended: whether every trial came to its end with its last action; as the table says when not given.
        columns: which column is the `trial`, `step`, `state`, `action`, `reward`, `next_state`, or says whether a trial
            is `done`, where their usual names would not find them.
    """
    cells = read_cells(data, columns)
    notes: list[tuple[str, int]] = []
    order, trial, n_trials = _in_order(cells, notes)
    state, action, reward = cells.state[order], cells.action[order], cells.reward[order]
    last = np.append(trial[1:] != trial[:-1], True)
    over = np.zeros(len(order), np.bool_) if cells.done is None else cells.done[order]
    blank = action < 0
    _check(cells, order, trial, last, blank, reward, over)
    follows = np.where(last, UNKNOWN, np.append(state[1:], UNKNOWN))
    if cells.step is not None:
        follows = _without_gaps(cells.step[order], last, follows, notes)
    after = follows
    if cells.after is not None:
        after = cells.after[order]
        other = (after >= 0) & (follows >= 0) & (after != follows)
        notes.append(("Steps whose next state is not the state of the next row, taken as they say", int(other.sum())))
        after = np.where(after >= 0, after, follows)
    closing = np.append(blank[1:] & ~last[:-1], False)  # steps before a row without an action
    final_step = (last & ~blank) | closing
    if cells.done is None:
        over = closing | (last & ~blank & bool(ended))
    else:
        over = over | np.append(over[1:] & closing[:-1], False)
    over &= final_step
    states, ends, after, called = _named_ends(cells, state, blank, over, after, notes)
    final = _worth(called, over & closing, blank, reward, len(states), notes)
    begin = np.flatnonzero(np.append(True, last[:-1]))
    did_end = np.bincount(trial[over], minlength=n_trials) > 0
    _count(notes, did_end, blank, last, begin, after, final_step & ~over & ~blank, cells)
    acting = ~blank
    if not acting.any():
        raise DataError(f"{cells.table.name} holds no action: there is nothing to learn from; give the actions taken")
    return Trials(
        trial=trial[acting],
        state=state[acting],
        action=action[acting],
        reward=reward[acting],
        after=after[acting],
        begin=state[begin],
        ended=did_end,
        ends=ends,
        final=final,
        states=states,
        actions=cells.actions,
        notes=tuple(f"{what}: {count:,}." for what, count in notes if count),
    )


def _in_order(cells: TrialCells, notes: list[tuple[str, int]]) -> tuple[Whole, Whole, int]:
    """Rows by trial and step, and the number of each row's trial, in the order in which trials begin."""
    z = len(cells.state)
    trial = cells.trial
    if trial is None:
        assert cells.done is not None
        trial = np.cumsum(np.append(False, cells.done[:-1]))
    heads = np.full(int(trial.max()) + 1, z)
    heads[trial[::-1]] = np.arange(z)[::-1]
    order = np.argsort(heads, kind="stable")
    rank = np.empty(len(heads), np.int64)
    rank[order] = np.arange(len(heads))
    number, heads = rank[trial], heads[heads < z]
    step = np.arange(z, dtype=np.float64) if cells.step is None else cells.step
    ahead, same = np.diff(number), number[1:] == number[:-1]
    sorted_ = bool((ahead >= 0).all() and (np.diff(step)[same] >= 0.0).all())
    order = np.arange(z) if sorted_ else np.lexsort((step, number))
    if not sorted_:
        by_trial = np.argsort(number, kind="stable")
        notes.append(("Rows that were not in the order of their steps, put in order", int((order != by_trial).sum())))
    number, step = number[order], step[order]
    twice = np.flatnonzero((number[1:] == number[:-1]) & (step[1:] == step[:-1]))
    if len(twice):
        row, before = sorted((int(order[twice[0] + 1]), int(order[twice[0]])), reverse=True)
        raise DataError(
            f"{cells.at(row)}: step {step[twice[0]]:g} of this trial was given before, in {cells.at(before)}; each "
            f"step of a trial has one row ({len(twice):,} are repeated): leave one out, or name trials apart"
        )
    return order, number, len(heads)


def _check(cells: TrialCells, order: Whole, trial: Whole, last: Mask, blank: Mask, reward: Array, over: Mask) -> None:
    early = np.flatnonzero(blank & ~last)
    if len(early):
        raise DataError(
            f"{cells.at(int(order[early[0]]))}: there is no action, but the trial goes on after it; only the last row "
            "of a trial, the state in which it ended, has none"
        )
    wrong = np.flatnonzero(np.where(blank, np.isinf(reward), ~np.isfinite(reward)))
    if len(wrong):
        value = reward[wrong[0]]
        raise DataError(
            f"{cells.at(int(order[wrong[0]]))}: the reward is {'missing' if np.isnan(value) else f'{value:g}'}, but "
            f"every action has a finite one ({len(wrong):,} rows lack it): repair the row, or leave its trial out"
        )
    huge = np.flatnonzero(np.abs(reward) > _LARGEST)
    if len(huge):
        raise DataError(
            f"{cells.at(int(order[huge[0]]))}: the reward is {reward[huge[0]]:g}, and squares of such numbers leave "
            "the range of floating point; give rewards in a larger unit"
        )
    # a row without an action may follow the step that ended the trial
    goes_on = np.flatnonzero(over & ~last & ~np.append(blank[1:] & (trial[1:] == trial[:-1]), False))
    if len(goes_on):
        raise DataError(
            f"{cells.at(int(order[goes_on[0]]))}: the trial ended with this step, but it has later steps; give what "
            "comes after another name of its trial"
        )


def _without_gaps(step: Array, last: Mask, follows: Whole, notes: list[tuple[str, int]]) -> Whole:
    """Where steps count by one, a step left out hides where the one before it led."""
    apart = np.diff(step)[~last[:-1]]
    if not len(apart) or not (step == np.rint(step)).all() or np.median(apart) != 1.0:
        return follows
    gap = np.append((np.diff(step) > 1.0) & ~last[:-1], False)
    notes.append(("Steps after which rows are missing, so that it is not known where they led", int(gap.sum())))
    return np.where(gap, UNKNOWN, follows)


def _named_ends(
    cells: TrialCells, state: Whole, blank: Mask, over: Mask, after: Whole, notes: list[tuple[str, int]]
) -> tuple[Names, Mask, Whole, Whole]:
    """Names of states with those of ends among them, which are ends, where steps lead, and the end behind each step."""
    names, n = list(cells.states), len(cells.states)
    acting = np.zeros(n, np.bool_)
    acting[state[~blank]] = True
    reached = after[over]
    nowhere = bool((reached < 0).any())
    twice = np.unique(reached[reached >= 0][acting[reached[reached >= 0]]])
    place = np.arange(n + 1)
    place[twice] = n + np.arange(len(twice))
    names += [f"{cells.states[s]} (ended)" for s in twice.tolist()]
    if nowhere:
        place[-1] = len(names)
        names.append("end" if "end" not in names else "end (not named)")
    else:
        place[-1] = UNKNOWN
    called = np.where(over, place[after], UNKNOWN)
    ends = np.zeros(len(names), np.bool_)
    ends[called[over]] = True
    went_on = int(np.isin(reached, twice).sum())
    notes.append(('Trials that ended in a state in which others went on, which is called "... (ended)"', went_on))
    return tuple(names), ends, np.where(over, called, after), called


def _worth(called: Whole, closed: Mask, blank: Mask, reward: Array, n: int, notes: list[tuple[str, int]]) -> Array:
    """(n,) the average reward of rows without an action, by the end they are; others are counted."""
    mine = np.flatnonzero(closed) + 1
    total = np.bincount(called[mine - 1], np.nan_to_num(reward[mine], nan=0.0), minlength=n)
    count = np.bincount(called[called != UNKNOWN], minlength=n)
    lost = np.setdiff1d(np.flatnonzero(blank), mine)
    unused = int(np.count_nonzero(np.nan_to_num(reward[lost], nan=0.0)))
    notes.append(("Rewards of rows without an action in trials that did not end, left out", unused))
    return np.asarray(np.divide(total, count, out=np.zeros(n), where=count > 0))


def _count(
    notes: list[tuple[str, int]], ended: Mask, blank: Mask, last: Mask, begin: Whole, after: Whole,
    cut: Mask, cells: TrialCells,
) -> None:  # fmt: skip
    sizes = np.diff(np.append(begin, len(last)))
    notes.append(("Trials of a single row", int((sizes == 1).sum())))
    lost = int((cut & (after < 0)).sum())
    if not ended.any() and cells.done is None:
        notes.append(
            ("No row says that a trial ended, so all were taken to be cut off, and where their last action led is not "
             "known. If they ended, say so (ended=True), or end each with a row of its last state without an action. "
             "Trials", len(ended))
        )  # fmt: skip
    else:
        notes.append(
            ("Trials that are cut off: the reward of their last action counts, where it led is not known", lost)
        )
