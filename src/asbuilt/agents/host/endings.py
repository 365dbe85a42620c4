"""Decide when the host ends an attempt, and build its result. Pure: takes the elapsed time as an argument.

Rules: a tick counts as at most 4 tick intervals, so that a suspended laptop expires nothing. What the agent
reports and what the host observed stay in separate fields.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.agents.contract import SAYS_CAP, Turn
from asbuilt.ports import Brief, Ending, Result, Role

if TYPE_CHECKING:
    from asbuilt.agents.attempt_folder import Terms
    from asbuilt.agents.host.record import Record
    from asbuilt.policy.sandbox.rules import Level

_TICKS_AT_ONCE: Final = 4


class Watch:
    """Counts time since the last heartbeat, the last event and the start."""

    def __init__(self, brief: Brief, terms: Terms) -> None:
        self._brief = brief
        self._terms = terms
        self._beat: object = None
        self._events = 0
        self._since_beat = 0.0
        self._since_event = 0.0
        self._since_start = 0.0

    def tick(
        self, elapsed_s: float, *, beat: object, events: int, cancelled: bool
    ) -> tuple[Ending, str] | None:
        """Count one tick; return the ending and its reason when the attempt is over. First match wins."""
        counted = min(elapsed_s, _TICKS_AT_ONCE * self._terms.tick_s)
        self._since_start += counted
        self._since_beat = 0.0 if beat != self._beat else self._since_beat + counted
        self._since_event = 0.0 if events != self._events else self._since_event + counted
        self._beat, self._events = beat, events
        brief, terms = self._brief, self._terms
        if cancelled:
            return "cancelled", "It was asked to end."
        if self._since_beat >= terms.abandon_s:
            return "abandoned", f"Nobody has waited for it for {terms.abandon_s:g} s."
        if self._since_start >= brief.overall_s:
            return "timed_out", f"It took longer than {brief.overall_s:g} s."
        if self._since_event >= brief.stall_s:
            return "stalled", f"The agent was silent for {brief.stall_s:g} s."
        return None


class LastSeen(NamedTuple):
    """The exit code and stderr of the agent's process."""

    exit_code: int | None = None
    stderr: str = ""


def described(
    end: Turn | tuple[Ending, str],
    record: Record,
    seen: LastSeen,
    *,
    duration_s: float,
    starts: int,
    ring: Level,
) -> Result:
    """Build the result of an attempt; exit code and stderr are kept unless the ending is `done`."""
    turn, ending, reason = (end, end.ending, end.reason) if isinstance(end, Turn) else (None, *end)
    return Result(
        ending=ending,
        reason=reason,
        cause=turn.cause if turn else None,
        says=turn.says if turn else record.last_said,
        verdict=turn.verdict if turn else None,
        resets_at=turn.resets_at if turn else None,
        drift=tuple(record.drift),
        refused=tuple(record.hosts_refused),
        session=record.session,
        tool_calls=record.tool_calls,
        cost_usd=record.used.cost_usd,
        input_tokens=record.used.input_tokens,
        output_tokens=record.used.output_tokens,
        duration_s=duration_s,
        starts=starts,
        ring=ring,
        **({} if ending == "done" else seen._asdict()),
    )


def whole_end(end: Turn | tuple[Ending, str], role: Role) -> Turn | tuple[Ending, str]:
    """Cut an answer at the cap; a planner or critic then fails, because the answer is its work."""
    if not isinstance(end, Turn) or len(end.says) <= SAYS_CAP:
        return end
    cut = replace(end, says=f"{end.says[:SAYS_CAP]}…")
    if end.ending != "done" or role not in ("plan", "critique"):
        return cut
    reason = (
        f"Its answer is longer than {SAYS_CAP:,} characters; the rest was not kept, so none of it counts."
    )
    return replace(cut, ending="failed", reason=reason)


def sealed_end(end: Turn | tuple[Ending, str], broken: list[str]) -> Turn | tuple[Ending, str]:
    """Fail the attempt if sealed files changed, because they could act later, outside the workspace."""
    if not broken:
        return end
    return "failed", (
        f"What acts when an agent is started next is not as it was: {', '.join(broken)}. "
        "The agent was not to touch it. Look at it before anything is started again."
    )
