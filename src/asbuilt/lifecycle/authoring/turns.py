"""Turns of an authoring that a conversation does.

Rule: this module imports only the standard library. The hook reads it before it may load packages.
"""

from __future__ import annotations

from typing import NamedTuple


class Yours(NamedTuple):
    """The conversation submits the output of a stage; `number` counts the tries."""

    stage: str
    number: int

    @property
    def name(self) -> str:
        """Return its address: `draft/2`."""
        return f"{self.stage}/{self.number}"


class Theirs(NamedTuple):
    """Another process is working: a critic or the worker."""

    what: str
    """What it does: `critique-1`, the judgement, the draft."""


class Persons(NamedTuple):
    """The session waits for the user."""

    why: str
    question: str = ""
    """The question to answer; empty if the user has to do something else."""


class Over(NamedTuple):
    """The authoring has ended."""

    reason: str
    is_approved: bool = False


Turn = Yours | Theirs | Persons | Over
