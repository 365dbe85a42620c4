"""Turn of an authoring that a conversation does. Pure: derived from the run's next move."""

from __future__ import annotations

from asbuilt.events.runs import WaitReason, end_words
from asbuilt.lifecycle.authoring.facts import AuthoringFacts
from asbuilt.lifecycle.authoring.turns import Over, Persons, Theirs, Turn, Yours
from asbuilt.lifecycle.kinds import next_move
from asbuilt.lifecycle.run.moves import Ask, Attempt, Draft, End, Judge, Wait


def turn_of(facts: AuthoringFacts, now: str) -> Turn:
    """Return whose turn it is."""
    due = facts.draft.due
    match next_move(facts, now):
        case Wait(reason=WaitReason.CONVERSATION):
            return Yours(due, len(facts.phases[due].attempts) + 1)
        case Wait(why=why, until=None, question=question):
            return Persons(why, question)
        case End(state=state, reason=reason):
            return Over(end_words(state, facts.reason or reason), is_approved=state == "done")
        case Attempt(phase=phase):
            return Theirs(phase)
        case Judge():
            return Theirs("the judgement")
        case Draft() | Ask():
            return Theirs("the draft")
        case _:
            return Theirs("the start")
