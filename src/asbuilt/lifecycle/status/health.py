"""Health of a running agent, from its run time, silence and retries. Pure."""

from __future__ import annotations

from typing import Final, Literal

Health = Literal["gone", "stalled", "long", "retried", "fine"]

SILENT_S: Final = 600
"""Silence after which an agent is shown as stalled; its host ends it later."""
LONG_S: Final = 1_800
"""Run time after which an agent is not shown as fine."""
RETRIES: Final = 2
"""Number of restarts from which an agent is not shown as fine."""


def judge(*, ran_s: float, silent_s: float, retries: int, is_alive: bool) -> Health:
    """Judge an agent. First match wins."""
    if not is_alive:
        return "gone"
    if silent_s > SILENT_S:
        return "stalled"
    if ran_s > LONG_S:
        return "long"
    return "retried" if retries >= RETRIES else "fine"
