"""The last failed step of a run, from its events. Pure; outputs are named by digest and not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events import attempts
from asbuilt.events.event import Event, phase_of
from asbuilt.events.landings import LandingRefused
from asbuilt.events.phases import BaselineDone, PhaseRechecked, SetupDone
from asbuilt.events.runs import RunEnded

if TYPE_CHECKING:
    from asbuilt.proof.failure import What

_ENDINGS: Final = ("failed", "crashed", "stalled", "timed_out")
"""Endings of an agent that are failures; the others are a stop or a wait."""


class FailedStep(NamedTuple):
    """A step that failed, as its event reports it."""

    what: What
    phase: str = ""
    evidence: str | None = None
    """Digest of the checks' evidence."""
    output: str | None = None
    """Digest of the command's output."""
    command: str = ""
    folder: str = ""
    exit_code: int | None = None
    duration_s: float | None = None
    timed_out: bool = False
    agent: str = ""
    is_advised: bool = False
    """Whether the event names the next step itself."""


def failed_step(event: Event) -> FailedStep | None:
    """Return the failure that an event reports; None if it reports none."""
    match event:
        case RunEnded() if event.output:
            return FailedStep("sandbox", output=event.output, command=event.command, folder=event.folder)
        case SetupDone() if event.outcome != "PASS":
            return FailedStep(
                "setup", evidence=event.evidence, output=event.output, command=event.command or ""
            )
        # Known failures of the base stop nothing.
        case BaselineDone() if event.outcome not in ("PASS", "FAIL"):
            return FailedStep("baseline", evidence=event.evidence)
        case LandingRefused() if event.evidence:
            return FailedStep("check", evidence=event.evidence, is_advised=True)
        case attempts.ChecksDone() | PhaseRechecked() | attempts.TogetherDone() if event.outcome != "PASS":
            return FailedStep("check", phase_of(event) or "", event.evidence)
        case attempts.AttemptEnded() if event.ending in _ENDINGS:
            return _of_agent("agent", event)
        case attempts.VerifierEnded() | attempts.TogetherUnjudged() if event.ending in _ENDINGS:
            return _of_agent("verifier", event)
        case _:
            return None


def last_failed(before: FailedStep | None, event: Event) -> FailedStep | None:
    """Return the last failed step after one more event; a success of its kind clears it."""
    step = failed_step(event)
    if step is not None:
        return step
    match event:
        case RunEnded():
            return before if event.state == "failed" else None
        case (
            SetupDone() | BaselineDone() | attempts.ChecksDone() | PhaseRechecked() | attempts.TogetherDone()
        ):
            return None
        case (
            attempts.AttemptEnded()
            | attempts.VerifierEnded()
            | attempts.TogetherUnjudged()
            | attempts.VerdictGiven()
        ):
            return None if before is not None and before.what in ("agent", "verifier") else before
        case _:
            return before


def _of_agent(what: What, event: attempts.Ended) -> FailedStep:
    return FailedStep(
        what, phase_of(event) or "", None, event.stderr, event.command, event.folder, event.exit_code,
        event.duration_s, event.ending == "timed_out", event.agent,
    )  # fmt: skip
