"""Outcome and failures of several results of checks together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from asbuilt.proof.evidence import Evidence
from asbuilt.proof.judgement import Judged, judge_check, overall, without_filter

if TYPE_CHECKING:
    from asbuilt.events.event import Outcome
    from asbuilt.flows.environments.results import Ran

_SHOWN: Final = 220


def judged_check(check: str, ran: Ran, run: Callable[[str], Ran]) -> Judged:
    """Judge a check that ran; if its end hides an exit code, run it without that end, which then counts."""
    judged = judge_check(ran.ended.exit_code, ran.cut_off)
    alone = without_filter(check) if judged.outcome == "PASS" else None
    if alone is None:
        return judged
    bare = run(alone)
    shows = judge_check(bare.ended.exit_code, bare.cut_off)
    hidden = shows._replace(why=f"{shows.why} from `{alone}`; the rest of the check hides it")
    return judged if shows.outcome == "PASS" else hidden


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
