"""The drafts of a plan in the journal. Rule: a text is a blob, written before the event that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.events.plans import DraftWritten, PlanApproved
from asbuilt.journal import approvals
from asbuilt.journal.approvals import Approval
from asbuilt.journal.events import append, hold, whole_history
from asbuilt.journal.ids import Address
from asbuilt.lifecycle import approval
from asbuilt.lifecycle.approval import AGENT, EDITED, REVISED, Drafts, Revision

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.plan.model import Plan


def drafts_of(session: Session, address: Address) -> Drafts:
    """Return the drafts of a plan, folded from its events."""
    return approval.fold_drafts(whole_history(session, address))


def write(session: Session, address: Address, plan: Plan, *, run: str, by: str, text: str) -> Revision:
    """Record a revision whose text is a blob, and close questions about earlier ones; idempotent."""
    hold(session, address)
    drafts = drafts_of(session, address)
    newest = drafts.newest
    if newest is not None and (newest.digest, newest.run) == (plan.digest, run):
        return newest
    number = newest.number + 1 if newest else 1
    written = Revision(run, number, plan.intent, plan.digest, text, by, "" if by == AGENT else EDITED)
    event = DraftWritten(
        number=number, intent=written.intent, digest=written.digest, text=text, by=by, label=written.label
    )
    append(session, address, event, key=f"{run}/draft/{number}", actor=by, run=run)
    overtake(session, address)
    return written


def overtake(session: Session, address: Address) -> None:
    """Close open questions about outdated revisions, so that no answer to them counts."""
    hold(session, address)
    drafts = drafts_of(session, address)
    newest = drafts.newest
    for question in drafts.questions:
        if newest is not None and question.answer is None and question.revision != newest.number:
            number, note = int(question.name[1:]), f"revision {newest.number} took its place"
            approvals.answer(
                session, address.org, address.repo, number, reply=REVISED, actor=newest.by, note=note
            )


def ask(
    session: Session, address: Address, revision: Revision, *, title: str, actor: str, again: bool = False
) -> Approval:
    """Ask for approval of a revision; the same key returns the same question."""
    question = f"approve the plan “{title}”?"
    if again:
        question = f"“{title}” was declined without a reason: what should change?"
    wish = approvals.Wish(revision.run, "plan", question, intent=revision.intent)
    key = approval.key_of(revision, again=again)
    return approvals.ask(session, address, key=key, wish=wish, actor=actor)


def approve(session: Session, address: Address, number: int, *, actor: str) -> None:
    """Record the approval of a question, with the text that it covers."""
    drafts = drafts_of(session, address)
    asked = next(question for question in drafts.questions if question.name == f"a{number}")
    revision = drafts.revision(asked.revision)
    if revision is None:
        raise LookupError(asked.name)
    edited = approval.is_edited(drafts, revision)
    event = PlanApproved(
        intent=revision.intent, digest=revision.digest, text=revision.text, by=actor, edited=edited
    )
    key = f"{revision.run}/approved/{revision.number}"
    append(session, address, event, key=key, actor=actor, run=revision.run)
