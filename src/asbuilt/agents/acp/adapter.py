"""Drive agents over the Agent Client Protocol: codex, gemini, opencode, Claude Code through its ACP adapter.

Rule: the gate answers every permission request, and a turn is done only when the agent ends it (`end_turn`).
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from asbuilt._version import VERSION
from asbuilt.agents import verdict_tool
from asbuilt.agents.acp.json_rpc import Connection, Lost, Refused
from asbuilt.agents.acp.programs import Start, started
from asbuilt.agents.acp.updates import (
    UpdateParser,
    calls_in,
    ended,
    mode_request,
    refused,
    reply_of,
    shows_progress,
)
from asbuilt.agents.attempt_folder import with_verdict
from asbuilt.agents.contract import Conversed, Emit, Event, Gate, Noted, Seat, Turn, Used, stopped
from asbuilt.agents.prompt import prompt_for, resume_prompt, system_for
from asbuilt.agents.streams import exit_of, exit_within, last_line
from asbuilt.policy.agent_kinds import KINDS
from asbuilt.ports import JUDGES, Brief

_LAST: Final = "SELECT data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1"
_WAIT_S: Final = 1.0


_INTRODUCTION: Final = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
    "clientInfo": {"name": "asbuilt", "version": VERSION},
}
_DESK: Final = Path(verdict_tool.__file__).resolve()
_BROKEN_OFF: Final = 8
"""Maximum number of prompts after a refusal ended the turn; some agents stop at every refusal."""
_LAST_S: Final = 5
_SILENCE_S: Final = 1.0
_REFUSED: Final = "That was refused: {reasons} Go on without it, or in another way that is yours to choose."
_ANEW: Final = (
    "An earlier start of this work was cut off, and its conversation is lost. What it had done is in the "
    "workspace: look at it first, and go on from there."
)


class Acp:
    """Drives an agent over its stdin and stdout."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    async def drive(self, brief: Brief, gate: Gate, emit: Emit) -> Turn:
        """Start the agent, resume or open its conversation, and prompt it until its turn ends."""
        seat, kind = self._seat, KINDS[brief.program.kind]
        start = started(brief, seat)
        seat.seals.put(start.state, kind.sealed, remade=kind.remade)
        process = await seat.spawn(start.argv, environment=start.environment, needs=start.needs)
        client = _Client(gate, emit)
        connection = Connection(process, client)
        conversation = _Conversation(seat, brief, start, connection=connection, client=client)
        listening = asyncio.create_task(connection.listen())
        try:
            turn = await conversation.run()
        except Lost:
            emit(client.parser.used({}))
            code = await exit_within(process, _LAST_S)
            end = "closed its output" if code is None else exit_of(code)
            reason = f"The agent {end} in the middle{last_line(seat.last_words()) or '.'}"
            turn = stopped("crash", reason, says=client.says())
        except Refused as error:
            emit(client.parser.used({}))
            status = conversation.status() or error.code
            turn = refused(status, error.message, error.data, says=client.says(), now=_now(brief))
        finally:
            listening.cancel()
            client.close()
        if connection.noise:
            emit(Noted(text=f"{connection.noise} lines were not understood."))
        return turn


class _Conversation:
    def __init__(
        self, seat: Seat, brief: Brief, start: Start, *, connection: Connection, client: _Client
    ) -> None:
        self._seat, self._brief, self._start = seat, brief, start
        self._connection, self._client = connection, client
        self._session = ""

    async def run(self) -> Turn:
        about = await self._connection.request("initialize", _INTRODUCTION)
        client, words = self._client, await self._opened(about.get("agentCapabilities"))
        try:
            response = await self._prompted(words)
            for _ in range(_BROKEN_OFF):
                # A refusal ends the turn of some agents. The work is not over: prompt again with the reasons.
                if not client.was_broken_off(response.get("stopReason")):
                    break
                reasons = " ".join(client.refusals)
                client.emit(Noted(text=f"A refusal broke its turn off: {reasons}"))
                response = await self._prompted(_REFUSED.format(reasons=reasons))
        except asyncio.CancelledError:
            # The agent may still save its state for the next start.
            await self._connection.notify("session/cancel", {"sessionId": self._session})
            raise
        is_broken_off = client.was_broken_off(response.get("stopReason"))
        turn = ended({"stopReason": "cancelled"} if is_broken_off else response, says=client.says())
        return with_verdict(turn, self._seat, client.emit) if turn.ending == "done" else turn

    def status(self) -> int | None:
        """Return the HTTP status of the model's failure, if the agent stores it instead of reporting it."""
        return last_status(self._start.state, self._session) if self._start.keeps_status else None

    async def _opened(self, capabilities: object) -> str:
        """Resume the conversation of an earlier start, or open a new one; return its first prompt."""
        before, task = self._seat.session, f"{system_for(self._brief)}\n\n{prompt_for(self._brief)}"
        if before is not None:
            # A start that was cut off has not reported its usage: make the total unknown.
            self._client.emit(Used())
        if before is not None and await self._loaded(before, capabilities):
            return resume_prompt()
        if before is not None:
            self._client.emit(Noted(text="Its conversation cannot be resumed; a new one starts."))
            task = f"{task}\n\n{_ANEW}"
        opened = await self._connection.request("session/new", self._place())
        await self._settled(str(opened.get("sessionId")), opened)
        return task

    async def _loaded(self, session: str, capabilities: object) -> bool:
        if not (isinstance(capabilities, dict) and capabilities.get("loadSession") is True):
            return False
        # Updates of a replay were recorded before.
        self._client.is_replay = True
        try:
            opened = await self._connection.request("session/load", {**self._place(), "sessionId": session})
        except Refused as error:
            self._client.emit(Noted(text=f"It refused to take its conversation up again: {error.message}"))
            return False
        finally:
            self._client.parser.reset()
            self._client.is_replay = False
        await self._settled(session, opened)
        return True

    async def _settled(self, session: str, opened: Mapping[str, Any]) -> None:
        self._session = session
        self._client.emit(Conversed(session=session))
        request = mode_request(opened, self._start.mode)
        if request is not None:
            method, params = request
            try:
                await self._connection.request(method, {"sessionId": session, **params})
            except Refused as error:
                self._client.emit(
                    Noted(text=f"It does not take the mode {self._start.mode}: {error.message}")
                )

    def _place(self) -> dict[str, Any]:
        """Return the session's folder and, for a verifier, the MCP server that takes its verdict."""
        brief, desks = self._brief, []
        if brief.role in JUDGES:
            arguments = ["-I", "-S", str(_DESK), str(self._seat.out), brief.intent, str(len(brief.items))]
            desks = [{"name": verdict_tool.SERVER, "command": sys.executable, "args": arguments, "env": []}]
        meta = {"_meta": self._start.meta} if self._start.meta else {}
        return {"cwd": str(brief.workspace), "mcpServers": desks, **meta}

    async def _prompted(self, words: str) -> dict[str, Any]:
        client = self._client
        client.refusals.clear()
        # Drop earlier messages: they are about a change of mode or replay an old conversation.
        client.parser.reset()
        prompt = {"sessionId": self._session, "prompt": [{"type": "text", "text": words}]}
        response = await self._connection.request("session/prompt", prompt)
        client.emit_all(client.parser.end_message())
        used = client.parser.used(response)
        client.emit(used if self._start.counts else replace(used, input_tokens=None, output_tokens=None))
        return response


class _Client:
    """Receives an agent's messages: passes requests to the gate and turns updates into events."""

    def __init__(self, gate: Gate, emit: Emit) -> None:
        self._gate = gate
        self._silence: asyncio.TimerHandle | None = None
        self.emit = emit
        self.is_replay = False
        self.parser = UpdateParser()
        self.refusals: list[str] = []
        self._refused_calls: set[str] = set()
        self._is_refused = False

    async def requested(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Answer a permission request; our client offers no files or terminals."""
        if method != "session/request_permission":
            return None
        call, options = params.get("toolCall"), params.get("options")
        calls = calls_in(call if isinstance(call, dict) else {})
        answers = [await self._gate.ask(tool_call) for tool_call in calls]
        if refused := [answer.reason for answer in answers if not answer.allowed]:
            self.refusals += refused
            self._is_refused = True
            self._refused_calls.add(str(call.get("toolCallId")) if isinstance(call, dict) else "")
        return reply_of(options if isinstance(options, list) else [], answers)

    def was_broken_off(self, stop_reason: object) -> bool:
        """Return whether a refusal ended the turn: some agents report `cancelled`, others `end_turn`."""
        return bool(self.refusals) and (stop_reason == "cancelled" or self._is_refused)

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """Take an update; other notifications are for interactive clients."""
        update = params.get("update")
        if method == "session/update" and isinstance(update, dict):
            if shows_progress(update, self._refused_calls):
                self._is_refused = False
            self.emit_all(self.parser.parse(update))
            self.close()
            # Emit the text so far after 1 s of silence: a model may be slow, and a user may be watching.
            self._silence = asyncio.get_running_loop().call_later(
                _SILENCE_S, lambda: self.emit_all(self.parser.flush())
            )

    def close(self) -> None:
        if self._silence is not None:
            self._silence.cancel()

    def emit_all(self, events: Iterable[Event]) -> None:
        for event in events:
            if not self.is_replay:
                self.emit(event)

    def says(self) -> str:
        self.emit_all(self.parser.end_message())
        return self.parser.says


def _now(brief: Brief) -> datetime:
    """Return the time in the time zone of the agent's environment."""
    try:
        return datetime.now(ZoneInfo(brief.environment["TZ"]))
    except (KeyError, ValueError, ZoneInfoNotFoundError):
        return datetime.now().astimezone()


# opencode does not report the HTTP status of a model failure over ACP; its database has it.
#
# Rule: anything unexpected means unknown. The database is the agent's, and may contain anything.


def last_status(state: Path, session: str) -> int | None:
    """Return the HTTP status of the error in a conversation's last message; None if there is none."""
    try:
        address = f"{(state / 'opencode.db').as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_WAIT_S)) as database:
            row = database.execute(_LAST, (session,)).fetchone()
        message = json.loads(row[0]) if row else None
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        return None
    match message:
        case {"error": {"data": {"statusCode": int(status)}}}:
            return status
        case _:
            return None
