"""Wordings of events about a plan's text, and of questions and answers about it."""

from __future__ import annotations

from typing import Final

from asbuilt.cli.wording.work import Words, said
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
    said(approvals.ApprovalAsked, lambda event: ("ASKS", f"a{event.number}: {event.question}", True)),
    said(approvals.ApprovalAnswered, _answered),
    said(plans.AnswerTaken, _taken),
    said(
        approvals.ApprovalPutOff, lambda event: ("LATER", f"a{event.number} is left open by {event.by}", True)
    ),
    said(
        approvals.ReviewAsked,
        lambda event: ("REVIEW", f"a{event.question} is pull request #{event.pull}: {event.url}", True),
    ),
    said(approvals.ReviewClosed, lambda event: ("REVIEW", f"{event.why}; it is looked at no more", True)),
    said(plans.PlanRefining, lambda event: ("REFINE", f"{event.change}, by {event.by}", True)),
    said(plans.DraftWritten, _draft),
    said(plans.DraftSetup, lambda event: ("SETUP", f"for the draft's checks: {event.command}", True)),
    said(plans.DraftTried, lambda event: ("TRIED", f"checks of revision {event.number}: {event.told}", True)),
    said(
        plans.PlanRedrafted,
        lambda redraft: (
            "REDRAFT",
            f"attempt {redraft.attempt.rpartition('.')[2]}, {redraft.agent}: {redraft.ending}",
            True,
        ),
    ),
    said(plans.PlanApproved, _approved),
    said(
        plans.PlanCarried,
        lambda event: ("APPROVED", f"still, with its numbers put right: {event.intent[:_INTENT]}", True),
    ),
    said(plans.PlanFiled, lambda event: ("WROTE", event.path, True)),
    said(plans.PlanMarked, lambda _: ("MARKED", "the plan's outcomes are written", False)),
    said(
        plans.PlanCompleted,
        _completed,
    ),
    said(plans.PlanNoted, lambda event: ("NOTE", f"{event.by} tells the next attempt: {event.note}", True)),
    said(plans.PlanCompared, lambda _: ("COMPARED", "the plan's text with what is proven", False)),
    said(
        plans.PlanDiffers, lambda _: ("DIFFERS", "its text was changed in the plan after it was frozen", True)
    ),
)
