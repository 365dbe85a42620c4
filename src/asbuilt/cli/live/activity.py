"""Look at what an agent does, from the events that its host writes down. It only reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.cli.live.moment import Activity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.journal.views import RunView
    from asbuilt.ports import Attempts


class Listener:
    """Follows the attempts of one run, each from where it last looked."""

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts
        self._attempt = ""
        self._place = 0
        self._calls = 0
        self._doing = ""

    def activity(self, view: RunView) -> Activity | None:
        """Tell what the agent under way does; None when none is."""
        attempt = attempt_of(view)
        if attempt is None:
            return None
        if attempt != self._attempt:
            self._attempt, self._place, self._calls, self._doing = attempt, 0, 0, "begins"
        events, self._place = self._attempts.events(attempt, self._place)
        for event in events:
            self._calls += event["kind"] == "called"
            self._doing = doing(event) or self._doing
        who = "verifier" if view.waits_for.kind == "verifier" else view.run.options.agent or "agent"
        return Activity(who, self._doing, self._attempts.last_heard(attempt), self._calls)


def attempt_of(view: RunView) -> str | None:
    """Name the attempt that a run waits for, a verifier's with `v` behind it."""
    waits = view.waits_for
    if waits.kind not in ("agent", "verifier"):
        return None
    number = next((phase.attempt for phase in view.phases if phase.id == waits.phase), None)
    return f"{view.run.run}.{waits.phase}.{number or 1}{'v' if waits.kind == 'verifier' else ''}"


def doing(event: Mapping[str, object]) -> str:
    """Say in a few words what an event tells of the agent; nothing when it tells of something else."""
    match event:
        case {"kind": "called", "tool": str(tool), "detail": str(detail)}:
            return f"{tool} {detail}".strip()
        case {"kind": "said", "text": str(text)}:
            return f'says "{text[:200]}"'
        case {"kind": "noted", "text": str(text)}:
            return text[:200]
        case {"kind": "asked", "call": str(call), "allowed": bool(allowed)}:
            return f"asks to {call}: {'allowed' if allowed else 'refused'}"
        case _:
            return ""
