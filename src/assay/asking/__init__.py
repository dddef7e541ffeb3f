"""What every question and every answer has in common, so that the study, the report and the command line know none of
them by name: the contract, the table that is asked, the words for verdicts, and how questions are found.

What a question of your own needs is importable from here; docs/guide/own-question.md shows one.
"""

from assay.asking.answer import Answer
from assay.asking.finding import Finding
from assay.asking.question import Context, Option, Question, QuestionOf
from assay.asking.subject import Subject
from assay.asking.words import Words
from assay.data.as_frames import table_of
from assay.evidence.evidence import Evidence, Null, verdict_of
from assay.views.html.view import View

__all__ = [
    "Answer", "Context", "Evidence", "Finding", "Null", "Option", "Question", "QuestionOf", "Subject", "View", "Words",
    "table_of", "verdict_of",
]  # fmt: skip
