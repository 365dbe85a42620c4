"""Claude Code: the user's own `claude`, driven over its stream-json control protocol.

Its PreToolUse hook calls us before every tool call; the answer is always "ask". The gate then answers the
permission request that follows. The hook decides nothing, because a failing hook lets a call through; an
unanswered permission request does not.

`--setting-sources ""`: no rules, hooks or plug-ins from settings files, neither the user's nor the
repository's; of the user's settings only the login is read. `--strict-mcp-config`: no MCP servers either.
`--tools`: tools that are not listed do not exist.

Rule: a request that is in doubt gets no permission.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any, Final, assert_never

from asbuilt.agents.capture import Lines
from asbuilt.agents.claude import messages as say
from asbuilt.agents.claude.cost import tally_in, used_by, used_without_end
from asbuilt.agents.claude.ending import Heard, turn_of
from asbuilt.agents.claude.messages import (
    LINE_CAP,
    Asked,
    Begun,
    Ended,
    Hooked,
    Known,
    Limited,
    Noticed,
    Refused,
    Spoke,
    Unasked,
    Unknown,
    message_in,
)
from asbuilt.agents.claude.state import State, can_go_on, session_of, state_of
from asbuilt.agents.contract import Call, Called, Conversed, Modelled, Needs, Noted, Said, Turn, stopped
from asbuilt.agents.prompt import go_on, prompt_for, system_for
from asbuilt.policy.kinds import KINDS, hosts_of
from asbuilt.proof.opinion import form

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.agents.claude.cost import Tally
    from asbuilt.agents.claude.messages import Message
    from asbuilt.agents.contract import Emit, Gate, Seat
    from asbuilt.policy.roles import Kind
    from asbuilt.ports import Brief

GIVEN: Final = ("Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Task", "Write")
"""Tools of the roles that write; all others are removed: network, schedules, other agents."""
GIVEN_TO_READ: Final = ("Read", "Grep", "Glob")
_VERDICT: Final = "StructuredOutput"
# Each tool's kind of call, and the key of the path or command in its input.
_TOOLS: Final[dict[str, tuple[Kind, str]]] = {
    "Read": ("read", "file_path"),
    "Grep": ("read", "path"),
    "Glob": ("read", "path"),
    "Edit": ("edit", "file_path"),
    "MultiEdit": ("edit", "file_path"),
    "Write": ("edit", "file_path"),
    "NotebookEdit": ("edit", "notebook_path"),
    "Bash": ("run", "command"),
    "WebFetch": ("fetch", ""),
    "WebSearch": ("fetch", ""),
    "Task": ("delegate", ""),
    "Agent": ("delegate", ""),
    "BashOutput": ("note", ""),
    "KillShell": ("note", ""),
    "TaskOutput": ("note", ""),
    "TaskStop": ("note", ""),
    "TodoWrite": ("note", ""),
    "ToolSearch": ("note", ""),
    _VERDICT: ("submit", ""),
}


_PIECE: Final = 1 << 18
_WAYS_IN: Final = tuple(name for name in KINDS["claude"].variables if name != "CLAUDE_CONFIG_DIR")
_LEAVES_S: Final = 30
"""Time limit in seconds for the process to exit after its turn."""


class Claude:
    """Drives `claude` through an attempt."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._process: asyncio.subprocess.Process | None = None
        self._where: dict[str, str] = {}
        self._unknown: set[str] = set()

    async def drive(self, brief: Brief, gate: Gate, emit: Emit) -> Turn:
        """Run the agent until its turn ends."""
        state = state_of(self._seat, brief)
        state.prepare()
        if state.own or self._seat.level == "none":
            # Otherwise the agent cannot change these files, and the user may edit their own settings.
            self._seat.seal(state.login, KINDS["claude"].sealed)
        session, goes_on = self._session(brief, state)
        emit(Conversed(session=session))
        tally = tally_in(state.transcript(session) if goes_on else None)
        left = _left_of(brief.program.budget_usd, tally)
        if left is not None and left <= 0:
            return stopped("budget", f"Its budget of ${brief.program.budget_usd:g} is spent.")
        variables, helper = state.ways_in(_WAYS_IN)
        line = arguments(brief, session, goes_on=goes_on, budget_usd=left)
        process = self._process = await self._seat.spawn(
            (*line, *(("--settings", json.dumps({"apiKeyHelper": helper})) if helper else ())),
            environment={**variables, **brief.environment, **state.environment},
            needs=Needs(
                own=state.own,
                hidden=state.others,
                programs=(helper.split()[0],) if helper else (),
                hosts=hosts_of(KINDS["claude"], {**variables, **brief.environment}),
            ),
        )
        self._seat.before_end(self._interrupt)
        heard = Heard()
        await self._tell(say.hello())
        await self._tell(say.prompt(go_on() if goes_on else prompt_for(brief)))
        await self._listen(process, heard, gate, emit)
        code = await self._left(process)
        if heard.ended is not None:
            emit(used_by(heard.ended, tally))
        elif used := used_without_end(tally_in(state.transcript(session))):
            emit(used)
        return turn_of(code, heard, brief, last_words=self._seat.last_words())

    def _session(self, brief: Brief, state: State) -> tuple[str, bool]:
        """Return the conversation, and whether it is resumed: an earlier start's if it has any message."""
        earlier = self._seat.session
        if earlier and can_go_on(state.transcript(earlier)):
            return earlier, True
        return session_of(brief, self._seat.start), False

    async def _listen(
        self, process: asyncio.subprocess.Process, heard: Heard, gate: Gate, emit: Emit
    ) -> None:
        lines = Lines(LINE_CAP)
        while process.stdout is not None and (piece := await process.stdout.read(_PIECE)):
            for line in lines.feed(piece):
                if line.strip():
                    await self._take(message_in(line), heard, gate, emit)
        if lines.dropped:
            emit(Noted(text=f"{lines.dropped} lines were longer than {LINE_CAP} bytes."))

    async def _take(self, message: Message, heard: Heard, gate: Gate, emit: Emit) -> None:
        match message:
            case Begun(version=version, tools=tools, model=model):
                emit(Modelled(model=model))
                emit(Noted(text=f"Claude Code {version} with {', '.join(tools)}."))
            case Hooked(request=request, call=call, cwd=cwd):
                self._where |= {call: cwd} if cwd else {}
                await self._tell(say.ask_us(request))
            case Asked():
                await self._answer(message, gate)
            case Unasked(request=request, subtype=subtype):
                await self._tell(say.not_done(request, subtype))
            case Spoke(texts=texts, calls=calls, error=error):
                heard.error = error or heard.error
                for text in texts:
                    heard.says = text
                    emit(Noted(text=text) if error else Said(text=text))
                for tool, about in calls:
                    emit(Called(tool=tool, detail=about))
            case Limited(rejected=True, resets_at=resets_at):
                heard.resets_at = resets_at
            case Noticed(text=text):
                emit(Noted(text=text))
            case Refused(reason=reason):
                emit(Noted(text=f"It cannot do what we asked for: {reason}"))
            case Ended():
                heard.ended = message
                self._close()
            case Unknown(kind=kind):
                if kind not in self._unknown:
                    self._unknown.add(kind)
                    emit(Noted(text=f"Claude Code says something that is not understood: {kind[:100]}."))
            case Known() | Limited():
                pass
            case _:
                assert_never(message)

    async def _answer(self, asked: Asked, gate: Gate) -> None:
        answer = await gate.ask(call_of(asked.tool, asked.input, self._where.pop(asked.call, None)))
        reply = (
            say.allowed(asked.request, asked.input)
            if answer.allowed
            else say.denied(asked.request, answer.reason)
        )
        await self._tell(reply)

    async def _interrupt(self) -> None:
        """Ask the agent to stop, report its cost and exit."""
        await self._tell(say.interrupt())
        self._close()

    async def _left(self, process: asyncio.subprocess.Process) -> int | None:
        try:
            return await asyncio.wait_for(process.wait(), _LEAVES_S)
        except TimeoutError:
            return None

    def _close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def _tell(self, message: dict[str, Any]) -> None:
        # Ignore a broken pipe: the end of the output reports the agent's death.
        with contextlib.suppress(ConnectionError, RuntimeError):
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
                await self._process.stdin.drain()


def arguments(
    brief: Brief, session: str, *, goes_on: bool, budget_usd: float | None = None
) -> tuple[str, ...]:
    """Return the command line. Pure."""
    program = brief.program
    judges, works = brief.role == "verify", brief.role in ("implement", "fix")
    kind = KINDS["claude"]
    return (
        *(program.command or (kind.program,)),
        *kind.arguments,
        *("--permission-prompt-tool", "stdio", "--permission-mode", "default"),
        *("--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"),
        *("--tools", ",".join(GIVEN if works else GIVEN_TO_READ)),
        *(("--restricted", "--json-schema", json.dumps(form(len(brief.items)))) if judges else ()),
        *("--resume" if goes_on else "--session-id", session),
        *("--append-system-prompt", system_for(brief)),
        *(("--model", program.model) if program.model else ()),
        *(("--effort", program.effort) if program.effort else ()),
        *(("--max-turns", str(program.max_turns)) if program.max_turns is not None else ()),
        *(("--max-budget-usd", f"{budget_usd:.6f}") if budget_usd is not None else ()),
    )


def _left_of(budget_usd: float | None, tally: Tally) -> float | None:
    """Return the remaining budget: Claude Code limits each process, not the conversation."""
    return None if budget_usd is None else budget_usd - tally.told_usd


# Claude Code's tools: which a role gets, and what a call of one does. Pure.
#
# Rule: a tool that is not in the table, or whose input is malformed, becomes kind "other", which is refused.


def call_of(tool: str, given: Mapping[str, Any], cwd: str | None = None) -> Call:
    """Translate a tool call."""
    kind, name = _TOOLS.get(tool, ("other", ""))
    named = given.get(name) if name else None
    if tool == "Glob" and named is None and str(given.get("pattern", "")).startswith("/"):
        named = given["pattern"]
    if kind == "delegate" and "isolation" in given:
        # Nothing would verify a worktree of its own.
        return Call(tool=tool, kind="other")
    match kind:
        case "edit" | "run" if not isinstance(named, str) or not named:
            return Call(tool=tool, kind="other")
        case "run":
            return Call(tool=tool, kind="run", command=named, cwd=cwd)
        case "edit" | "read" if named is None or isinstance(named, str):
            return Call(tool=tool, kind=kind, path=named)
        case "edit" | "read":
            return Call(tool=tool, kind="other")
        case _:
            return Call(tool=tool, kind=kind)
