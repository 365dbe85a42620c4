"""Drive agents over the Agent Client Protocol: codex, gemini, opencode, Claude Code through its ACP adapter.

Rule: the gate answers every permission request, and a turn is done only when the agent ends it (`end_turn`).
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from asbuilt._version import VERSION
from asbuilt.agents import verdict_tool
from asbuilt.agents.acp.endings import ended, refused
from asbuilt.agents.acp.json_rpc import Lost, Refused, Wire
from asbuilt.agents.acp.programs import started
from asbuilt.agents.acp.updates import Hearing, calls_in, goes_on, mode_request, reply_of
from asbuilt.agents.contract import Conversed, Noted, Used, stopped
from asbuilt.agents.prompt import go_on, prompt_for, system_for
from asbuilt.agents.verdicts import verdict_in
from asbuilt.policy.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from asbuilt.agents.acp.programs import Start
    from asbuilt.agents.contract import Emit, Event, Gate, Seat, Turn
    from asbuilt.ports import Brief

_LAST: Final = "SELECT data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1"
_WAIT_S: Final = 1.0


_PROTOCOL: Final = 1
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
        seat.seal(start.state, kind.sealed, remade=kind.remade)
        process = await seat.spawn(start.argv, environment=start.environment, needs=start.needs)
        ear = _Ear(gate, emit)
        wire = Wire(process, ear)
        conversation = _Conversation(seat, brief, start, wire=wire, ear=ear)
        listening = asyncio.create_task(wire.listen())
        try:
            turn = await conversation.held()
        except Lost:
            emit(ear.hearing.used({}))
            reason = f"The agent {await _end_of(process)} in the middle{_quoted(seat.last_words())}"
            turn = stopped("crash", reason, says=ear.says())
        except Refused as error:
            emit(ear.hearing.used({}))
            code = conversation.status() or error.code
            turn = refused(code, error.message, error.data, says=ear.says(), now=_now(brief))
        finally:
            listening.cancel()
            ear.close()
        if wire.noise:
            emit(Noted(text=f"{wire.noise} lines were not understood."))
        return turn


class _Conversation:
    """A conversation with an agent, from `initialize` to the end of its turn."""

    def __init__(self, seat: Seat, brief: Brief, start: Start, *, wire: Wire, ear: _Ear) -> None:
        self._seat, self._brief, self._start = seat, brief, start
        self._wire, self._ear = wire, ear
        self._session = ""

    async def held(self) -> Turn:
        """Open the conversation and prompt the agent until its turn ends."""
        about = await self._wire.ask("initialize", _introduction())
        ear, words = self._ear, await self._opened(about.get("agentCapabilities"))
        try:
            response = await self._prompted(words)
            for _ in range(_BROKEN_OFF):
                # A refusal ends the turn of some agents. The work is not over: prompt again with the reasons.
                if not ear.was_broken_off(response.get("stopReason")):
                    break
                reasons = " ".join(ear.refusals)
                ear.emit(Noted(text=f"A refusal broke its turn off: {reasons}"))
                response = await self._prompted(_REFUSED.format(reasons=reasons))
        except asyncio.CancelledError:
            # The agent may still save its state for the next start.
            await self._wire.tell("session/cancel", {"sessionId": self._session})
            raise
        is_broken_off = ear.was_broken_off(response.get("stopReason"))
        turn = ended({"stopReason": "cancelled"} if is_broken_off else response, says=ear.says())
        return self._with_verdict(turn) if turn.ending == "done" else turn

    def status(self) -> int | None:
        """Return the HTTP status of the model's failure, if the agent stores it instead of reporting it."""
        return last_status(self._start.state, self._session) if self._start.keeps_status else None

    async def _opened(self, capabilities: object) -> str:
        """Resume the conversation of an earlier start, or open a new one; return its first prompt."""
        before, task = self._seat.session, f"{system_for(self._brief)}\n\n{prompt_for(self._brief)}"
        if before is not None:
            # A start that was cut off has not reported its usage: make the total unknown.
            self._ear.emit(Used())
        if before is not None and await self._loaded(before, capabilities):
            return go_on()
        if before is not None:
            self._ear.emit(Noted(text="Its conversation cannot be taken up again; a new one is told so."))
            task = f"{task}\n\n{_ANEW}"
        opened = await self._wire.ask("session/new", self._place())
        await self._settled(str(opened.get("sessionId")), opened)
        return task

    async def _loaded(self, session: str, capabilities: object) -> bool:
        if not (isinstance(capabilities, dict) and capabilities.get("loadSession") is True):
            return False
        with self._ear.deaf():
            try:
                opened = await self._wire.ask("session/load", {**self._place(), "sessionId": session})
            except Refused as error:
                self._ear.emit(Noted(text=f"It refused to take its conversation up again: {error.message}"))
                return False
        await self._settled(session, opened)
        return True

    async def _settled(self, session: str, opened: Mapping[str, Any]) -> None:
        self._session = session
        self._ear.emit(Conversed(session=session))
        request = mode_request(opened, self._start.mode)
        if request is not None:
            method, params = request
            try:
                await self._wire.ask(method, {"sessionId": session, **params})
            except Refused as error:
                self._ear.emit(Noted(text=f"It does not take the mode {self._start.mode}: {error.message}"))

    def _place(self) -> dict[str, Any]:
        """Return the session's folder and, for a verifier, the MCP server that takes its verdict."""
        brief, desks = self._brief, []
        if brief.role == "verify":
            arguments = ["-I", "-S", str(_DESK), str(self._seat.out), brief.intent, str(len(brief.items))]
            desks = [{"name": verdict_tool.SERVER, "command": sys.executable, "args": arguments, "env": []}]
        meta = {"_meta": self._start.meta} if self._start.meta else {}
        return {"cwd": str(brief.workspace), "mcpServers": desks, **meta}

    async def _prompted(self, words: str) -> dict[str, Any]:
        ear = self._ear
        ear.refusals.clear()
        # Drop earlier messages: they are about a change of mode or replay an old conversation.
        ear.hearing.forget()
        told = {"sessionId": self._session, "prompt": [{"type": "text", "text": words}]}
        response = await self._wire.ask("session/prompt", told)
        ear.hear(ear.hearing.pause())
        used = ear.hearing.used(response)
        ear.emit(used if self._start.counts else replace(used, input_tokens=None, output_tokens=None))
        return response

    def _with_verdict(self, turn: Turn) -> Turn:
        verdict = verdict_in(self._seat.out)
        for trouble in verdict.troubles if verdict else ():
            self._ear.emit(Noted(text=trouble))
        return replace(turn, verdict=verdict)


class _Ear:
    """Receives an agent's messages: passes requests to the gate and turns updates into events."""

    def __init__(self, gate: Gate, emit: Emit) -> None:
        self._gate = gate
        self._is_deaf = False
        self._silence: asyncio.TimerHandle | None = None
        self.emit = emit
        self.hearing = Hearing()
        self.refusals: list[str] = []
        self._refused_calls: set[str] = set()
        self._is_refused = False

    async def asked(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Answer a permission request; our client offers no files or terminals."""
        if method != "session/request_permission":
            return None
        call, options = params.get("toolCall"), params.get("options")
        calls = calls_in(call if isinstance(call, dict) else {})
        answers = [await self._gate.ask(one) for one in calls]
        if refused := [answer.reason for answer in answers if not answer.allowed]:
            self.refusals += refused
            self._is_refused = True
            self._refused_calls.add(str(call.get("toolCallId")) if isinstance(call, dict) else "")
        return reply_of(options if isinstance(options, list) else [], answers)

    def was_broken_off(self, stop_reason: object) -> bool:
        """Return whether a refusal ended the turn: some agents report `cancelled`, others `end_turn`."""
        return bool(self.refusals) and (stop_reason == "cancelled" or self._is_refused)

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        """Take an update; other notifications are for interactive clients."""
        update = params.get("update")
        if method == "session/update" and isinstance(update, dict):
            if goes_on(update, self._refused_calls):
                self._is_refused = False
            self.hear(self.hearing.take(update))
            self.close()
            self._silence = asyncio.get_running_loop().call_later(_SILENCE_S, self._after_silence)

    def close(self) -> None:
        """Cancel the silence timer."""
        if self._silence is not None:
            self._silence.cancel()

    def _after_silence(self) -> None:
        """Emit the text so far after 1 s of silence: a model may be slow, and a user may be watching."""
        self.hear(self.hearing.breath())

    def hear(self, events: Iterable[Event]) -> None:
        """Emit events, unless a conversation is being replayed."""
        for event in events:
            if not self._is_deaf:
                self.emit(event)

    def says(self) -> str:
        """Return the agent's last message."""
        self.hear(self.hearing.pause())
        return self.hearing.says

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Ignore updates while a conversation is replayed: they were recorded before."""
        self._is_deaf = True
        try:
            yield
        finally:
            self.hearing.forget()
            self._is_deaf = False


def _introduction() -> dict[str, Any]:
    return {
        "protocolVersion": _PROTOCOL,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": {"name": "asbuilt", "version": VERSION},
    }


def _quoted(words: str) -> str:
    lines = words.splitlines()
    return f": {lines[-1][:300]}" if lines else "."


def _now(brief: Brief) -> datetime:
    """Return the time in the time zone of the agent's environment."""
    try:
        return datetime.now(ZoneInfo(brief.environment["TZ"]))
    except (KeyError, ValueError, ZoneInfoNotFoundError):
        return datetime.now().astimezone()


async def _end_of(process: asyncio.subprocess.Process) -> str:
    try:
        code = await asyncio.wait_for(process.wait(), _LAST_S)
    except TimeoutError:
        return "closed its output"
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


# opencode does not report the HTTP status of a model failure over ACP; its database has it.
#
# Rule: anything unexpected means unknown. The database is the agent's, and may contain anything.


def last_status(state: Path, session: str) -> int | None:
    """Return the HTTP status of the error in a conversation's last message; None if there is none."""
    try:
        with closing(
            sqlite3.connect(f"{(state / 'opencode.db').as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)
        ) as database:
            row = database.execute(_LAST, (session,)).fetchone()
        message = json.loads(row[0]) if row else None
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        return None
    match message:
        case {"error": {"data": {"statusCode": int(status)}}}:
            return status
        case _:
            return None
