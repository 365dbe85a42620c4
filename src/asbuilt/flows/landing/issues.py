"""Close the issues that a completed plan names, after every kind of landing.

Rule: an issue gets one comment. An issue that cannot be closed is recorded and fails no run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.errors import ForgeBusy, ForgeFailed
from asbuilt.events.pulls import IssuesTelling, IssuesTold
from asbuilt.journal.events import shortened
from asbuilt.pages import pull as pages

if TYPE_CHECKING:
    from asbuilt.flows.context import Context
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

_TRIES: Final = 3
"""Tries on a forge that does not answer, for a landing that needs no forge."""
_WORDS: Final = 500
_NAMED: Final = 8


def close_issues(context: Context, facts: DeliveryFacts) -> None:
    """Comment on the issues that the plan names, and close those that are open."""
    record, failed = context.record, []
    record.say(IssuesTelling(numbers=facts.issues), "issues/telling")
    record.hold()
    for number in facts.issues:
        try:
            _close(context, facts, number)
        except ForgeFailed as error:
            if isinstance(error, ForgeBusy) and (facts.way == "pr" or facts.chain.troubles < _TRIES):
                raise
            failed.append(shortened(f"#{number} is not closed: {error.what}", _WORDS))
    record.say(IssuesTold(numbers=facts.issues, failed=tuple(failed[:_NAMED])), "issues/told")


def _close(context: Context, facts: DeliveryFacts, number: int) -> None:
    forge, plan = context.forge(), context.record.run.plan
    found = forge.issue(number)
    if found is None or not found.is_open:
        return
    mark, commits = pages.mark_for(plan), [one.stands for one in facts.landed]
    text = pages.closing(mark, plan=plan, phases=len(facts.phases), commits=commits, pull=facts.pull.url)
    forge.say(number, text, mark=mark)
    forge.close_issue(number)
