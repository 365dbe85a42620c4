"""Close the issues of a completed plan.

Rules: an issue gets one comment, from the plan that has claimed it; an issue that cannot be closed is
recorded and fails no run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.errors import ForgeBusy, ForgeFailed
from asbuilt.events.pulls import IssuesTelling, IssuesTold
from asbuilt.flows.run.record import ACTOR
from asbuilt.journal import issue_claims
from asbuilt.journal.events import hold, shortened
from asbuilt.pages import pull_request as pages

if TYPE_CHECKING:
    from asbuilt.flows.context import Context
    from asbuilt.lifecycle.delivery.facts import DeliveryFacts

_TRIES: Final = 3
"""Tries on a forge that does not answer, for a landing that needs no forge."""
_WORDS: Final = 500
_NAMED: Final = 8


def close_issues(context: Context, facts: DeliveryFacts) -> None:
    """Comment on the issues that the plan has claimed, and close those that are open."""
    record, failed = context.record, []
    run = record.run
    # Claimed again: a landing may come long after the phases, and another plan may have an issue since.
    with record.store.write() as session:
        hold(session, run.address)
        others = issue_claims.acquire(session, run.address, facts.issues, run=run.run, actor=ACTOR)
    numbers = tuple(number for number in facts.issues if number not in {held.number for held in others})
    record.append(IssuesTelling(numbers=numbers), "issues/telling")
    record.hold()
    for number in numbers:
        try:
            _close(context, facts, number)
        except ForgeFailed as error:
            if isinstance(error, ForgeBusy) and (facts.way == "pr" or facts.chain.transient_errors < _TRIES):
                raise
            failed.append(shortened(f"#{number} is not closed: {error.what}", _WORDS))
    record.append(IssuesTold(numbers=numbers, failed=tuple(failed[:_NAMED])), "issues/told")


def _close(context: Context, facts: DeliveryFacts, number: int) -> None:
    forge, plan = context.forge(), context.record.run.plan
    found = forge.issue(number)
    if found is None or not found.is_open:
        return
    mark, commits = pages.mark_for(plan), [landed.landed_as for landed in facts.landed]
    text = pages.closing(mark, plan=plan, phases=len(facts.phases), commits=commits, pull=facts.pull.url)
    forge.comment(number, text, mark=mark)
    forge.close_issue(number)
