"""Wordings of events about a plan's text, and of questions and answers about it."""

from __future__ import annotations

from typing import Final

from asbuilt.cli.wording.work import Words, wording
from asbuilt.events import approvals, plans

_INTENT: Final = 15
"""Characters of an intent's digest that are shown."""


def _answered(event: approvals.ApprovalAnswered) -> Words:
    note = f": {event.note}" if event.note else ""
    return "ANSWERED", f"a{event.number}: {event.answer}{note}", True


def _taken(event: plans.AnswerTaken) -> Words:
    answer = ": ".join(filter(None, (event.answer, event.note)))
    return "TAKEN", f"answer to the earlier text: {answer}", True


def _draft(event: plans.DraftWritten) -> Words:
    label = f", {event.label}" if event.label else ""
    return "DRAFT", f"revision {event.number} by {event.by}{label}", True


def _approved(event: plans.PlanApproved) -> Words:
    text = "the edited text" if event.edited else "the text"
    return "APPROVED", f"{text} {event.intent[:_INTENT]}, by {event.by}", True


def _completed(event: plans.PlanCompleted) -> Words:
    text = "by hand" if event.by == "hand" else "every phase of the plan is done"
    return "COMPLETE", "; check: ".join(filter(None, (text, "; ".join(event.gaps)))), True


PLANS: Final = (
    wording(approvals.ApprovalAsked, lambda event: ("ASKS", f"a{event.number}: {event.question}", True)),
    wording(approvals.ApprovalAnswered, _answered),
    wording(plans.AnswerTaken, _taken),
    wording(
        approvals.ApprovalPutOff, lambda event: ("LATER", f"a{event.number} is left open by {event.by}", True)
    ),
    wording(
        approvals.ReviewAsked,
        lambda event: ("REVIEW", f"a{event.question} is pull request #{event.pull}: {event.url}", True),
    ),
    wording(approvals.ReviewClosed, lambda event: ("REVIEW", f"{event.why}; it is looked at no more", True)),
    wording(plans.PlanRefining, lambda event: ("REFINE", f"{event.change}, by {event.by}", True)),
    wording(plans.DraftWritten, _draft),
    wording(plans.DraftSetup, lambda event: ("SETUP", f"for the draft's checks: {event.command}", True)),
    wording(
        plans.DraftTried, lambda event: ("TRIED", f"checks of revision {event.number}: {event.told}", True)
    ),
    wording(
        plans.PlanRedrafted,
        lambda redraft: (
            "REDRAFT",
            f"attempt {redraft.attempt.rpartition('.')[2]}, {redraft.agent}: {redraft.ending}",
            True,
        ),
    ),
    wording(plans.PlanApproved, _approved),
    wording(
        plans.PlanCarried,
        lambda event: ("APPROVED", f"still, with its numbers put right: {event.intent[:_INTENT]}", True),
    ),
    wording(plans.PlanFiled, lambda event: ("WROTE", event.path, True)),
    wording(plans.PlanMarked, lambda _: ("MARKED", "the plan's outcomes are written", False)),
    wording(
        plans.PlanCompleted,
        _completed,
    ),
    wording(
        plans.PlanNoted, lambda event: ("NOTE", f"{event.by} tells the next attempt: {event.note}", True)
    ),
    wording(plans.PlanCompared, lambda _: ("COMPARED", "the plan's text with what is proven", False)),
    wording(
        plans.PlanDiffers, lambda _: ("DIFFERS", "its text was changed in the plan after it was frozen", True)
    ),
)
