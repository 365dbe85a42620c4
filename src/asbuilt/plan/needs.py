"""Needs of a phase: the phases that have to be done before it. Light: every `asbuilt status` loads it."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def open_needs(needs: Iterable[str], done: Collection[str]) -> tuple[str, ...]:
    """Return the needs that are not done, in order."""
    return tuple(need for need in needs if need not in done)


def may_start(needs: Iterable[str], done: Collection[str]) -> bool:
    """Return whether a phase has no open needs. Stops at the first open one: plans may have thousands."""
    return all(need in done for need in needs)
