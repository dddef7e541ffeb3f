"""What is best to do in each state, and is that better than what was done?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.asking.question import Context, Option, QuestionOf

if TYPE_CHECKING:
    from assay.asking.subject import Subject
    from assay.models.decision.mdp.learning.trials import Trials
    from assay.questions.policy.answer import Policy


class _Policy(QuestionOf["Subject[Trials]"]):
    form = "trials"
    name = "policy"
    wording = "Does it matter what is done, and what is best?"
    reading = (
        "The best actions are learned from one half of the trials and measured on the other. Chance is the "
        "same with actions exchanged within states, so that they cannot matter."
    )
    guide = "guide/learning-decisions.md"
    options = (
        Option("discount", "How much the next step of a trial counts, 0 to 1 (trials; .95 if not said).", type=float),
    )
    priority = 15

    def why_not(self, table: Subject[Trials], context: Context) -> str:
        from assay.questions.policy.test import why_not

        return why_not(table.value)

    def ask(self, table: Subject[Trials], context: Context) -> Policy | None:
        from assay.questions.policy.test import policy

        return policy(
            table.value, context.options.get("discount"), context.level, context.seed, context.told("Best actions")
        )


QUESTION = _Policy()
