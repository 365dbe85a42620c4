"""Put a host's findings into words: its introduction and an attempt's result. Pure.

The one rule: what the agent says of itself and what the host saw stay apart.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from asbuilt.agents.adapter import Turn
from asbuilt.ports import Result

if TYPE_CHECKING:
    from asbuilt.agents.record import Record
    from asbuilt.policy.ring import Level
    from asbuilt.ports import Ending


def introduction(**about: object) -> bytes:
    """Give the text of host.json."""
    return json.dumps(about).encode("ascii")


def described(
    end: Turn | tuple[Ending, str], record: Record, *, duration_s: float, starts: int, ring: Level
) -> Result:
    """Say how the attempt ended."""
    turn, ending, reason = (end, end.ending, end.reason) if isinstance(end, Turn) else (None, *end)
    return Result(
        ending=ending,
        reason=reason,
        cause=turn.cause if turn else None,
        says=turn.says if turn else record.last_said,
        verdict=turn.verdict if turn else None,
        resets_at=turn.resets_at if turn else None,
        drift=tuple(record.drift),
        session=record.session,
        tool_calls=record.tool_calls,
        cost_usd=record.used.cost_usd,
        input_tokens=record.used.input_tokens,
        output_tokens=record.used.output_tokens,
        duration_s=duration_s,
        starts=starts,
        ring=ring,
    )


def sealed_end(end: Turn | tuple[Ending, str], broken: list[str]) -> Turn | tuple[Ending, str]:
    """Let nothing pass for an end of work that changed what could act later, outside its workspace."""
    if not broken:
        return end
    return "failed", (
        f"What acts when an agent is started next is not as it was: {', '.join(broken)}. "
        "The agent was not to touch it. Look at it before anything is started again."
    )
