"""A policy as tables: what to do in each state, and what more trials give."""

from __future__ import annotations

import pyarrow as pa

from assay.data.as_frames import records_of, table_of
from assay.questions.policy.answer import Policy


def tables(found: Policy) -> dict[str, pa.Table]:
    """The numbers behind the finding.

    Args:
        found: the answer.
    """
    learned, choices = found.learned, found.learned.choices
    at = {state: i for i, state in enumerate(learned.mdp.states)}
    inside = learned.intervals()
    places = [at[state] for state in choices.states]
    return {
        "states": table_of(
            {
                "state": list(map(str, choices.states)),
                "action": list(map(str, choices.actions)),
                "value": learned.values[places],
                "low": inside.low[places],
                "high": inside.high[places],
                "next_best": pa.array([None if one is None else str(one) for one in choices.others], pa.string()),
                "gain": choices.gain,
                "seen": choices.seen,
                "p": choices.p,
                "q": choices.q,
                "supported": found.clear,
            }
        ),
        "learning_curve": records_of(found.numbers()["curve"], {"trials": int, "value": float}),
    }
