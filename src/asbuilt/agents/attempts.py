"""Attempts as folders, each with a host process. Implements the port `Attempts`.

Rule: this module keeps no state about an attempt in memory, so that a new worker can resume any attempt.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from asbuilt.agents import activity
from asbuilt.agents.attempt_folder import Folder, Terms, Unreadable, write_whole
from asbuilt.agents.host.main import TAKEN
from asbuilt.agents.host.permission_answers import snapshot_of
from asbuilt.agents.sandbox.launch import probe
from asbuilt.errors import HostFailed, SandboxUnavailable
from asbuilt.policy.sandbox.rules import Level
from asbuilt.ports import Brief, Result

_UP_WITHIN_S: Final = 60


class FolderAttempts:
    """Attempts below `runs/<run>/attempts/` of the state folder."""

    def __init__(
        self,
        state: Path,
        *,
        home: Path | None = None,
        sandbox_required: bool = True,
        level: Level | None = None,
        abandon_s: float = 60,
        grace_s: float = 10,
    ) -> None:
        """Take the state folder. Without `sandbox_required`, agents may run unsandboxed; results say so."""
        self._state = state
        self._home = home or Path.home()
        self._sandbox_required = sandbox_required
        self._level = level
        self._abandon_s = abandon_s
        self._grace_s = grace_s

    def folder(self, attempt: str) -> Path:
        """Return the folder of an attempt's files."""
        return activity.folder_of(self._state, attempt)

    def start(self, brief: Brief, *, after: int = 0) -> None:
        """Start the attempt and return when its host is up; a no-op when it is running or has ended.

        A result of start `after` or earlier is renamed, and a new start continues from there.
        """
        folder = Folder(self.folder(brief.attempt))
        self._set_aside_if_moved(folder, brief)
        ended = self.result(brief.attempt)
        if ended is not None and ended.starts > after:
            return
        if ended is not None:
            folder.set_result_aside(ended.starts)
        folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.heartbeat(brief.attempt)
        if self.alive(brief.attempt):
            return
        # Starts on another machine count too: a result is identified by the number of its start.
        folder.count_elsewhere(up_to=after)
        try:
            folder.brief()
        except Unreadable:
            # Missing, or torn by a power cut. Safe to rewrite: no host is running.
            terms = self.terms(required=brief.ring_required)
            folder.write_brief(brief, replace(terms, policy=snapshot_of(brief, terms, folder.path)))
        self._start_host(folder.path)

    def result(self, attempt: str) -> Result | None:
        """Return the result, or None while there is none. A damaged result counts as a crash."""
        folder = Folder(self.folder(attempt))
        try:
            return folder.result()
        except Unreadable as error:
            reason = f"How it ended cannot be read any more: {error}"
            return Result(ending="crashed", reason=reason, starts=activity.starts_of(folder.path))

    def written(self, attempt: str) -> bytes | None:
        """Return the result as its host wrote it; None while there is none."""
        file = self.folder(attempt) / "result.json"
        return file.read_bytes() if file.exists() else None

    def adopt(self, attempt: str, data: bytes) -> None:
        """Take a result that a host on another machine wrote, unless this machine has the attempt."""
        folder = Folder(self.folder(attempt))
        if activity.starts_of(folder.path) or self.alive(attempt):
            return
        folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(folder.path / "result.json", data)
        ended = self.result(attempt)
        folder.count_elsewhere(up_to=ended.starts if ended else 0)

    def heartbeat(self, attempt: str) -> None:
        """Write a heartbeat: a worker still waits for the attempt."""
        (self.folder(attempt) / "beat").touch(mode=0o600)

    def alive(self, attempt: str) -> bool:
        """Return whether the host process is running, by its lock. A recorded PID could have been reused."""
        return activity.is_alive(self.folder(attempt))

    def cancel(self, attempt: str) -> None:
        """Request the end of the attempt: its host sends TERM to the whole tree, and KILL after 10 s."""
        (self.folder(attempt) / "cancel").touch(mode=0o600)

    def starts(self, attempt: str) -> int:
        """Count the starts of an attempt."""
        return activity.starts_of(self.folder(attempt))

    def events(self, attempt: str, after: int = 0) -> tuple[list[dict[str, object]], int]:
        """Read the events from offset `after`; return them and the next offset."""
        return activity.read_events(self.folder(attempt) / "events.jsonl", after)

    def last_activity(self, attempt: str) -> datetime | None:
        """Return when the agent last produced an event."""
        return activity.last_activity(self.folder(attempt))

    def terms(self, *, required: bool = True) -> Terms:
        """Return the terms of a new host; raises `SandboxUnavailable` if a required sandbox is missing."""
        level = self._level or probe().for_work
        if level == "none" and self._sandbox_required and required:
            causes = "; ".join(reason.what for reason in probe().reasons)
            raise SandboxUnavailable(
                f"no sandbox for agents on this machine: {causes or 'none was asked for'}",
                why="It could write to anything that you can write to.",
                next_step="`asbuilt doctor` shows a fix, or: `asbuilt config set sandbox.required false`",
            )
        return Terms(
            level=level,
            hidden=(str(self._state),),
            homes=(str(self._home),),
            abandon_s=self._abandon_s,
            grace_s=self._grace_s,
        )

    def _set_aside_if_moved(self, folder: Folder, brief: Brief) -> None:
        """Rename a folder that belongs to another workspace: the run was on another machine meanwhile."""
        try:
            before, _ = folder.brief()
        except Unreadable:
            return
        if before.workspace == brief.workspace:
            return
        if self.alive(brief.attempt):
            self.cancel(brief.attempt)
            raise HostFailed(
                f"an earlier agent of {brief.attempt} has not ended yet",
                why="Its workspace no longer belongs to this run; a second agent would double the cost.",
                next_step="It was asked to end; the run retries automatically.",
            )
        folder.set_aside()

    def _start_host(self, folder: Path) -> None:
        done = subprocess.run(  # noqa: S603  our own host
            [sys.executable, "-P", "-m", "asbuilt.agents.host.main", "--detach", str(folder)],
            cwd="/",
            # Pass only PATH: the brief says what the agent may see.
            # Temporary files go to the attempt's folder, so that a kill leaves them there and nowhere else.
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            timeout=_UP_WITHIN_S,
            check=False,
        )
        if done.returncode not in (0, TAKEN):
            log = folder / "host.log"
            text = log.read_text("utf-8", "replace") if log.exists() else ""
            text += done.stderr.decode("utf-8", "replace")
            raise HostFailed(
                f"the host of {folder.name} did not come up (exit {done.returncode}): {text.strip()[-300:]}",
                why="Without its host, the agent cannot be supervised or ended.",
                next_step=f"`tail {shlex.quote(str(log))}`, or look at the disk's space: `df -h`",
            )
