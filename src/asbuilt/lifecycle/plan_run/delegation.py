"""The plan that a phase is delegated to. Pure."""

from __future__ import annotations


def plan_in(delegate: str) -> str | None:
    """Return the plan in a phase's Execution, as in `delegate /run-plan plans/sub.md`; None without one."""
    words = (word.strip("`'\"") for word in delegate.split())
    return next((word for word in words if word.endswith(".md")), None)
