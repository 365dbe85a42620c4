"""Outcome and failures of several results of checks together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.proof.judgement import overall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asbuilt.events.event import Outcome
    from asbuilt.proof.evidence import Evidence

_SHOWN: Final = 220


def failures_of(shown: Sequence[Evidence]) -> list[str]:
    """List what did not pass, short enough for an event: 4 items of 440 characters."""
    return [
        f"{evidence.name[:_SHOWN]}: {evidence.outcome}, {evidence.why}"[: 2 * _SHOWN]
        for evidence in shown
        if evidence.outcome != "PASS"
    ][:4]


def outcome_of(shown: Sequence[Evidence]) -> Outcome:
    """Return the overall outcome; PASS if nothing was ordered."""
    return overall(evidence.outcome for evidence in shown) if shown else "PASS"


def unusable_in(shown: Sequence[Evidence]) -> bool:
    """Return whether a check was unusable and no other check failed."""
    return outcome_of(shown) == "INDETERMINATE" and any(evidence.unusable for evidence in shown)
