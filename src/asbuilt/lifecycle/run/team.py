"""Roles in a run, from its options. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asbuilt.events.options import RunOptions


def agent_of(options: RunOptions, role: str) -> str:
    """Return the agent of a role; old runs have one agent for all roles."""
    member = options.agents.get(role)
    return options.agent if member is None else member.name
