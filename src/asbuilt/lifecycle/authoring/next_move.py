"""Choose the next move of an authoring session. Pure and total.

Rule: only a text that the user approved is filed, and no question is asked twice.
"""

from __future__ import annotations

from typing import Final, assert_never

from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle import approval
from asbuilt.lifecycle.authoring.facts import CRITIC, AuthoringFacts, role_of
from asbuilt.lifecycle.run import moves
from asbuilt.lifecycle.run.facts import RESUMABLE, PhaseFacts
from asbuilt.lifecycle.run.guards import kept_back
from asbuilt.lifecycle.run.preflight import held
from asbuilt.lifecycle.run.stoppages import capped, stage_stoppage

REPEATS: Final = 2
"""Restarts of a stage whose agent submitted nothing (a stall, a crash, a timeout)."""
CONVERSATION: Final = "the conversation that authors it"
"""What the session waits for where a conversation, not a worker's agent, writes the plan."""


def next_move(facts: AuthoringFacts, now: str) -> moves.Move:
    """Choose the next move of an authoring session; a stopped one ends once no agent works for it."""
    if facts.stop is not None and _under_way(facts) is None:
        return moves.End("stopped", facts.stop)
    return kept_back(facts, now) or _drafting(facts, now)


def _drafting(facts: AuthoringFacts, now: str) -> moves.Move:
    """Choose the next move of a session that is neither stopped nor waiting. First match wins."""
    if not facts.started:
        return moves.Start()
    under_way = _under_way(facts)
    if under_way is not None:
        return under_way
    unheld = held(facts)
    if unheld is not None:
        return unheld
    draft = facts.draft
    if draft.texts.filed is not None:
        where = draft.texts.filed
        return moves.End("done", f"wrote {where}, not committed; editing it needs a new approval")
    if draft.gave_up:
        return moves.End("failed", draft.gave_up)
    if draft.finished is not None:
        return moves.Draft()
    return _approval(facts) or _questions(facts) or _stage(facts, facts.phases[draft.due], now)


def _under_way(facts: AuthoringFacts) -> moves.Attempt | None:
    stage = facts.phases.get(facts.draft.due)
    last = stage.attempts[-1] if stage is not None and stage.attempts else None
    if stage is None or last is None or last.ending is not None:
        return None
    return moves.Attempt(stage.id, last.number, role_of(stage.id))


def _approval(facts: AuthoringFacts) -> moves.Move | None:
    """Ask for approval of the newest revision and act on the answer; None if a stage is due."""
    step = approval.next_step(facts.draft.texts)
    match step:
        case approval.Ask(revision, again):
            slug = facts.draft.slug
            question = f"{slug} was declined without a reason: what should change?"
            if not again:
                question = f"approve the plan {slug}? revision {revision.number}"
            key = approval.key_of(revision, again=again)
            return moves.Ask(key, "plan", question, intent=revision.intent)
        case approval.Await(question):
            return moves.until_answered(question.name)
        case approval.File():
            return moves.File()
        case approval.GiveUp():
            return moves.End(
                "stopped", "you declined it twice without a reason; the draft stays in the journal"
            )
        case approval.Rewrite() | None:
            return None
        case _:
            assert_never(step)


def _questions(facts: AuthoringFacts) -> moves.Move | None:
    draft = facts.draft
    batch = draft.batches[-1] if draft.batches else ()
    for key in batch:
        if key not in facts.approvals:
            return moves.Ask(key, "question", draft.asked[key])
    waits = next((key for key in batch if facts.approvals[key] is None), None)
    return None if waits is None else moves.until_answered(waits)


def _stage(facts: AuthoringFacts, stage: PhaseFacts, now: str) -> moves.Move:
    last = stage.attempts[-1] if stage.attempts else None
    if last is not None and last.ending == "done" and facts.draft.judged.get(stage.id) != last.number:
        return moves.Judge(stage.id, last.number)
    if facts.draft.in_conversation and role_of(stage.id) != CRITIC:
        return moves.Wait(WaitReason.CONVERSATION, CONVERSATION, None)
    stoppage = stage_stoppage(facts, stage)
    if stoppage is not None:
        return stoppage
    if stage.repeats > REPEATS:
        reason = last.reason if last else ""
        return moves.End(
            "failed", f"{stage.id}: no agent submitted anything in {stage.repeats} tries; {reason}"
        )
    resumes = last is not None and last.ending in RESUMABLE
    number = 1 if last is None else last.number + (not resumes)
    return capped(facts, now) or moves.Attempt(stage.id, number, role_of(stage.id))
