"""Who has which role in a run, as its options froze it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asbuilt.events.options import RunOptions


def agent_of(options: RunOptions, role: str) -> str:
    """Name the agent that has a role in a run; runs of old have one for all roles."""
    member = options.agents.get(role)
    return options.agent if member is None else member.name
