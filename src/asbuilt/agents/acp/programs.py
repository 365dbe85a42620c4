"""How to start each agent that speaks ACP, so that it asks for permission as much as possible.

Rule: agents are configured by arguments, environment and files in their own HOME, never in the user's files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from asbuilt.agents.claude.state import state_of
from asbuilt.agents.contract import NOTHING, Needs, Seat
from asbuilt.agents.verdict_tool import SERVER, TOOL
from asbuilt.policy.agent_kinds import KINDS, hosts_of, hosts_set
from asbuilt.ports import Brief


class Start(NamedTuple):
    """The command line and environment of an agent's start."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    state: Path
    """The folder of the user's login and settings of the agent; may not exist."""
    needs: Needs = NOTHING
    meta: Mapping[str, Any] = {}
    """Sent with the request for a conversation."""
    mode: str | None = None
    """The agent's read-only mode; requested for read-only roles, and never relied on."""
    counts: bool = True
    """False if the reported tokens cover only the agent's last step."""
    keeps_status: bool = False
    """Whether the agent stores the HTTP status of a model failure instead of reporting it."""


def started(brief: Brief, seat: Seat) -> Start:
    """Return how to start the brief's agent; writes its configuration files to the agent's HOME."""
    match brief.program.kind:
        case "codex":
            return _codex(brief, seat)
        case "gemini":
            return _gemini(brief, seat)
        case "opencode":
            return _opencode(brief, seat)
        case "claude-acp":
            return _claude(brief, seat)
        case kind:
            raise ValueError(f"{kind} does not speak ACP")


def _codex(brief: Brief, seat: Seat) -> Start:
    state = Path(brief.environment.get("CODEX_HOME") or seat.person / ".codex")
    is_held = seat.level in ("bwrap", "seatbelt")
    settings = {
        "approval_policy": "untrusted",
        # Inside our sandbox its own one would only block calls that the gate allowed.
        "sandbox_mode": (
            "read-only" if not brief.writable else "danger-full-access" if is_held else "workspace-write"
        ),
        "check_for_update_on_startup": False,
        **({"model": brief.program.model} if brief.program.model else {}),
        **({"model_reasoning_effort": brief.program.effort} if brief.program.effort else {}),
    }
    options = (word for name, value in settings.items() for word in ("-c", f"{name}={json.dumps(value)}"))
    # codex refuses a folder that does not exist; without the variable it creates its own in its HOME.
    environment = {"CODEX_HOME": str(state)} if state.is_dir() else {}
    return _in_state(Start((*_command(brief), *options), environment, state), brief)


_GEMINI_RULES: Final = f"""\
[[rule]]
toolName = "*"
decision = "ask_user"
priority = 500

[[rule]]
mcpName = "{SERVER}"
toolName = "{TOOL}"
decision = "allow"
priority = 900
"""


_GEMINI_FOLDER: Final = (
    "/Library/Application Support/GeminiCli" if sys.platform == "darwin" else "/etc/gemini-cli"
)
_GEMINI_SYSTEM: Final = Path(_GEMINI_FOLDER, "settings.json")
_GEMINI_SETTINGS: Final = {
    # gemini retries silently, for minutes; the run decides about retries.
    "general": {"maxAttempts": 3, "enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "hooksConfig": {"enabled": False},
}


def _gemini(brief: Brief, seat: Seat) -> Start:
    home = Path(brief.environment.get("GEMINI_CLI_HOME") or seat.person)
    state = home / ".gemini"
    rules, settings = seat.home / "asbuilt-rules.toml", seat.home / "asbuilt-settings.json"
    rules.write_text(_GEMINI_RULES, encoding="utf-8")
    settings.write_text(json.dumps(_GEMINI_SETTINGS), encoding="utf-8")
    model = ("--model", brief.program.model) if brief.program.model else ()
    # The user's extensions bring hooks and tools of their own.
    argv = (*_command(brief), "--admin-policy", str(rules), "--extensions", "none", *model)
    environment = {
        "GEMINI_CLI_HOME": str(home if state.is_dir() else seat.home),
        # Do not replace an organization's own settings.
        **({} if _GEMINI_SYSTEM.exists() else {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(settings)}),
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        # gemini would start a second process of itself, and leave it behind when it is ended.
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    start = _in_state(Start(argv, environment, state, mode=None if brief.writable else "plan"), brief)
    return start._replace(needs=replace(start.needs, sealed=(*start.needs.sealed, rules, settings)))


def _opencode(brief: Brief, seat: Seat) -> Start:
    seen = brief.environment
    theirs = Path(seen.get("XDG_DATA_HOME") or seat.person / ".local" / "share")
    data = theirs if (theirs / "opencode").is_dir() else seat.home / ".local" / "share"
    config = Path(seen.get("XDG_CONFIG_HOME") or seat.person / ".config") / "opencode"
    state = data / "opencode"
    permission = {"*": "ask", f"{SERVER}_{TOOL}": "allow"}
    settings = {
        "autoupdate": False,
        "share": "disabled",
        # Its snapshots are git repositories with their own configuration, in the user's folder.
        "snapshot": False,
        "permission": permission,
        # Without this, a refusal ends its turn as if the work were done.
        "experimental": {"continue_loop_on_deny": True},
        **({"model": brief.program.model} if brief.program.model else {}),
    }
    # opencode writes into every folder of settings that it reads, so it gets only the user's file.
    files = (config / name for name in ("opencode.json", "opencode.jsonc"))
    shown = next((str(file) for file in files if file.is_file()), None)
    environment = {
        **({"OPENCODE_CONFIG": shown} if shown else {}),
        "XDG_DATA_HOME": str(data),
        "XDG_CONFIG_HOME": str(seat.home / ".config"),
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        "OPENCODE_PERMISSION": json.dumps(permission),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        # opencode requests packages of plug-ins; nothing else stops that.
        "npm_config_registry": "http://127.0.0.1:9/",
    }
    mode = None if brief.writable else "plan"
    start = Start(_command(brief), environment, state, mode=mode, counts=False, keeps_status=True)
    given = (Path(shown),) if shown else ()
    start = _in_state(start, brief, *given)
    return start._replace(needs=replace(start.needs, readable=given))


def _claude(brief: Brief, seat: Seat) -> Start:
    program, state = brief.program, state_of(seat.home / ".claude", seat.person, brief.environment)
    state.prepare()
    options = {
        # The user's own settings could allow calls that the gate must decide.
        "settingSources": [],
        "strictMcpConfig": True,
        "promptSuggestions": False,
        "allowedTools": [f"mcp__{SERVER}__{TOOL}"],
        "settings": {"permissions": {"ask": ["Read", "Grep", "Glob", "Bash"]}},
        **({} if brief.writable else {"disallowedTools": ["Write", "Edit", "NotebookEdit"]}),
        **({"model": program.model} if program.model else {}),
        **({"effort": program.effort} if program.effort else {}),
        **({"maxTurns": program.max_turns} if program.max_turns is not None else {}),
        **({"maxBudgetUsd": program.budget_usd} if program.budget_usd is not None else {}),
    }
    return Start(
        _command(brief),
        state.environment,
        state.login,
        needs=Needs(own=state.own, hidden=state.others, hosts=hosts_of(KINDS["claude"], brief.environment)),
        meta={"claudeCode": {"options": options}},
    )


def _command(brief: Brief) -> tuple[str, ...]:
    kind = KINDS[brief.program.kind]
    return (*(brief.program.command or (kind.program,)), *kind.arguments)


def _in_state(start: Start, brief: Brief, *settings: Path) -> Start:
    """Make the user's folder of the agent writable, to renew the login, except files that could act later.

    Adds the hosts of the models that the user's settings name, in that folder or in `settings`.
    """
    kind = KINDS[brief.program.kind]
    files = (*(start.state / name for name in kind.sealed), *settings)
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file())
    return start._replace(
        needs=Needs(
            own=(start.state,),
            sealed=tuple(start.state / name for name in kind.sealed),
            apart=tuple(start.state / name for name in kind.others),
            hosts=(*hosts_of(kind, brief.environment), *(host for text in texts for host in hosts_set(text))),
        )
    )
