"""The scripted agent: an adapter that plays a TOML script, for tests and for trying asbuilt without a model.

Rule: every act runs in a child process inside the sandbox, restricted exactly like a real agent.

docs/reference/scripted-agent.md describes the format of a script. Rule: an invalid script is refused with its
line; a typo never becomes a turn that does nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import sys
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, get_args

from msgspec import Struct
from msgspec.structs import asdict

from asbuilt.agents.attempt_folder import with_verdict
from asbuilt.agents.contract import (
    Call,
    Called,
    Conversed,
    Emit,
    Gate,
    Noted,
    Said,
    Seat,
    Turn,
    Used,
    stopped,
)
from asbuilt.agents.streams import Lines, exit_of, lines_of, object_in, send
from asbuilt.errors import ScriptInvalid
from asbuilt.events.event import Cause
from asbuilt.policy.roles import Role
from asbuilt.ports import Brief

_PLAY: Final = Path(__file__).resolve().with_name("play.py")
_LINE_CAP: Final = 1 << 20
_SENT: Final = ("phase", "items", "intent", "changed", "removed", "shown")
"""Fields of the brief that the player needs for a verdict."""
NOTHING: Final = "The script has nothing for this; nothing was changed."
Act = dict[str, Any]

_TEXT: Final = (str,)
_NUMBER: Final = (int, float)
_WHOLE: Final = (int,)
_FLAG: Final = (bool,)
_COMMAND: Final = (str, list)
_TIME: Final = (int, float, str, datetime)

# Types of each act's own key, then of its other keys; a leading `*` marks the required ones.
ACTS: Final[dict[str, tuple[tuple[type, ...], dict[str, tuple[type, ...]]]]] = {
    "write": (_TEXT, {"*text": _TEXT, "mode": _TEXT}),
    "append": (_TEXT, {"*text": _TEXT}),
    "replace": (_TEXT, {"*old": _TEXT, "*new": _TEXT}),
    "delete": (_TEXT, {}),
    "move": (_TEXT, {"*to": _TEXT}),
    "read": (_TEXT, {}),
    "run": (_COMMAND, {}),
    "spawn": (_COMMAND, {}),
    "say": (_TEXT, {}),
    "session": (_TEXT, {}),
    "sleep": (_NUMBER, {}),
    "hang": (_FLAG, {}),
    "ignore_term": (_FLAG, {}),
    "flood": (_WHOLE, {"stream": _TEXT, "lines": _FLAG}),
    "exit": (_WHOLE, {}),
    "signal": (_TEXT, {}),
    "kill_host": (_FLAG, {}),
    "fail": (_TEXT, {"cause": _TEXT}),
    "ask": (_TEXT, {"path": _TEXT, "command": _TEXT}),
    "usage": (_WHOLE, {"output": _WHOLE, "cost_usd": _NUMBER}),
    "limit": (_TIME, {}),
    "verdict": (
        _TEXT,
        {"items": (list,), "why": _TEXT, "evidence": (list,), "intent": _TEXT, "entries": (list,)},
    ),
    "drift": (_TEXT, {"*bullet": _WHOLE, "*plan": _TEXT, "*actual": _TEXT}),
}
_WORDS: Final = {
    "role": get_args(Role),
    "when": ("allowed", "denied"),
    "ask": ("read", "edit", "run", "fetch", "other"),
    "verdict": ("pass", "fail", "each"),
    "stream": ("stdout", "stderr"),
    "cause": get_args(Cause),
    "signal": ("KILL", "TERM", "SEGV", "ABRT", "HUP", "INT"),
}
_LISTS: Final = {"items": (int, "item numbers"), "evidence": (dict, "tables"), "entries": (dict, "tables")}
_MATCHES: Final = {"phase": (str, int), "role": _TEXT, "attempt": _WHOLE, "start": _WHOLE}
_TURN_LINE: Final = re.compile(r"\s*\[\[\s*turn\s*\]\]")


class _TurnState(Struct):
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
        digits = re.match(r"\d+", brief.attempt.rpartition(".")[2])
        number = int(digits[0]) if digits else 1
        try:
            acts = self._acts(brief, number)
        except ScriptInvalid as error:
            return Turn(ending="failed", reason=f"{error.what}. {error.why}")
        process = await self._seat.spawn((sys.executable, "-I", "-S", str(_PLAY), str(self._seat.out)))
        state = _TurnState()
        await send(process, {"acts": acts, **{name: getattr(brief, name) for name in _SENT}})
        await self._listen(process, state, gate, emit)
        return self._turn(await process.wait(), state, emit)

    def _acts(self, brief: Brief, number: int) -> tuple[Act, ...]:
        facts = {"phase": brief.phase, "role": brief.role, "attempt": number, "start": self._seat.start}
        acts = read_script(brief.script).acts_for(**facts) if brief.script is not None else None
        return ({"say": NOTHING},) if acts is None else acts

    async def _listen(
        self, process: asyncio.subprocess.Process, state: _TurnState, gate: Gate, emit: Emit
    ) -> None:
        lines = Lines(_LINE_CAP)
        async for line in lines_of(process, lines):
            message = object_in(line)
            if message is None:
                state.noise += 1
            elif "ask" in message:
                path, command = message.get("path"), message.get("command")
                call = Call(tool="scripted", kind=message["ask"], path=path, command=command)
                await send(process, asdict(await gate.ask(call)))
            else:
                _take(message, state, emit)
        state.noise += lines.dropped

    def _turn(self, code: int, state: _TurnState, emit: Emit) -> Turn:
        if state.noise:
            emit(Noted(text=f"{state.noise} lines were not understood."))
        if state.limit is not None:
            return stopped(
                "usage_limit", "Its usage limit is reached.", says=state.says, resets_at=state.limit
            )
        if code != 0:
            return stopped("crash", f"The agent {exit_of(code)}.", says=state.says)
        if state.failed is not None and state.cause is not None:
            return stopped(state.cause, state.failed, says=state.says)
        if state.failed is not None:
            return Turn(ending="failed", reason=state.failed, says=state.says)
        done = Turn(ending="done", reason="The agent says that it is done.", says=state.says)
        return with_verdict(done, self._seat, emit)


def _take(message: dict[str, Any], state: _TurnState, emit: Emit) -> None:
    match message:
        case {"say": str(text)}:
            state.says = text
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
            state.limit = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="seconds")
        case {"limit": str(moment)}:
            state.limit = moment
        case {"fail": str(reason), "cause": str() | None as cause}:
            state.failed, state.cause = reason, cause  # type: ignore[assignment]  # a word that the script allows
        case {"kill_host": True}:
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            state.noise += 1


class ScriptedTurn(Struct, frozen=True, kw_only=True):
    """A turn of the script; a condition that is None always matches."""

    acts: tuple[Act, ...]
    phase: str | None = None
    role: str | None = None
    attempt: int | None = None
    start: int | None = None

    def fits(self, facts: Mapping[str, object]) -> bool:
        """Return whether all conditions match."""
        return all(getattr(self, name) in (None, fact) for name, fact in facts.items())


class Script(Struct, frozen=True, kw_only=True):
    """Turns in the order of the file; the first match is played."""

    turns: tuple[ScriptedTurn, ...]

    def acts_for(self, **facts: object) -> tuple[Act, ...] | None:
        """Return the acts of the first turn that fits phase, role, attempt and start; None without one."""
        return next((turn.acts for turn in self.turns if turn.fits(facts)), None)


def read_script(file: Path) -> Script:
    """Read a script from its file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptInvalid(
            f"the script {file} cannot be read: {error}",
            why="The scripted agent does what its script says, and nothing else.",
            next_step=f"`ls -ld {shlex.quote(str(file))}`; give a readable TOML file.",
        ) from error
    return parsed(text, name=file.name)


def parsed(text: str, *, name: str = "script") -> Script:
    """Parse a script; raises `ScriptInvalid` with the line of the first error."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        position = re.search(r"\(at line (\d+)", str(error))
        line = int(position[1]) if position else text.count("\n") + 1
        raise _wrong(name, line, f"not TOML: {str(error).partition(' (at ')[0][:120]}") from error
    places = _Places(text)
    if unknown := sorted(set(data) - {"turn"}):
        raise _wrong(name, 1, f'"{unknown[0]}" is not known here; a script consists of [[turn]] tables')
    tables = data.get("turn", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _wrong(name, 1, "turns are written as [[turn]] tables")
    return Script(turns=tuple(_turn(table, name, places, number) for number, table in enumerate(tables)))


def _turn(table: dict[str, Any], name: str, places: _Places, number: int) -> ScriptedTurn:
    line = places.turn(number)
    if unknown := sorted(set(table) - {*_MATCHES, "acts"}):
        raise _wrong(name, line, f'a turn has no key "{unknown[0]}"; it has {", ".join(_MATCHES)} and acts')
    for key, types in _MATCHES.items():
        _fitting(table, key, types, (name, line))
    acts = table.get("acts", [])
    if not isinstance(acts, list):
        raise _wrong(name, line, "acts is a list of tables")
    phase = table.get("phase")
    return ScriptedTurn(
        acts=tuple(_act(act, (name, places.act(number, at, of=len(acts)))) for at, act in enumerate(acts)),
        phase=None if phase is None else str(phase),
        role=table.get("role"),
        attempt=table.get("attempt"),
        start=table.get("start"),
    )


def _act(act: object, place: tuple[str, int]) -> Act:
    if not isinstance(act, dict):
        raise _wrong(*place, 'an act is a table, as in { say = "done" }')
    kinds = [key for key in act if key in ACTS]
    if len(kinds) != 1:
        known = ", ".join(ACTS)
        raise _wrong(
            *place, f"an act is exactly one of {known}; this one has {', '.join(kinds) or 'none of them'}"
        )
    kind = kinds[0]
    takes, others = ACTS[kind]
    keys = {key.lstrip("*"): types for key, types in others.items()} | {"when": _TEXT}
    if unknown := sorted(set(act) - {kind, *keys}):
        raise _wrong(*place, f'"{kind}" has no key "{unknown[0]}"')
    if missing := [key[1:] for key in others if key.startswith("*") and key[1:] not in act]:
        raise _wrong(*place, f'"{kind}" also needs "{missing[0]}"')
    for key, types in {kind: takes, **keys}.items():
        _fitting(act, key, types, place)
    if kind == "limit":
        return {**act, "limit": _moment(act["limit"], place)}
    return dict(act)


def _fitting(table: dict[str, Any], key: str, types: tuple[type, ...], place: tuple[str, int]) -> None:
    if key not in table:
        return
    value = table[key]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        names = {
            str: "text",
            int: "a whole number",
            float: "a number",
            bool: "true",
            list: "a list",
            datetime: "a time",
        }
        raise _wrong(*place, f'"{key}" takes {" or ".join(names[kind] for kind in types)}')
    of, called = _LISTS.get(key, (str, "texts"))
    if isinstance(value, list) and not all(isinstance(element, of) for element in value):
        raise _wrong(*place, f'"{key}" takes a list of {called}')
    if key in _WORDS and value not in _WORDS[key]:
        raise _wrong(*place, f'"{key}" is one of {", ".join(_WORDS[key])}')


def _moment(value: object, place: tuple[str, int]) -> str | float:
    """Return a time as UTC ISO 8601, or seconds from now as a number."""
    if isinstance(value, int | float):
        return value
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError as error:
        raise _wrong(*place, '"limit" takes seconds from now, or a time in ISO 8601') from error
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).isoformat()


class _Places:
    """Line numbers of turns and acts, found in the text because the TOML parser does not report them."""

    def __init__(self, text: str) -> None:
        self._turns: list[tuple[int, list[int]]] = []
        closing = ""
        for number, line in enumerate(text.split("\n"), start=1):
            if not closing:
                if _TURN_LINE.match(line):
                    self._turns.append((number, []))
                elif self._turns and re.match(r"\s*(acts\s*=\s*\[\s*)?\{", line):
                    self._turns[-1][1].append(number)
            for quote in ('"""', "'''"):
                if line.count(quote) % 2 and closing in ("", quote):
                    closing = "" if closing else quote

    def turn(self, number: int) -> int:
        return self._turns[number][0] if number < len(self._turns) else 1

    def act(self, number: int, at: int, *, of: int) -> int:
        lines = self._turns[number][1] if number < len(self._turns) else []
        return lines[at] if len(lines) == of else self.turn(number)


def _wrong(name: str, line: int, what: str) -> ScriptInvalid:
    return ScriptInvalid(
        f"{name}:{line}: {what}",
        why="A script that is parsed only in part would perform other actions.",
        next_step="Correct that line; docs/reference/scripted-agent.md tells every act.",
    )
