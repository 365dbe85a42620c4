"""Where Claude Code keeps what: its conversation in the attempt's own HOME, its login where the user has it.

    CLAUDE_CONFIG_DIR                 home/.claude of the attempt: all that it writes, and nobody else reads
    CLAUDE_SECURESTORAGE_CONFIG_DIR   the user's own: the login, which is renewed in place, and nothing else

The one rule: nothing of the user's is writable but the login, and that only where it is a file.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from asbuilt.agents.attempt_folder import Unreadable, read_shared, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.agents.contract import Seat
    from asbuilt.ports import Brief

_LOGIN: Final = ".credentials.json"
_RENEWING: Final = ".oauth_refresh.lock"
_CAP: Final = 16 << 20
_TRANSCRIPT: Final = 256 << 20
_QUIET: Final = {
    # What works in the background outlives its turn, and after that nobody answers: every tool is refused.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    # A plan's text may hold `@/some/file`, and claude would read that to its model without asking anybody.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    # Every command starts in the workspace, so that the gate reads it from where it is run.
    "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1",
}


@dataclass(frozen=True, slots=True)
class State:
    """The folders of one attempt."""

    config: Path
    login: Path
    is_default: bool
    """The user has not moved it: on macOS the login then has its usual name in the keychain."""

    @property
    def own(self) -> tuple[Path, ...]:
        """What of the user's it may write to: a login in a file is renewed beside itself, by rename."""
        return (self.login,) if (self.login / _LOGIN).is_file() else ()

    @property
    def others(self) -> tuple[Path, ...]:
        """All that is there besides the login: settings, hooks, conversations of other projects."""
        if not self.own:
            return ()
        return tuple(
            path for path in sorted(self.login.iterdir()) if not path.name.startswith((_LOGIN, _RENEWING))
        )

    @property
    def environment(self) -> dict[str, str]:
        """What it is told of this."""
        login = "" if self.is_default and sys.platform == "darwin" else str(self.login)
        return {
            **_QUIET,
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_SECURESTORAGE_CONFIG_DIR": login,
        }

    def transcript(self, session: str) -> Path | None:
        """Find a conversation by its name."""
        return next(iter(sorted(self.config.glob(f"projects/*/{session}.jsonl"))), None)

    def ways_in(self, allowed: tuple[str, ...]) -> tuple[dict[str, str], str]:
        """Read from the user's settings how one signs in: variables of listed names, and a helper's command.

        Nothing else in there is read. A helper runs in the ring, where `~` is another place.
        """
        settings = _object(self.login / "settings.json")
        given, helper = settings.get("env"), settings.get("apiKeyHelper")
        variables = given if isinstance(given, dict) else {}
        command = helper if isinstance(helper, str) else ""
        home = f"{self.login.parent}/" if self.is_default else "~/"
        return (
            {name: one for name, one in variables.items() if name in allowed and isinstance(one, str)},
            home + command[2:] if command.startswith("~/") else command,
        )

    def prepare(self) -> None:
        """Have its folder there, with whose login it is, and with nothing that would start a program."""
        if self.config.is_symlink():
            # An earlier start may have put it there, for us to write to where it leads.
            self.config.unlink()
        self.config.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self.config / ".claude.json"
        if not file.exists():
            known = _object((self.login.parent if self.is_default else self.login) / ".claude.json")
            account = {name: one for name, one in known.items() if name == "oauthAccount"}
            write_whole(file, json.dumps({"hasCompletedOnboarding": True, **account}).encode("ascii"))


def _object(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_shared(file, cap=_CAP))
    except (Unreadable, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def state_of(seat: Seat, brief: Brief) -> State:
    """Say where an attempt's agent keeps what."""
    moved = brief.environment.get("CLAUDE_CONFIG_DIR", "")
    login = Path(os.path.realpath(moved or seat.person / ".claude"))
    return State(config=seat.home / ".claude", login=login, is_default=not moved)


def session_of(brief: Brief, start: int) -> str:
    """Name the conversation that a start would begin: the same however often it is asked."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"asbuilt:{brief.attempt}:{brief.intent}:{start}"))


def can_go_on(transcript: Path | None) -> bool:
    """Tell whether there is a conversation to take up: one that was killed too early has no words yet."""
    return transcript is not None and any(line.get("type") == "user" for line in lines_in(transcript))


def lines_in(transcript: Path) -> Iterator[dict[str, Any]]:
    """Read a transcript, as one reads what an agent could write: lines that are none are left out."""
    try:
        content = read_shared(transcript, cap=_TRANSCRIPT)
    except Unreadable:
        return
    for line in content.splitlines():
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            yield data
