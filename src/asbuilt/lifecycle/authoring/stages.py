"""Stages of authoring, in order."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """A stage of authoring."""

    UNDERSTAND = "understand"
    EXPLORE = "explore"
    ALTERNATIVES = "alternatives"
    DRAFT = "draft"
    CRITIQUE = "critique"
    REVISE = "revise"
    ITERATE = "iterate"
    """The extra stage, entered when the sequence ends without the promise."""
