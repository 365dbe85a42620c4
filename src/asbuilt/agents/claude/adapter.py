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
import json
from collections.abc import Mapping
from typing import Any, Final, assert_never

from asbuilt.agents.claude import messages
from asbuilt.agents.claude.ending import TurnState, tally_in, turn_of, used_by, used_without_end
from asbuilt.agents.claude.state import can_resume, session_of, state_of
from asbuilt.agents.contract import (
    Call,
    Called,
    Conversed,
    Emit,
    Gate,
    Modelled,
    Needs,
    Noted,
    Said,
    Seat,
    Turn,
    stopped,
)
from asbuilt.agents.prompt import prompt_for, resume_prompt, system_for
from asbuilt.agents.streams import Lines, exit_within, lines_of, send
from asbuilt.policy.agent_kinds import KINDS, hosts_of
from asbuilt.policy.roles import Kind
from asbuilt.ports import JUDGES, Brief
from asbuilt.proof.opinion import form

GIVEN: Final = ("Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Task", "Write")
"""Tools of the roles that write; all others are removed: network, schedules, other agents."""
GIVEN_TO_READ: Final = ("Read", "Grep", "Glob")
_VERDICT: Final = "StructuredOutput"
# Each tool's kind of call, and the key of the path or command in its input.
_TOOLS: Final[dict[str, tuple[Kind, str]]] = {
    "Read": ("read", "file_path"),
    **dict.fromkeys(("Grep", "Glob"), ("read", "path")),
    **dict.fromkeys(("Edit", "MultiEdit", "Write"), ("edit", "file_path")),
    "NotebookEdit": ("edit", "notebook_path"),
    "Bash": ("run", "command"),
    **dict.fromkeys(("WebFetch", "WebSearch"), ("fetch", "")),
    **dict.fromkeys(("Task", "Agent"), ("delegate", "")),
    **dict.fromkeys("BashOutput KillShell TaskOutput TaskStop TodoWrite ToolSearch".split(), ("note", "")),
    _VERDICT: ("submit", ""),
}


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
        state = state_of(self._seat.home / ".claude", self._seat.person, brief.environment)
        state.prepare()
        if state.own or self._seat.level == "none":
            # Otherwise the agent cannot change these files, and the user may edit their own settings.
            self._seat.seals.put(state.login, KINDS["claude"].sealed)
        # An earlier start's conversation is resumed if it has any message.
        earlier = self._seat.session or ""
        resumes = bool(earlier) and can_resume(state.transcript(earlier))
        session = earlier if resumes else session_of(brief, self._seat.start)
        emit(Conversed(session=session))
        tally = tally_in(state.transcript(session) if resumes else None)
        # Claude Code limits each process, not the conversation.
        budget = brief.program.budget_usd
        left = None if budget is None else budget - tally.reported_usd
        if left is not None and left <= 0:
            return stopped("budget", f"Its budget of ${budget:g} is spent.")
        variables, helper = state.ways_in(_WAYS_IN)
        line = arguments(brief, session, resumes=resumes, budget_usd=left)
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
        turn_state = TurnState()
        await send(self._process, messages.HELLO)
        await send(self._process, messages.prompt(resume_prompt() if resumes else prompt_for(brief)))
        await self._listen(process, turn_state, gate, emit)
        code = await exit_within(process, _LEAVES_S)
        if turn_state.ended is not None:
            emit(used_by(turn_state.ended, tally))
        elif used := used_without_end(tally_in(state.transcript(session))):
            emit(used)
        return turn_of(code, turn_state, brief, last_words=self._seat.last_words())

    async def _listen(
        self, process: asyncio.subprocess.Process, turn_state: TurnState, gate: Gate, emit: Emit
    ) -> None:
        lines = Lines(messages.LINE_CAP)
        async for line in lines_of(process, lines):
            if line.strip():
                await self._take(messages.message_in(line), turn_state, gate, emit)
        if lines.dropped:
            emit(Noted(text=f"{lines.dropped} lines were longer than {messages.LINE_CAP} bytes."))

    async def _take(self, message: messages.Message, turn_state: TurnState, gate: Gate, emit: Emit) -> None:
        match message:
            case messages.Begun(version=version, tools=tools, model=model):
                emit(Modelled(model=model))
                emit(Noted(text=f"Claude Code {version} with {', '.join(tools)}."))
            case messages.Hooked(request=request, call=call, cwd=cwd):
                self._where |= {call: cwd} if cwd else {}
                await send(self._process, messages.answer(request, messages.ASK_US))
            case messages.Asked():
                await self._answer(message, gate)
            case messages.Unasked(request=request, subtype=subtype):
                await send(self._process, messages.not_offered(request, subtype))
            case messages.Spoke(texts=texts, calls=calls, error=error):
                turn_state.error = error or turn_state.error
                for text in texts:
                    turn_state.says = text
                    emit(Noted(text=text) if error else Said(text=text))
                for tool, about in calls:
                    emit(Called(tool=tool, detail=about))
            case messages.Limited(rejected=True, resets_at=resets_at):
                turn_state.resets_at = resets_at
            case messages.Noticed(text=text):
                emit(Noted(text=text))
            case messages.Refused(reason=reason):
                emit(Noted(text=f"It cannot do what we asked for: {reason}"))
            case messages.Ended():
                turn_state.ended = message
                self._close()
            case messages.Unknown(kind=kind):
                if kind not in self._unknown:
                    self._unknown.add(kind)
                    emit(Noted(text=f"Claude Code says something that is not understood: {kind[:100]}."))
            case messages.Known() | messages.Limited():
                pass
            case _:
                assert_never(message)

    async def _answer(self, asked: messages.Asked, gate: Gate) -> None:
        decision = await gate.ask(call_of(asked.tool, asked.input, self._where.pop(asked.call, None)))
        refusal = {"behavior": "deny", "message": decision.reason}
        reply = {"behavior": "allow", "updatedInput": asked.input} if decision.allowed else refusal
        await send(self._process, messages.answer(asked.request, reply))

    async def _interrupt(self) -> None:
        """Ask the agent to stop, report its cost and exit."""
        await send(self._process, messages.INTERRUPT)
        self._close()

    def _close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()


def arguments(
    brief: Brief, session: str, *, resumes: bool, budget_usd: float | None = None
) -> tuple[str, ...]:
    """Return the command line. Pure."""
    program = brief.program
    judges, works = brief.role in JUDGES, brief.role in ("implement", "fix")
    drives = ("Bash",) if brief.role == "test" else ()
    kind = KINDS["claude"]
    return (
        *(program.command or (kind.program,)),
        *kind.arguments,
        *("--permission-prompt-tool", "stdio", "--permission-mode", "default"),
        *("--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"),
        *("--tools", ",".join(GIVEN if works else (*GIVEN_TO_READ, *drives))),
        *(("--restricted",) if judges and not drives else ()),
        *(("--json-schema", json.dumps(form(len(brief.items)))) if judges else ()),
        *("--resume" if resumes else "--session-id", session),
        *("--append-system-prompt", system_for(brief)),
        *(("--model", program.model) if program.model else ()),
        *(("--effort", program.effort) if program.effort else ()),
        *(("--max-turns", str(program.max_turns)) if program.max_turns is not None else ()),
        *(("--max-budget-usd", f"{budget_usd:.6f}") if budget_usd is not None else ()),
    )


def call_of(tool: str, given: Mapping[str, Any], cwd: str | None = None) -> Call:
    """Translate a tool call; an unknown tool or malformed input is "other", which is refused. Pure."""
    kind, name = _TOOLS.get(tool, ("other", ""))
    named = given.get(name) if name else None
    if tool == "Glob" and named is None and str(given.get("pattern", "")).startswith("/"):
        named = given["pattern"]
    if kind == "delegate" and "isolation" in given:
        # Nothing would verify a worktree of its own.
        return Call(tool=tool, kind="other")
    is_path = isinstance(named, str) and bool(named)
    if kind == "run" and is_path:
        return Call(tool=tool, kind="run", command=named, cwd=cwd)
    if (kind == "edit" and is_path) or (kind == "read" and (named is None or isinstance(named, str))):
        return Call(tool=tool, kind=kind, path=named)
    return Call(tool=tool, kind="other" if kind in ("run", "edit", "read") else kind)
