"""Agents that speak the Agent Client Protocol: codex, gemini, opencode, and Claude Code by its ACP adapter.

The one rule: every question of the agent's is the gate's to answer, and a turn is done only when it says so.
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
"""How often a turn that a refusal broke off is gone on with; some agents stop at each."""
_LAST_S: Final = 5
_SILENCE_S: Final = 1.0
_REFUSED: Final = "That was refused: {reasons} Go on without it, or in another way that is yours to choose."
_ANEW: Final = (
    "An earlier start of this work was cut off, and its conversation is lost. What it had done is in the "
    "workspace: look at it first, and go on from there."
)


class Acp:
    """Drives one agent over its own pipes."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    async def drive(self, brief: Brief, gate: Gate, emit: Emit) -> Turn:
        """Start it, take up its conversation or begin one, and hear it to the end of its turn."""
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
    """One conversation with one agent, from its introduction to the end of its turn."""

    def __init__(self, seat: Seat, brief: Brief, start: Start, *, wire: Wire, ear: _Ear) -> None:
        self._seat, self._brief, self._start = seat, brief, start
        self._wire, self._ear = wire, ear
        self._session = ""

    async def held(self) -> Turn:
        """Hold it."""
        about = await self._wire.ask("initialize", _introduction())
        ear, words = self._ear, await self._opened(about.get("agentCapabilities"))
        try:
            response = await self._prompted(words)
            for _ in range(_BROKEN_OFF):
                # A refusal ends the turn of some agents: that is told to them, and is no end of the work.
                if not ear.was_broken_off(response.get("stopReason")):
                    break
                reasons = " ".join(ear.refusals)
                ear.emit(Noted(text=f"A refusal broke its turn off: {reasons}"))
                response = await self._prompted(_REFUSED.format(reasons=reasons))
        except asyncio.CancelledError:
            # It may still write down where it was, for the next start.
            await self._wire.tell("session/cancel", {"sessionId": self._session})
            raise
        is_broken_off = ear.was_broken_off(response.get("stopReason"))
        turn = ended({"stopReason": "cancelled"} if is_broken_off else response, says=ear.says())
        return self._with_verdict(turn) if turn.ending == "done" else turn

    def status(self) -> int | None:
        """Give the status with which its model failed, where that has to be looked up."""
        return last_status(self._start.state, self._session) if self._start.keeps_status else None

    async def _opened(self, capabilities: object) -> str:
        """Take the conversation of an earlier start up again, or begin one; give what to say in it."""
        before, task = self._seat.session, f"{system_for(self._brief)}\n\n{prompt_for(self._brief)}"
        if before is not None:
            # A start that was cut off has told nobody what it used.
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
        """Say where it works, and hand a verifier the tool for its verdict; nobody else has one to give."""
        brief, desks = self._brief, []
        if brief.role == "verify":
            arguments = ["-I", "-S", str(_DESK), str(self._seat.out), brief.intent, str(len(brief.items))]
            desks = [{"name": verdict_tool.SERVER, "command": sys.executable, "args": arguments, "env": []}]
        meta = {"_meta": self._start.meta} if self._start.meta else {}
        return {"cwd": str(brief.workspace), "mcpServers": desks, **meta}

    async def _prompted(self, words: str) -> dict[str, Any]:
        ear = self._ear
        ear.refusals.clear()
        # What it said until now was about itself: a change of its mode, a conversation from before.
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
    """Hears one agent: its questions go to the gate, its updates become events."""

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
        """Answer a permission question; files and terminals of ours are not offered."""
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
        """Tell whether a refusal was the end of a turn: some agents call that cancelled, some an end."""
        return bool(self.refusals) and (stop_reason == "cancelled" or self._is_refused)

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        """Take an update; other notifications are for people at a screen."""
        update = params.get("update")
        if method == "session/update" and isinstance(update, dict):
            if goes_on(update, self._refused_calls):
                self._is_refused = False
            self.hear(self.hearing.take(update))
            self.close()
            self._silence = asyncio.get_running_loop().call_later(_SILENCE_S, self._after_silence)

    def close(self) -> None:
        """Wait for no silence any more."""
        if self._silence is not None:
            self._silence.cancel()

    def _after_silence(self) -> None:
        """Pass on what was said so far: a model may take its time, and somebody looks on."""
        self.hear(self.hearing.breath())

    def hear(self, events: Iterable[Event]) -> None:
        """Pass events on, unless they are only told again."""
        for event in events:
            if not self._is_deaf:
                self.emit(event)

    def says(self) -> str:
        """Give the agent's last words."""
        self.hear(self.hearing.pause())
        return self.hearing.says

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Let a conversation be replayed: what it cost and called is known, and said again is nothing."""
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
    """Give the time in the zone in which the agent tells it."""
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


# Look up in opencode's own database what it does not say over ACP: the status with which its model failed.
#
# The one rule: what is not as it was measured is unknown; the database is the agent's, and may hold anything.


def last_status(state: Path, session: str) -> int | None:
    """Give the HTTP status of the error that a conversation's last message ended with."""
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
