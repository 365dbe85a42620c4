"""Map kinds of agents to adapters; imports only the adapter in use. An unknown kind fails the attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.agents.contract import Adapter, Seat


def _scripted(seat: Seat) -> Adapter:
    from asbuilt.agents.scripted.adapter import Scripted  # noqa: PLC0415 - the host's dispatch

    return Scripted(seat)


def _claude(seat: Seat) -> Adapter:
    from asbuilt.agents.claude.adapter import Claude  # noqa: PLC0415 - the host's dispatch

    return Claude(seat)


def _acp(seat: Seat) -> Adapter:
    from asbuilt.agents.acp.adapter import Acp  # noqa: PLC0415 - the host's dispatch

    return Acp(seat)


ADAPTERS: Final[dict[str, Callable[[Seat], Adapter]]] = {
    "scripted": _scripted,
    "claude": _claude,
    "codex": _acp,
    "gemini": _acp,
    "opencode": _acp,
    "claude-acp": _acp,
}
