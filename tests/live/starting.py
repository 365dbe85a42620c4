"""Where a real agent lives in a test, and the only way in which a test starts one by hand.

The one rule: a HOME made for it, an environment that is written down here, a model on loopback and a key that
opens nothing. Nothing of ours gets in.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tests.live.pinned import pinned

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

AGENTS: Final = {name: row for name, row in pinned().items() if row.is_agent}
NODE: Final = pinned()["node"]
KEY: Final = "no-real-key"
SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"

_CLAUDE: Final = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
}
QUIET: Final[Mapping[str, Mapping[str, str]]] = {
    "claude": _CLAUDE,
    "claude-acp": _CLAUDE,
    "gemini": {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"},
    "opencode": {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    },
}
"""What keeps an agent from asking anybody but its model."""
_CODEX_CONFIG: Final = """\
model = "gpt-5.5-codex"
model_provider = "loop"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.loop]
name = "loop"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
supports_websockets = false
"""
_GEMINI_SETTINGS: Final = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


@dataclass(frozen=True, slots=True)
class Lodging:
    """An agent's HOME in a test, and its whole environment but HOME and TMPDIR."""

    agent: str
    home: Path
    environment: Mapping[str, str]

    @property
    def program(self) -> Path:
        """What is started; that it is there is `just agents`' to see to."""
        path = AGENTS[self.agent].path
        assert path.exists(), f"{path} is not there. Next: just agents"
        return path

    def start(self, *arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
        """Start it by hand, with pipes."""
        tmp = self.home.parent / "tmp"
        tmp.mkdir(exist_ok=True)
        return subprocess.Popen(
            [str(self.program), *arguments],
            cwd=cwd,
            env={**self.environment, "HOME": str(self.home), "TMPDIR": str(tmp)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


class NotLoopback(Exception):
    """A test was about to start an agent that would talk to somebody."""


def lodged(agent: str, home: Path, url: str) -> Lodging:
    """Furnish a HOME that is not there yet, as that of somebody who has used the agent before."""
    home.mkdir(parents=True)
    path = f"{NODE.path.parent}:{SYSTEM_PATH}"
    own = _furnished(agent, home, url)
    return Lodging(agent, home, {"PATH": path, "LANG": "C.UTF-8", **QUIET.get(agent, {}), **own})


def household(home: Path, programs: Path, urls: Mapping[str, str]) -> dict[str, str]:
    """Furnish one HOME for a person who has installed several agents; give the person's environment.

    What keeps an agent quiet is in the program on the PATH: asbuilt passes on only what it must.
    """
    home.mkdir(parents=True)
    programs.mkdir()
    own: dict[str, str] = {}
    for agent, url in urls.items():
        own |= _furnished(agent, home, url)
        program = AGENTS[agent].path
        quiet = " ".join(f"{name}={value}" for name, value in QUIET.get(agent, {}).items())
        (programs / program.name).write_text(f'#!/bin/sh\n{quiet} exec {program} "$@"\n')
        (programs / program.name).chmod(0o755)
    path = f"{programs}:{NODE.path.parent}:{SYSTEM_PATH}"
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", **own}


def _furnished(agent: str, home: Path, url: str) -> dict[str, str]:
    if urlsplit(url).hostname != "127.0.0.1":
        raise NotLoopback(url)
    match agent:
        case "claude" | "claude-acp":
            (home / ".claude").mkdir()
            return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
        case "codex-acp":
            _write(home / ".codex" / "config.toml", _CODEX_CONFIG.format(url=url))
            return {"OPENAI_API_KEY": KEY}
        case "gemini":
            _write(home / ".gemini" / "settings.json", json.dumps(_GEMINI_SETTINGS))
            return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}
        case "opencode":
            _write(home / ".config" / "opencode" / "opencode.json", json.dumps(_opencode(url)))
            (home / ".local" / "share" / "opencode").mkdir(parents=True)
            return {}
        case _:
            raise ValueError(agent)


def _opencode(url: str) -> dict[str, Any]:
    limit = {"context": 200_000, "output": 8_000}
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": "loop/fake-model",
        "small_model": "loop/fake-small",
        "enabled_providers": ["loop"],
        "provider": {
            "loop": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Loop",
                "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
                "models": {
                    "fake-model": {
                        "name": "Fake",
                        "limit": limit,
                        "cost": {"input": 3, "output": 15, "cache_read": 0.3},
                    },
                    "fake-small": {"name": "Small", "limit": limit},
                },
            }
        },
        "permission": {"edit": "ask", "bash": "ask", "webfetch": "deny"},
        "agent": {"plan": {"permission": {"edit": "deny", "bash": "deny"}}},
    }


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)
