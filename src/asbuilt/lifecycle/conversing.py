"""Whose turn it is in an authoring that a conversation does. Pure: the run's own next move decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.lifecycle.drafting import CONVERSATION
from asbuilt.lifecycle.moves import Ask, Attempt, Draft, End, Judge, Wait
from asbuilt.lifecycle.phases import next_move

if TYPE_CHECKING:
    from asbuilt.lifecycle.facts import RunFacts


class Yours(NamedTuple):
    """The conversation hands in an output of a stage, for the so manieth time."""

    stage: str
    number: int

    @property
    def name(self) -> str:
        """Address it: `draft/2`."""
        return f"{self.stage}/{self.number}"


class Theirs(NamedTuple):
    """Another process is at work: a critic, or the worker."""

    what: str
    """What it does: `critique-1`, the judgement, the draft."""


class Persons(NamedTuple):
    """Nothing happens before a person acts."""

    why: str


class Over(NamedTuple):
    """The authoring has come to its end."""

    reason: str


Turn = Yours | Theirs | Persons | Over


def turn_of(facts: RunFacts, now: str) -> Turn:
    """Tell whose turn it is."""
    due = facts.draft.due
    match next_move(facts, now):
        case Wait(why=why) if why == CONVERSATION:
            return Yours(due, len(facts.phases[due].attempts) + 1)
        case Wait(why=why, until=None):
            return Persons(why)
        case End(reason=reason):
            return Over(facts.reason or reason)
        case Attempt(phase=phase):
            return Theirs(phase)
        case Judge():
            return Theirs("the judgement")
        case Draft() | Ask():
            return Theirs("the draft")
        case _:
            return Theirs("the start")
