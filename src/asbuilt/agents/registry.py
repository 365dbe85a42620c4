"""Which adapter drives which kind of agent.

The one rule: a kind that is not here is an answer, not a crash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.agents.acp import Acp
from asbuilt.agents.claude import Claude
from asbuilt.agents.scripted import Scripted

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.agents.adapter import Adapter, Seat

ADAPTERS: Final[dict[str, Callable[[Seat], Adapter]]] = {
    "scripted": Scripted,
    "claude": Claude,
    "codex": Acp,
    "gemini": Acp,
    "opencode": Acp,
    "claude-acp": Acp,
}
