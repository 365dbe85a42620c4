"""Choose the next move of an authoring, from facts that name texts by their digests. Pure and total.

The one rule: nothing is filed that a person has not said yes to, and nobody is asked the same thing twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from asbuilt.events.runs import WaitReason
from asbuilt.lifecycle import approval
from asbuilt.lifecycle.run.facts import GOES_ON
from asbuilt.lifecycle.run.moves import (
    Ask,
    Attempt,
    Draft,
    End,
    File,
    Judge,
    Move,
    Start,
    Wait,
    until_answered,
)
from asbuilt.lifecycle.run.preparation import held
from asbuilt.lifecycle.run.stoppages import capped, stage_stoppage

if TYPE_CHECKING:
    from asbuilt.lifecycle.run.facts import PhaseFacts, RunFacts

REPEATS: Final = 2
"""So often a stage is begun anew whose agent has handed in nothing: a stall, a crash, a time-out."""
CRITIC: Final = "critique"
CONVERSATION: Final = "the conversation that authors it"
"""What is waited for where no agent of a worker writes the plan."""


def stopped(facts: RunFacts) -> End | None:
    """End an authoring that a person has stopped, once no agent is at work for it."""
    if facts.stop is None or _under_way(facts) is not None:
        return None
    return End("stopped", facts.stop)


def drafting(facts: RunFacts, now: str) -> Move:
    """Choose what an authoring does next. First match wins."""
    if not facts.started:
        return Start()
    under_way = _under_way(facts)
    if under_way is not None:
        return under_way
    unheld = held(facts)
    if unheld is not None:
        return unheld
    draft = facts.draft
    if draft.texts.filed is not None:
        where = draft.texts.filed
        return End("done", f"{where} is written, not committed; a run accepts only this text")
    if draft.gave_up:
        return End("failed", draft.gave_up)
    if draft.finished is not None:
        return Draft()
    # A move that says nothing more is empty, and an empty one is false.
    for move in (_approval(facts), _questions(facts)):
        if move is not None:
            return move
    return _stage(facts, facts.phases[draft.due], now)


def role_of(stage: str) -> str:
    """Tell who does a stage: whoever criticises a plan has not written it."""
    return CRITIC if stage.startswith(CRITIC) else "plan"


def _under_way(facts: RunFacts) -> Attempt | None:
    stage = facts.phases.get(facts.draft.due)
    last = stage.attempts[-1] if stage is not None and stage.attempts else None
    if stage is None or last is None or last.ending is not None:
        return None
    return Attempt(stage.id, last.number, role_of(stage.id))


def _approval(facts: RunFacts) -> Move | None:
    """Put the newest text to a person, and do what they say; None when there is something to write."""
    step = approval.next_step(facts.draft.texts)
    match step:
        case approval.Ask(revision, again):
            slug = facts.draft.slug
            question = f"{slug} was declined without a word: what is to differ?"
            if not again:
                question = f"approve the plan {slug}? revision {revision.number}"
            key = approval.key_of(revision, again=again)
            return Ask(key, "plan", question, intent=revision.intent)
        case approval.Await(question):
            return until_answered(question.name)
        case approval.File():
            return File()
        case approval.GiveUp():
            return End("stopped", "you said no twice, without a word; the draft stays in the store")
        case approval.Rewrite() | None:
            return None
        case _:
            assert_never(step)


def _questions(facts: RunFacts) -> Move | None:
    """Put what an agent wants to know to a person, all of it before anybody is waited for."""
    draft = facts.draft
    batch = draft.batches[-1] if draft.batches else ()
    for key in batch:
        if key not in facts.approvals:
            return Ask(key, "question", draft.asked[key])
    waits = next((key for key in batch if facts.approvals[key] is None), None)
    return None if waits is None else until_answered(waits)


def _stage(facts: RunFacts, stage: PhaseFacts, now: str) -> Move:
    last = stage.attempts[-1] if stage.attempts else None
    if last is not None and last.ending == "done" and facts.draft.judged.get(stage.id) != last.number:
        return Judge(stage.id, last.number)
    if facts.draft.in_conversation and role_of(stage.id) != CRITIC:
        return Wait(WaitReason.CONVERSATION, CONVERSATION, None)
    stoppage = stage_stoppage(facts, stage, now)
    if stoppage is not None:
        return stoppage
    if stage.repeats > REPEATS:
        reason = last.reason if last else ""
        return End("failed", f"{stage.id}: no agent handed anything in, {stage.repeats} times; {reason}")
    goes_on = last is not None and last.ending in GOES_ON
    number = 1 if last is None else last.number + (not goes_on)
    return capped(facts, now) or Attempt(stage.id, number, role_of(stage.id))
