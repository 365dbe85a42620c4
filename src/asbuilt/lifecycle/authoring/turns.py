"""Whose turn it is in an authoring that a conversation does.

Rule: nothing but the standard library is imported here. The hook reads these before it may load packages.
"""

from __future__ import annotations

from typing import NamedTuple


class Yours(NamedTuple):
    """The conversation submits the output of a stage; `number` counts the tries."""

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
    question: str = ""
    """What they have to answer; empty: something else is theirs to do."""


class Over(NamedTuple):
    """The authoring has ended."""

    reason: str


Turn = Yours | Theirs | Persons | Over
