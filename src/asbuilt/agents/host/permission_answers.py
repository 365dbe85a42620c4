"""Answer an agent's permission requests from the snapshot taken when its attempt started.

Rule: an answer never waits for a user, and a path that cannot be resolved is refused.

Right before an agent starts, calls and writes that it must not make are tried in its own sandbox and at its
own gate. Rule: if anything forbidden succeeds, the agent is not started.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.agents.contract import Answer, Call
from asbuilt.agents.sandbox.launch import prepare
from asbuilt.policy.roles import Snapshot, compiled, refusal
from asbuilt.policy.sandbox.check_environment import PLACED
from asbuilt.policy.sandbox.rules import Level, Request, secrets

if TYPE_CHECKING:
    from asbuilt.agents.attempt_folder import Terms
    from asbuilt.agents.host.event_log import Record
    from asbuilt.ports import Brief

KNOWN_BAD: Final = (
    Call(tool="canary", kind="edit", path="/etc/asbuilt-canary"),
    Call(tool="canary", kind="edit", path=".git/hooks/pre-commit"),
    Call(tool="canary", kind="run", command="git push origin HEAD"),
    Call(tool="canary", kind="other"),
)
"""Calls that no role may make."""
# Not `:`: a shell exits when a redirection of a special built-in fails, and would skip the other files.
_TRY: Final = 'for one in "$@"; do true > "$one"; done 2>/dev/null; echo the canary sang'
_SANG: Final = b"the canary sang"
_WITHIN_S: Final = 30
_WORDS: Final = 300


def snapshot_of(brief: Brief, terms: Terms, folder: Path) -> Snapshot:
    """Freeze what the role of a brief may do, with resolved paths."""
    workspace = os.path.realpath(brief.workspace)
    own = tuple(os.path.realpath(folder / name) for name in ("home", "tmp", "out"))
    hidden = [*terms.hidden, *(path for home in terms.homes for group in secrets(home) for path in group)]
    return compiled(
        brief.role,
        workspace=workspace,
        home=own[0],
        own=own,
        protected=tuple(os.path.realpath(brief.workspace / file) for file in brief.protected),
        hidden=tuple(map(os.path.realpath, hidden)),
        held=terms.level in ("bwrap", "seatbelt"),
    )


class SnapshotGate:
    """Answers from a snapshot, independent of later changes to settings, and records every answer."""

    def __init__(self, snapshot: Snapshot, record: Record) -> None:
        self._snapshot = snapshot
        self._record = record

    async def ask(self, call: Call) -> Answer:
        """Allow or refuse a call, and record the answer."""
        answer = answered(self._snapshot, call)
        self._record.asked(call, answer)
        return answer


def answered(snapshot: Snapshot, call: Call) -> Answer:
    """Return a snapshot's answer to a call."""
    try:
        # Resolve symlinks: one inside the workspace may lead out of it.
        path, cwd = (
            os.path.realpath(os.path.join(snapshot.workspace, _in_workspace(snapshot, named)))  # noqa: PTH118
            if named
            else ""
            for named in (call.path, call.cwd)
        )
    except (OSError, ValueError):
        return Answer(allowed=False, reason="Its path cannot be read.")
    refused = refusal(snapshot, call.kind, path=path, command=call.command or "", cwd=cwd)
    return Answer(allowed=refused is None, reason=refused or "")


def _in_workspace(snapshot: Snapshot, path: str) -> str:
    """Map the path that checks use for the workspace, as in a traceback, to the workspace."""
    below = path.removeprefix(PLACED.checkout)
    return snapshot.workspace + below if below != path and below[:1] in ("", "/") else path


class Unheld(Exception):
    """A forbidden action was not refused."""


def let_through(snapshot: Snapshot) -> str | None:
    """Test the gate of an attempt; return a message about a forbidden call that it allows, or None."""
    for call in KNOWN_BAD:
        if answered(snapshot, call).allowed:
            what = call.command or call.path or "a call of an unknown kind"
            return f"The gate allows {what}, which no agent may do. Nothing was dispatched."
    return None


async def try_sandbox(level: Level, request: Request, targets: tuple[Path, ...]) -> None:
    """Try forbidden writes in the agent's sandbox; raises `Unheld` if one succeeds or nothing runs."""
    files = [target / f".asbuilt-canary-{os.getpid()}" for target in targets]
    argv = ("/bin/sh", "-c", _TRY, "canary", *map(str, files))
    process = await prepare(level, request, argv).spawn(stdin=asyncio.subprocess.DEVNULL)
    try:
        output, refused = await asyncio.wait_for(process.communicate(), _WITHIN_S)
    except TimeoutError:
        process.kill()
        output, refused = b"", b"it did not answer in time"
    wrote = [file for file in files if file.exists()]
    for path in wrote:
        path.unlink()
    if wrote:
        raise Unheld(f"The sandbox {level} let a write to {wrote[0].parent} through. Nothing was dispatched.")
    if _SANG not in output:
        why = refused.decode("utf-8", "replace").strip() or "it ended without a word"
        raise Unheld(f"Nothing runs in the sandbox {level}: {why[-_WORDS:]}. Nothing was dispatched.")
