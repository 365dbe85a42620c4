"""The stages of authoring, in the order in which they come."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """A step of authoring."""

    UNDERSTAND = "understand"
    EXPLORE = "explore"
    ALTERNATIVES = "alternatives"
    DRAFT = "draft"
    CRITIQUE = "critique"
    REVISE = "revise"
    ITERATE = "iterate"
    """The extra one, entered when the sequence is through and the promise was not made."""
