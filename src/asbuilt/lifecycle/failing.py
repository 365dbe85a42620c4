"""Which step of a run failed last, read from its events. Pure; outputs are named by digest and not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.proof.failure import What

_JUDGED: Final[Mapping[str, What]] = {
    "setup.done": "setup",
    "baseline.done": "baseline",
    "checks.done": "check",
    "phase.rechecked": "check",
    "together.done": "check",
}
_AGENTS: Final[Mapping[str, What]] = {
    "attempt.ended": "agent",
    "verifier.ended": "verifier",
    "together.unjudged": "verifier",
}
_ENDINGS: Final = ("failed", "crashed", "stalled", "timed_out")
"""Endings of an agent that are failures; the others are a stop or a wait."""


class FailedStep(NamedTuple):
    """A step that failed, as its event reports it."""

    what: What
    phase: str = ""
    evidence: str | None = None
    """Digest of what the checks have shown."""
    output: str | None = None
    """Digest of what the command printed."""
    command: str = ""
    folder: str = ""
    exit_code: int | None = None
    duration_s: float | None = None
    timed_out: bool = False
    agent: str = ""


def failed_step(kind: str, data: Mapping[str, Any]) -> FailedStep | None:
    """Read the failure that an event reports; None where it reports none."""
    if kind == "run.ended" and data.get("output"):
        return _step("sandbox", data)
    if kind in _JUDGED:
        # Failures of the base that are known by name stop nothing.
        goes_on = ("PASS", "FAIL") if kind == "baseline.done" else ("PASS",)
        return None if data["outcome"] in goes_on else _step(_JUDGED[kind], data)
    if kind in _AGENTS and data["ending"] in _ENDINGS:
        return _step(_AGENTS[kind], data)
    return None


def last_failed(before: FailedStep | None, kind: str, data: Mapping[str, Any]) -> FailedStep | None:
    """Return the step that failed last, once one more event is known: a success of its kind ends it."""
    step = failed_step(kind, data)
    if step is not None:
        return step
    if kind == "run.ended":
        return before if data["state"] == "failed" else None
    if kind in _JUDGED:
        return None
    is_over = kind in _AGENTS or kind == "verdict.given"
    return None if is_over and before is not None and before.what in ("agent", "verifier") else before


def advice_in(reason: str) -> tuple[str, str]:
    """Split the reason of an end into what happened and what to do next; journals hold both in one text."""
    what, _, following = reason.partition(" Next: ")
    return what, following


def _step(what: What, data: Mapping[str, Any]) -> FailedStep:
    return FailedStep(
        what,
        str(data.get("phase") or ""),
        data.get("evidence"),
        data.get("stderr") if what in ("agent", "verifier") else data.get("output"),
        str(data.get("command") or ""),
        str(data.get("folder") or ""),
        data.get("exit_code"),
        data.get("duration_s"),
        data.get("ending") == "timed_out",
        str(data.get("agent") or ""),
    )
