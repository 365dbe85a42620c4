"""Who has which role in a run, as its options froze it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def agent_of(options: Mapping[str, Any], role: str) -> str:
    """Name the agent that has a role in a run; runs of old have one for all roles."""
    named = (options.get("agents") or {}).get(role)
    return str(named["name"] if named else options.get("agent") or "")
