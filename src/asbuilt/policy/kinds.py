"""Which agents asbuilt can drive, and what each is: its program, its state, what of it could act later.

The one rule: everything here was measured on the real program; what was not is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_URL: Final = re.compile(r"(?P<scheme>https?)://(?:[^/@]*@)?(?P<host>[^/:?#]+|\[[^]]*\])(?P<port>:[0-9]+)?")
_BASE: Final = re.compile(
    r"(?:base_?url|endpoint)[\"']?\s*[:=]\s*[\"']?(https?://[^\s\"',}]+)", re.IGNORECASE
)
"""How an agent's settings name the place of its model."""
Through = Literal["script", "control", "ACP"]


class Kind(NamedTuple):
    """One kind of agent."""

    name: str
    through: Through
    program: str = ""
    """What it is called on a PATH."""
    arguments: tuple[str, ...] = ()
    """What makes it speak to us."""
    variables: tuple[str, ...] = ()
    """What it may see of the user's environment besides the short list: its key, its base URL."""
    state: tuple[str, ...] = ()
    """Below the user's HOME: what it must be able to write."""
    sealed: tuple[str, ...] = ()
    """Within that: settings, hooks, plug-ins; read-only, because they would act later."""
    others: tuple[str, ...] = ()
    """Within the state: folders of conversations; an attempt has its own in their place."""
    remade: tuple[str, ...] = ()
    """Within what is sealed: what the program itself lays down at its start."""
    hosts: tuple[str, ...] = ()
    """Where its models are, and where its login is renewed."""
    addresses: tuple[str, ...] = ()
    """Variables by which the user names another place for the model."""
    own: str = ""
    """The agent's own program, where `program` is an adapter that is installed beside it."""
    install: str = ""
    """The command that installs that adapter."""
    reports_usd: bool = True
    """Whether it reports dollars; the cost of one that does not is unknown."""


_CLAUDE: Final = Kind(
    "claude",
    "control",
    program="claude",
    arguments=("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    variables=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_MAX_RETRIES",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "NODE_EXTRA_CA_CERTS",
    ),
    hosts=("api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"),
    addresses=("ANTHROPIC_BASE_URL",),
    state=(".claude",),
    sealed=(
        ".claude.json",
        ".mcp.json",
        "CLAUDE.md",
        "agents",
        "commands",
        "hooks",
        "managed-settings.json",
        "output-styles",
        "plugins",
        "remote-settings.json",
        "rules",
        "settings.json",
        "settings.local.json",
        "skills",
        "workflows",
    ),
)
_NETWORK: Final = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS")
_CODEX: Final = Kind(
    "codex",
    "ACP",
    program="codex-acp",
    variables=("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME", *_NETWORK),
    hosts=("api.openai.com", "auth.openai.com", "chatgpt.com"),
    addresses=("OPENAI_BASE_URL",),
    state=(".codex",),
    sealed=(
        "config.toml",
        "hooks.json",
        "AGENTS.md",
        "AGENTS.override.md",
        "agents",
        "plugins",
        "prompts",
        "rules",
        "skills",
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
        "generativelanguage.googleapis.com",
        "cloudcode-pa.googleapis.com",
        "oauth2.googleapis.com",
        "accounts.google.com",
        "www.googleapis.com",
    ),
    addresses=("GOOGLE_GEMINI_BASE_URL",),
    state=(".gemini",),
    sealed=(
        "settings.json",
        "trustedFolders.json",
        ".env",
        "GEMINI.md",
        "agents",
        "commands",
        "extensions",
        "hooks",
        "policies",
        "skills",
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
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        *_NETWORK,
    ),
    hosts=(
        "opencode.ai",
        "api.anthropic.com",
        "api.openai.com",
        "generativelanguage.googleapis.com",
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

FORGE_VARIABLES: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS", "GH_CONFIG_DIR", "GH_HOST", "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
    "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND",
)  # fmt: skip
"""What gh, and a git that pushes, may see of the user's environment: their logins, and the way out."""


def hosts_of(kind: Kind, environment: Mapping[str, str]) -> tuple[str, ...]:
    """List where an agent's model is: its own hosts, and the one that the user's variables name."""
    found = (_URL.match(environment.get(name, "")) for name in kind.addresses)
    return (*kind.hosts, *(_with_port(match) for match in found if match is not None))


def hosts_set(settings: str) -> tuple[str, ...]:
    """List where the user's own settings of an agent say that its model is."""
    return tuple(_with_port(match) for text in _BASE.findall(settings) if (match := _URL.match(text)))


def _with_port(match: re.Match[str]) -> str:
    # With its port it may be a gateway in the user's own network.
    ports = {"http": ":80", "https": ":443"}
    return f"{match['scheme']}://{match['host']}{match['port'] or ports[match['scheme']]}"
