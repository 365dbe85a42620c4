"""A run as an OpenTelemetry trace: the run, its phases, and every start of an agent with its cost. Pure.

Rule: ids are derived from the run's id and the order of its events, so a trace that is exported twice is one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from asbuilt.events.attempts import AttemptBegun, AttemptLost, Ended, Judged, VerifierBegun
from asbuilt.events.event import Entry, phase_of
from asbuilt.events.phases import PhaseBegun


class Traced(NamedTuple):
    """A span of a trace."""

    id: str
    parent: str
    """Empty for the run."""
    name: str
    began: str
    ended: str
    about: dict[str, str | int | float]
    is_error: bool = False


def trace_id(run: str) -> str:
    """Return the 16 bytes of a run's trace as hex digits."""
    return hashlib.sha256(run.encode()).hexdigest()[:32]


def traced(run: str, name: str, entries: Iterable[Entry], about: dict[str, str]) -> list[Traced]:
    """Return the spans of a run, the run first; a start that never ended ends with the next, or the run."""
    own = [entry for entry in entries if entry.run == run]
    if not own:
        return []
    root = Traced(_id(run, ""), "", name, own[0].at, own[-1].at, dict(about))
    phases: dict[str, Traced] = {}
    starts: list[Traced] = []
    running: dict[tuple[str, int, bool], int] = {}
    for entry in own:
        event, phase = entry.event, phase_of(entry.event) or ""
        if isinstance(event, PhaseBegun):
            spans = {"asbuilt.phase": phase}
            phases[phase] = Traced(_id(run, phase), root.id, f"phase {phase}", entry.at, entry.at, {**spans})
        elif phase in phases:
            phases[phase] = phases[phase]._replace(ended=entry.at)
        parent = phases.get(phase, root).id
        if isinstance(event, AttemptBegun | VerifierBegun):
            is_verifier = isinstance(event, VerifierBegun)
            who: dict[str, str | int | float] = {
                "asbuilt.agent": event.agent, "asbuilt.role": event.role, "asbuilt.attempt": event.number,
            }  # fmt: skip
            running[phase, event.number, is_verifier] = len(starts)
            title = f"{event.role} {phase}.{event.number}"
            starts.append(
                Traced(_id(run, entry.key), parent, title, entry.at, root.ended, who, is_error=True)
            )
        elif isinstance(event, Ended | Judged | AttemptLost):
            key = (phase, getattr(event, "number", 0), "attempt" not in event.kind)
            if (at := running.pop(key, None)) is not None:
                starts[at] = _over(starts[at], entry)
    return [root, *phases.values(), *starts]


def _over(start: Traced, entry: Entry) -> Traced:
    event: Any = entry.event
    used = {
        "asbuilt.cost_usd": getattr(event, "cost_usd", None),
        "asbuilt.tokens": getattr(event, "tokens", None),
    }
    ending = getattr(event, "ending", getattr(event, "outcome", "lost"))
    about = {**start.about, "asbuilt.ending": ending} | {k: v for k, v in used.items() if v is not None}
    return start._replace(ended=entry.at, about=about, is_error=ending not in ("done", "PASS"))


def _id(run: str, name: str) -> str:
    return hashlib.sha256(f"{run}/{name}".encode()).hexdigest()[:16]
