"""Kinds of agents that asbuilt can drive: program, state, hosts, files that could act later; sizes of models.

Rules: every value was measured on the real program; unmeasured values are left out. A model whose name gives
no size has no rung: with `agents.min_model` set, it gets no work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

_URL: Final = re.compile(r"(?P<scheme>https?)://(?:[^/@]*@)?(?P<host>[^/:?#]+|\[[^]]*\])(?P<port>:[0-9]+)?")
_BASE: Final = re.compile(
    r"(?:base_?url|endpoint)[\"']?\s*[:=]\s*[\"']?(https?://[^\s\"',}]+)", re.IGNORECASE
)
"""Matches the URL of the model in an agent's settings."""
Through = Literal["script", "control", "ACP"]


class Kind(NamedTuple):
    """One kind of agent."""

    name: str
    through: Through
    program: str = ""
    """Program name on PATH."""
    arguments: tuple[str, ...] = ()
    """Arguments for the protocol in `through`."""
    variables: tuple[str, ...] = ()
    """Variables of the user's environment that it gets besides the short list: its key, its base URL."""
    state: tuple[str, ...] = ()
    """Paths below the user's HOME that it must be able to write."""
    sealed: tuple[str, ...] = ()
    """Settings, hooks and plug-ins in the state; read-only, because they would act later."""
    others: tuple[str, ...] = ()
    """Conversation folders in the state; an attempt gets its own instead."""
    remade: tuple[str, ...] = ()
    """Sealed paths that the program itself writes when it starts."""
    hosts: tuple[str, ...] = ()
    """Hosts of its models, and of the renewal of its login."""
    addresses: tuple[str, ...] = ()
    """Variables in which the user can set another URL of the model."""
    own: str = ""
    """The agent's own program, if `program` is an adapter that is installed beside it."""
    install: str = ""
    """Command that installs the adapter."""
    reports_usd: bool = True
    """Whether it reports dollars; otherwise the cost is unknown."""


_NETWORK: Final = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS")
_CLAUDE: Final = Kind(
    "claude",
    "control",
    program="claude",
    arguments=("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    variables=(
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"),
        *("CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", *_NETWORK),
    ),
    hosts=("api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"),
    addresses=("ANTHROPIC_BASE_URL",),
    state=(".claude",),
    sealed=(
        *(".claude.json", ".mcp.json", "CLAUDE.md", "agents", "commands", "hooks", "managed-settings.json"),
        *("output-styles", "plugins", "remote-settings.json", "rules", "settings.json"),
        *("settings.local.json", "skills", "workflows"),
    ),
)
_CODEX: Final = Kind(
    "codex",
    "ACP",
    program="codex-acp",
    variables=("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME", *_NETWORK),
    hosts=("api.openai.com", "auth.openai.com", "chatgpt.com"),
    addresses=("OPENAI_BASE_URL",),
    state=(".codex",),
    sealed=(
        *("config.toml", "hooks.json", "AGENTS.md", "AGENTS.override.md"),
        *("agents", "plugins", "prompts", "rules", "skills"),
    ),
    others=("sessions", "archived_sessions", "log"),
    remade=("skills/.system",),
    own="codex",
    install="npm install -g @zed-industries/codex-acp",
    reports_usd=False,
)
_GEMINI: Final = Kind(
    "gemini",
    "ACP",
    program="gemini",
    arguments=("--acp",),
    variables=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_HOME", *_NETWORK),
    hosts=(
        *("generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"),
        *("accounts.google.com", "www.googleapis.com"),
    ),
    addresses=("GOOGLE_GEMINI_BASE_URL",),
    state=(".gemini",),
    sealed=(
        *("settings.json", "trustedFolders.json", ".env", "GEMINI.md"),
        *("agents", "commands", "extensions", "hooks", "policies", "skills"),
    ),
    others=("tmp", "history"),
    reports_usd=False,
)
_OPENCODE: Final = Kind(
    "opencode",
    "ACP",
    program="opencode",
    arguments=("acp", "--pure"),
    variables=(
        *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
        *("XDG_CONFIG_HOME", "XDG_DATA_HOME", *_NETWORK),
    ),
    hosts=(
        *("opencode.ai", "api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com"),
        "openrouter.ai",
    ),
    state=(".local/share/opencode",),
    sealed=("snapshot",),
    others=("storage", "log", "project"),
)
_CLAUDE_ACP: Final = _CLAUDE._replace(
    name="claude-acp", through="ACP", program="claude-agent-acp", arguments=()
)

KINDS: Final[dict[str, Kind]] = {
    kind.name: kind for kind in (Kind("scripted", "script"), _CLAUDE, _CODEX, _GEMINI, _OPENCODE, _CLAUDE_ACP)
}

_RUNGS: Final = (
    ("haiku", 1), ("sonnet", 2), ("opus", 3),
    ("nano", 1), ("mini", 2), ("flash-lite", 1), ("flash", 2),
    ("pro", 3), ("codex", 3), ("gpt-5", 3), ("o3", 3),
)  # fmt: skip
"""Sizes of models by their names, in three rungs that vendors' families share.

The first match wins: `gpt-5-mini` is a mini. The `mini` in `gemini` does not count.
"""


def hosts_of(kind: Kind, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts of an agent's model: its own, and those in the user's variables."""
    found = (_URL.match(environment.get(name, "")) for name in kind.addresses)
    return (*kind.hosts, *(_with_port(match) for match in found if match is not None))


def hosts_set(settings: str) -> tuple[str, ...]:
    """Return the hosts of the model in the user's own settings of an agent."""
    return tuple(_with_port(match) for text in _BASE.findall(settings) if (match := _URL.match(text)))


def _with_port(match: re.Match[str]) -> str:
    # The port marks the host as one that may be private, such as a gateway in the user's network.
    ports = {"http": ":80", "https": ":443"}
    return f"{match['scheme']}://{match['host']}{match['port'] or ports[match['scheme']]}"


def rung_of(model: str) -> int | None:
    """Return the rung of a model, 1 to 3; None if its name gives no size."""
    name = f"-{model.lower().replace('gemini', '').replace('.', '-').replace('/', '-')}-"
    return next((rung for word, rung in _RUNGS if f"-{word}-" in name), None)


def is_below(model: str, floor: str) -> bool:
    """Return whether a model may not get work; without a floor every model may."""
    least = rung_of(floor) if floor else None
    rung = rung_of(model)
    return bool(floor) and (rung is None or least is None or rung < least)
