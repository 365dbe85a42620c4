"""Is an agent at work stuck? Told from how long, how silent, how often. Pure: data, not reassurance."""

from __future__ import annotations

from typing import Final, Literal

Health = Literal["gone", "stalled", "long", "retried", "fine"]

SILENT_S: Final = 600
"""An agent that is silent for longer is called stalled; its host ends it later."""
STALL_S: Final = 900
"""After so much silence the attempt is ended."""
OVERALL_S: Final = 7_200
"""After so long the attempt is ended, silent or not."""
LONG_S: Final = 1_800
"""An agent that runs for longer is not called fine."""
RETRIES: Final = 2
"""One that was begun anew this often is not called fine."""


def judge(*, ran_s: float, silent_s: float, retries: int, is_alive: bool) -> Health:
    """Judge an agent. First match wins; fine is what is left."""
    if not is_alive:
        return "gone"
    if silent_s > SILENT_S:
        return "stalled"
    if ran_s > LONG_S:
        return "long"
    return "retried" if retries >= RETRIES else "fine"
