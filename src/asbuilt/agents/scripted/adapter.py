"""The scripted agent: an adapter that plays a TOML script, for tests and for trying asbuilt without a model.

Rule: every act runs in a child process inside the sandbox, restricted exactly like a real agent.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from asbuilt.agents.attempt_folder import verdict_in
from asbuilt.agents.contract import Call, Called, Conversed, Noted, Said, Turn, Used, stopped
from asbuilt.agents.scripted.script import Act, read_script
from asbuilt.agents.streams import Lines, exit_of, lines_of, object_in, send
from asbuilt.errors import ScriptInvalid

if TYPE_CHECKING:
    import asyncio

    from asbuilt.agents.contract import Emit, Gate, Seat
    from asbuilt.events.event import Cause
    from asbuilt.ports import Brief

_PLAY: Final = Path(__file__).resolve().with_name("play.py")
_LINE_CAP: Final = 1 << 20
_TOLD: Final = ("phase", "items", "intent", "changed", "removed", "shown")
"""Fields of the brief that the player needs for a verdict."""
NOTHING: Final = "The script has nothing for this; nothing was changed."


@dataclass(slots=True)
class _Heard:
    """Messages of the child so far."""

    says: str = ""
    failed: str | None = None
    cause: Cause | None = None
    limit: str | None = None
    noise: int = 0


class Scripted:
    """Plays the brief's script."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    async def drive(self, brief: Brief, gate: Gate, emit: Emit) -> Turn:
        """Play the first matching turn."""
        told = re.match(r"\d+", brief.attempt.rpartition(".")[2])
        number = int(told[0]) if told else 1
        try:
            acts = self._acts(brief, number)
        except ScriptInvalid as error:
            return Turn(ending="failed", reason=f"{error.what} {error.why}")
        process = await self._seat.spawn((sys.executable, "-I", "-S", str(_PLAY), str(self._seat.out)))
        heard = _Heard()
        await send(process, {"acts": acts, **{name: getattr(brief, name) for name in _TOLD}})
        await self._listen(process, heard, gate, emit)
        return self._turn(await process.wait(), heard, emit)

    def _acts(self, brief: Brief, number: int) -> tuple[Act, ...]:
        if brief.script is None:
            return ({"say": NOTHING},)
        acts = read_script(brief.script).acts_for(
            phase=brief.phase, role=brief.role, attempt=number, start=self._seat.start
        )
        return ({"say": NOTHING},) if acts is None else acts

    async def _listen(
        self, process: asyncio.subprocess.Process, heard: _Heard, gate: Gate, emit: Emit
    ) -> None:
        lines = Lines(_LINE_CAP)
        async for line in lines_of(process, lines):
            message = object_in(line)
            if message is None:
                heard.noise += 1
            elif "ask" in message:
                path, command = message.get("path"), message.get("command")
                call = Call(tool="scripted", kind=message["ask"], path=path, command=command)
                await send(process, asdict(await gate.ask(call)))
            else:
                _take(message, heard, emit)
        heard.noise += lines.dropped

    def _turn(self, code: int, heard: _Heard, emit: Emit) -> Turn:
        if heard.noise:
            emit(Noted(text=f"{heard.noise} lines were not understood."))
        if heard.limit is not None:
            return stopped(
                "usage_limit", "Its usage limit is reached.", says=heard.says, resets_at=heard.limit
            )
        if code != 0:
            return stopped("crash", f"The agent {exit_of(code)}.", says=heard.says)
        if heard.failed is not None and heard.cause is not None:
            return stopped(heard.cause, heard.failed, says=heard.says)
        if heard.failed is not None:
            return Turn(ending="failed", reason=heard.failed, says=heard.says)
        verdict = verdict_in(self._seat.out)
        for trouble in verdict.troubles if verdict else ():
            emit(Noted(text=trouble))
        return Turn(ending="done", reason="The agent says that it is done.", says=heard.says, verdict=verdict)


def _take(message: dict[str, Any], heard: _Heard, emit: Emit) -> None:
    match message:
        case {"say": str(text)}:
            heard.says = text
            emit(Said(text=text))
        case {"called": str(tool), "detail": str(detail)}:
            emit(Called(tool=tool, detail=detail))
        case {"noted": str(text)}:
            emit(Noted(text=text))
        case {"usage": int(given), "output": int(made), "cost_usd": int() | float() | None as cost}:
            emit(Used(input_tokens=given, output_tokens=made, cost_usd=cost))
        case {"session": str(session)}:
            emit(Conversed(session=session))
        case {"limit": int() | float() as seconds}:
            heard.limit = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="seconds")
        case {"limit": str(moment)}:
            heard.limit = moment
        case {"fail": str(reason), "cause": str() | None as cause}:
            heard.failed, heard.cause = reason, cause  # type: ignore[assignment]  # a word that the script allows
        case {"kill_host": True}:
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            heard.noise += 1
