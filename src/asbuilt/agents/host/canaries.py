"""Try what an agent must not be able to do, right before its start: in its own sandbox, at its own gate.

Rule: if anything forbidden succeeds, the agent is not started.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Final

from asbuilt.agents.contract import Call
from asbuilt.agents.host.gate import answered
from asbuilt.agents.sandbox.launch import prepare

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.policy.roles import Snapshot
    from asbuilt.policy.sandbox.rules import Level, Request

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
    files = [one / f".asbuilt-canary-{os.getpid()}" for one in targets]
    argv = ("/bin/sh", "-c", _TRY, "canary", *map(str, files))
    process = await prepare(level, request, argv).spawn(stdin=asyncio.subprocess.DEVNULL)
    try:
        said, refused = await asyncio.wait_for(process.communicate(), _WITHIN_S)
    except TimeoutError:
        process.kill()
        said, refused = b"", b"it did not answer in time"
    wrote = [one for one in files if one.exists()]
    for one in wrote:
        one.unlink()
    if wrote:
        raise Unheld(f"The sandbox {level} let a write to {wrote[0].parent} through. Nothing was dispatched.")
    if _SANG not in said:
        why = refused.decode("utf-8", "replace").strip() or "it ended without a word"
        raise Unheld(f"Nothing runs in the sandbox {level}: {why[-_WORDS:]}. Nothing was dispatched.")
