"""How each agent that speaks ACP is started, so that it asks us about everything it can. Pure over paths.

The one rule: it is told by arguments, environment and files in its own HOME; nothing of the user's changes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.agents.verdict_tool import SERVER, TOOL
from asbuilt.policy.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from asbuilt.ports import Brief

_CLAUDE_READS: Final = ["Read", "Grep", "Glob", "Bash"]


class Start(NamedTuple):
    """What one start of an agent is given."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, str] = {}
    """Below its own HOME, and read-only for it: rules that it reads at its start."""
    meta: Mapping[str, Any] = {}
    """Goes with the request for a conversation."""
    mode: str | None = None
    """What it calls changing nothing, asked of it for such roles and never relied on."""
    counts: bool = True
    """False: the tokens that it tells are those of its last step alone."""


def started(brief: Brief, *, person: Path, home: Path, held: bool) -> Start:
    """Say how the brief's agent is started; `held`: a ring keeps its commands to its role."""
    where = person if any((person / one).exists() for one in KINDS[brief.program.kind].state) else home
    match brief.program.kind:
        case "codex":
            return _codex(brief, where, held=held)
        case "gemini":
            return _gemini(brief, where, home)
        case "opencode":
            return _opencode(brief, where, person)
        case "claude-acp":
            return _claude(brief, where)
        case kind:
            raise ValueError(f"{kind} does not speak ACP")


def _command(brief: Brief) -> tuple[str, ...]:
    kind = KINDS[brief.program.kind]
    return (*(brief.program.command or (kind.program,)), *kind.arguments)


def _codex(brief: Brief, where: Path, *, held: bool) -> Start:
    # Inside a ring its own sandbox would only stand in the way of what we have allowed.
    sandbox = "read-only" if not brief.writable else "danger-full-access" if held else "workspace-write"
    settings = {
        "approval_policy": "untrusted",
        "sandbox_mode": sandbox,
        "check_for_update_on_startup": False,
        **({"model": brief.program.model} if brief.program.model else {}),
        **({"model_reasoning_effort": brief.program.effort} if brief.program.effort else {}),
    }
    told = (word for name, value in settings.items() for word in ("-c", f"{name}={json.dumps(value)}"))
    return Start((*_command(brief), *told), {"CODEX_HOME": str(where / ".codex")})


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


def _gemini(brief: Brief, where: Path, home: Path) -> Start:
    rules = "asbuilt/rules.toml"
    model = ("--model", brief.program.model) if brief.program.model else ()
    # The user's extensions bring hooks and tools of their own.
    argv = (*_command(brief), "--admin-policy", str(home / rules), "--extensions", "none", *model)
    environment = {
        "GEMINI_CLI_HOME": str(where),
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        # It would start itself a second time, and leave that behind when it is ended.
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    return Start(argv, environment, {rules: _GEMINI_RULES}, mode=None if brief.writable else "plan")


def _opencode(brief: Brief, where: Path, person: Path) -> Start:
    settings = {
        "autoupdate": False,
        "share": "disabled",
        # Its snapshots are repositories with a configuration of their own, in the user's folder.
        "snapshot": False,
        "permission": {"*": "ask", f"{SERVER}_{TOOL}": "allow"},
        **({"model": brief.program.model} if brief.program.model else {}),
    }
    # It writes into every folder of settings that it takes up, so it is shown the user's file alone.
    theirs = [person / ".config" / "opencode" / name for name in ("opencode.json", "opencode.jsonc")]
    shown = next((str(file) for file in theirs if file.exists()), None)
    environment = {
        **({"OPENCODE_CONFIG": shown} if shown else {}),
        "XDG_DATA_HOME": str(where / ".local" / "share"),
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        "OPENCODE_PERMISSION": json.dumps(settings["permission"]),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }
    return Start(_command(brief), environment, mode=None if brief.writable else "plan", counts=False)


def _claude(brief: Brief, where: Path) -> Start:
    program = brief.program
    options = {
        # The user's own settings could allow what we are to be asked about.
        "settingSources": [],
        "strictMcpConfig": True,
        "promptSuggestions": False,
        "allowedTools": [f"mcp__{SERVER}__{TOOL}"],
        "settings": {"permissions": {"ask": _CLAUDE_READS}},
        **({} if brief.writable else {"disallowedTools": ["Write", "Edit", "NotebookEdit"]}),
        **({"model": program.model} if program.model else {}),
        **({"effort": program.effort} if program.effort else {}),
        **({"maxTurns": program.max_turns} if program.max_turns is not None else {}),
        **({"maxBudgetUsd": program.budget_usd} if program.budget_usd is not None else {}),
    }
    environment = {
        "CLAUDE_CONFIG_DIR": str(where / ".claude"),
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    }
    return Start(_command(brief), environment, meta={"claudeCode": {"options": options}})
