"""Flaws of a submission: what was found, what is needed, and an example."""

from __future__ import annotations

from typing import NamedTuple


class Flaw(NamedTuple):
    """One reason for a refusal, with enough detail to fix it."""

    what: str
    found: str
    needed: str
    example: str
