"""Where Claude Code keeps its state: conversations in the attempt's HOME, its login in the user's folder.

    CLAUDE_CONFIG_DIR                 home/.claude of the attempt: everything it writes
    CLAUDE_SECURESTORAGE_CONFIG_DIR   the user's folder: only the login, which is renewed in place

Rule: of the user's files only the login is writable, and only if it is a file.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from asbuilt.agents.attempt_folder import Unreadable, read_shared, write_whole
from asbuilt.agents.streams import object_in
from asbuilt.ports import Brief

_LOGIN: Final = ".credentials.json"
_RENEWING: Final = ".oauth_refresh.lock"
_CAP: Final = 16 << 20
_TRANSCRIPT: Final = 256 << 20
_QUIET: Final = {
    # Background tasks outlive their turn; afterwards no host answers, so every tool would be refused.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    # A plan's text may contain `@/some/file`; claude would send that file to its model without a request.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    # Every command starts in the workspace, which the gate assumes.
    "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1",
}


class State(Struct, frozen=True):
    """The state folders of an attempt."""

    config: Path
    login: Path
    is_default: bool
    """Whether the folder is `~/.claude`: on macOS the login then has its usual name in the keychain."""

    @property
    def own(self) -> tuple[Path, ...]:
        """The user's folders that the agent may write: a login file is renewed in its folder, by rename."""
        return (self.login,) if (self.login / _LOGIN).is_file() else ()

    @property
    def others(self) -> tuple[Path, ...]:
        """Everything else in that folder: settings, hooks, conversations of other projects."""
        if not self.own:
            return ()
        return tuple(
            path for path in sorted(self.login.iterdir()) if not path.name.startswith((_LOGIN, _RENEWING))
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variables for the agent."""
        login = "" if self.is_default and sys.platform == "darwin" else str(self.login)
        return {
            **_QUIET,
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CLAUDE_SECURESTORAGE_CONFIG_DIR": login,
        }

    def transcript(self, session: str) -> Path | None:
        """Return the transcript of a conversation; None if it has none."""
        return next(iter(sorted(self.config.glob(f"projects/*/{session}.jsonl"))), None)

    def ways_in(self, allowed: tuple[str, ...]) -> tuple[dict[str, str], str]:
        """Read the login from the user's settings: variables of the `allowed` names, and a helper's command.

        Nothing else is read. Expands `~` in the helper, because HOME differs in the sandbox.
        """
        settings = _object(self.login / "settings.json")
        given, helper = settings.get("env"), settings.get("apiKeyHelper")
        variables = given if isinstance(given, dict) else {}
        command = helper if isinstance(helper, str) else ""
        home = f"{self.login.parent}/" if self.is_default else "~/"
        return (
            {
                name: variable
                for name, variable in variables.items()
                if name in allowed and isinstance(variable, str)
            },
            home + command[2:] if command.startswith("~/") else command,
        )

    def prepare(self) -> None:
        """Create the config folder with the user's account only, so that nothing in it starts a program."""
        if self.config.is_symlink():
            # An earlier start may have created it to redirect our writes.
            self.config.unlink()
        self.config.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self.config / ".claude.json"
        if not file.exists():
            known = _object((self.login.parent if self.is_default else self.login) / ".claude.json")
            account = {name: value for name, value in known.items() if name == "oauthAccount"}
            write_whole(file, json.dumps({"hasCompletedOnboarding": True, **account}).encode("ascii"))


def _object(file: Path) -> dict[str, Any]:
    try:
        return object_in(read_shared(file, cap=_CAP)) or {}
    except Unreadable:
        return {}


def state_of(config: Path, home: Path, environ: Mapping[str, str]) -> State:
    """Return the state folders of an agent: `config` is its own, the login is in the user's `home`."""
    moved = environ.get("CLAUDE_CONFIG_DIR", "")
    login = Path(os.path.realpath(moved or home / ".claude"))
    return State(config=config, login=login, is_default=not moved)


def session_of(brief: Brief, start: int) -> str:
    """Return the ID of a start's conversation; deterministic."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"asbuilt:{brief.attempt}:{brief.intent}:{start}"))


def can_resume(transcript: Path | None) -> bool:
    """Return whether a conversation can be resumed: an agent killed early has no message yet."""
    return transcript is not None and any(line.get("type") == "user" for line in lines_in(transcript))


def lines_in(transcript: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a transcript, as untrusted input; skips malformed lines."""
    try:
        content = read_shared(transcript, cap=_TRANSCRIPT)
    except Unreadable:
        return
    yield from filter(None, map(object_in, content.splitlines()))
