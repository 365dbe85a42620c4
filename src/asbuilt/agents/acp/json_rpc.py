"""JSON-RPC with an agent over its stdin and stdout, one message per line, with requests in both directions.

Rule: every line of the agent is handled, refused or counted as noise; no line raises.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Protocol

from asbuilt.agents.streams import Lines, lines_of, object_in, send

_LINE_CAP: Final = 16 << 20
_NO_METHOD: Final = -32601


@dataclass(slots=True)
class Refused(Exception):
    """The agent answered a request with an error."""

    code: int
    message: str
    data: object = None


class Lost(Exception):
    """The agent's output has ended, so pending requests get no answer."""


class Listener(Protocol):
    """Handles the agent's requests and notifications."""

    async def requested(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Answer a request of the agent; None means an unsupported method."""

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """Take a notification."""


class Connection:
    """A JSON-RPC connection to a process."""

    def __init__(self, process: asyncio.subprocess.Process, listener: Listener) -> None:
        self._process = process
        self._listener = listener
        self._numbers = count(1)
        self._owed: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._is_lost = False
        self.noise = 0

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its result; raises `Refused`, or `Lost` when the agent's output ends."""
        if self._is_lost:
            raise Lost
        number = next(self._numbers)
        owed: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._owed[number] = owed
        await self._send({"id": number, "method": method, "params": params})
        return await owed

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        await self._send({"method": method, "params": params})

    async def listen(self) -> None:
        """Handle the agent's messages until its output ends."""
        lines = Lines(_LINE_CAP)
        try:
            async for line in lines_of(self._process, lines):
                await self._take(line)
        finally:
            self.noise += lines.dropped
            self._is_lost = True
            for owed in self._owed.values():
                if not owed.done():
                    owed.set_exception(Lost())

    async def _take(self, line: bytes) -> None:
        match object_in(line):
            case {"method": str(method), "id": int() | str() as number, **rest}:
                answer = await self._listener.requested(method, _mapping(rest.get("params")))
                refused = {"error": {"code": _NO_METHOD, "message": f"{method} is not offered"}}
                await self._send({"id": number, **(refused if answer is None else {"result": answer})})
            case {"method": str(method), **rest}:
                self._listener.notified(method, _mapping(rest.get("params")))
            case {"id": int(number), "error": dict(error)} if number in self._owed:
                self._owed.pop(number).set_exception(_refusal(error))
            case {"id": int(number), **rest} if number in self._owed:
                self._owed.pop(number).set_result(dict(_mapping(rest.get("result"))))
            case None if not line.strip():
                pass
            case _:
                self.noise += 1

    async def _send(self, message: dict[str, Any]) -> None:
        await send(self._process, {"jsonrpc": "2.0", **message})


def _refusal(error: Mapping[str, Any]) -> Refused:
    code = error.get("code")
    return Refused(code if isinstance(code, int) else 0, str(error.get("message") or ""), error.get("data"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
