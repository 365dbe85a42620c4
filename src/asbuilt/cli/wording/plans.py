"""Wordings of events about a plan's text, and of questions and answers about it."""

from __future__ import annotations

from typing import Final

from asbuilt.cli.wording.words import Words, said
from asbuilt.events.approvals import (
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalPutOff,
    ReviewAsked,
    ReviewClosed,
)
from asbuilt.events.plans import (
    AnswerTaken,
    DraftTried,
    DraftWritten,
    PlanApproved,
    PlanCarried,
    PlanCompared,
    PlanCompleted,
    PlanDiffers,
    PlanFiled,
    PlanMarked,
    PlanNoted,
    PlanRedrafted,
    PlanRefining,
)

_INTENT: Final = 15
"""Characters of an intent's digest that are shown."""


def _answered(event: ApprovalAnswered) -> Words:
    note = f": {event.note}" if event.note else ""
    return "ANSWERED", f"a{event.number}: {event.answer}{note}", True


def _taken(event: AnswerTaken) -> Words:
    answer = ": ".join(filter(None, (event.answer, event.note)))
    return "TAKEN", f"what was said to the text before: {answer}", True


def _draft(event: DraftWritten) -> Words:
    label = f", {event.label}" if event.label else ""
    return "DRAFT", f"revision {event.number} by {event.by}{label}", True


def _redrafted(event: PlanRedrafted) -> Words:
    attempt = event.attempt.rpartition(".")[2]
    return "REDRAFT", f"attempt {attempt}, {event.agent}: {event.ending}", True


def _approved(event: PlanApproved) -> Words:
    text = "the edited text" if event.edited else "the text"
    return "APPROVED", f"{text} {event.intent[:_INTENT]}, by {event.by}", True


def _completed(event: PlanCompleted) -> Words:
    return "COMPLETE", "by hand" if event.by == "hand" else "every phase of the plan is done", True


PLANS: Final = (
    said(ApprovalAsked, lambda event: ("ASKS", f"a{event.number}: {event.question}", True)),
    said(ApprovalAnswered, _answered),
    said(AnswerTaken, _taken),
    said(ApprovalPutOff, lambda event: ("LATER", f"a{event.number} is left open by {event.by}", True)),
    said(
        ReviewAsked,
        lambda event: ("REVIEW", f"a{event.question} is pull request #{event.pull}: {event.url}", True),
    ),
    said(ReviewClosed, lambda event: ("REVIEW", f"{event.why}; it is looked at no more", True)),
    said(PlanRefining, lambda event: ("REFINE", f"{event.change}, by {event.by}", True)),
    said(DraftWritten, _draft),
    said(
        DraftTried,
        lambda event: ("TRIED", f"checks of revision {event.number}: {event.told}", True),
    ),
    said(PlanRedrafted, _redrafted),
    said(PlanApproved, _approved),
    said(
        PlanCarried,
        lambda event: ("APPROVED", f"still, with its numbers put right: {event.intent[:_INTENT]}", True),
    ),
    said(PlanFiled, lambda event: ("WROTE", event.path, True)),
    said(PlanMarked, lambda _: ("MARKED", "the plan's outcomes are written", False)),
    said(PlanCompleted, _completed),
    said(PlanNoted, lambda event: ("NOTE", f"{event.by} tells the next attempt: {event.note}", True)),
    said(PlanCompared, lambda _: ("COMPARED", "the plan's text with what is proven", False)),
    said(
        PlanDiffers,
        lambda _: ("DIFFERS", "its text was changed in the plan after it was frozen", True),
    ),
)
