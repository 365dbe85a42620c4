"""Settings of package tools: the lines that name registries, and the credentials. Pure.

Rule: from a file that may hold a password or a token, only lines of listed keys are passed on.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_PIP: Final = r"(extra-)?index-url|find-links|trusted-host|cert|proxy|timeout|no-index|default-timeout"
_NPM: Final = r"(@[\w.-]+:)?registry|cafile|strict-ssl|(https?-)?proxy|noproxy"
_CARGO: Final = r"registry|index|replace-with|directory|local-registry|cainfo|proxy|default|protocol"
_LINE: Final = re.compile(r"^([^\s=#;][^=]*?)\s*=\s*(.*)$")
_SECRET: Final = re.compile(
    r"(?:_authToken|_auth|_password|token|secret-key)\s*=\s*[\"']?([^\s\"']+)"
    r"|\bpassword\s+(\S+)"
    r"|://[^/\s:@]*:([^@\s/]+)@"
    r"|://([^/\s:@]+)@"
)
_ADDRESS: Final = re.compile(r"\bhttps?://(?:[^\s/@\"']*@)?([\w.-]+)(?::(\d+))?", re.ASCII)
_PATH: Final = re.compile(r"(?:^|[\s=\"'])(?:file://)?(/[^\s\"'#]+)", re.MULTILINE)
_REGISTRY: Final = re.compile(
    rb"https://((?:index|registry|proxy|sum|static|repo|packages|plugins|services)\.((?:[a-z0-9-]+\.)+[a-z]{2,}))\b"
)
_HOST: Final = re.compile(rb"[\"'/]([a-z0-9-]+(?:\.[a-z0-9-]+)+)[\"'/]")


class File(NamedTuple):
    """A settings file of a package tool."""

    tool: str
    path: str
    """Path below the user's home."""
    place: str
    """Path below the HOME of a check environment."""
    keys: str = ""
    """Keys that name registries, proxies and trust; empty: the file holds only credentials."""


FILES: Final = (
    File("npm", ".npmrc", ".npmrc", _NPM),
    File("pip", ".config/pip/pip.conf", ".config/pip/pip.conf", _PIP),
    File("pip", ".pip/pip.conf", ".pip/pip.conf", _PIP),
    File("netrc", ".netrc", ".netrc"),
    File("cargo", ".cargo/config.toml", "cargo/config.toml", _CARGO),
    File("cargo", ".cargo/credentials.toml", "cargo/credentials.toml"),
)


def addresses_in(file: File, text: str) -> str:
    """Return the lines of a file that name registries, without any that could hold a credential."""
    kept: list[str] = []
    is_kept = False
    for line in text.splitlines():
        if line.startswith("["):
            kept.append(line)
            is_kept = False
        elif line[:1].isspace() and line.strip():
            # A continuation of the key above.
            kept += [line] if is_kept and _is_plain(line) else []
        elif found := _LINE.match(line):
            is_key = file.keys and re.fullmatch(file.keys, found[1].strip().rpartition(".")[2])
            is_kept = bool(is_key) and _is_plain(found[2])
            kept += [line] if is_kept else []
    return "".join(f"{line}\n" for line in kept) if any("=" in line for line in kept) else ""


def hosts_in(text: str) -> tuple[str, ...]:
    """Return the hosts of URLs in a text, each with its port, because a user's own may be private."""
    found = _ADDRESS.finditer(text)
    return tuple(f"{match[1]}:{match[2] or (80 if match[0].startswith('http:') else 443)}" for match in found)


def paths_in(text: str) -> tuple[str, ...]:
    """Return the paths in a text: folders with packages, certificates."""
    return tuple(path.rstrip("/") for path in _PATH.findall(text))


def made_for(program: bytes) -> tuple[str, ...]:
    """Return the registries in a package tool's own program, and `*.` of their parent domains.

    A registry may have its index on one host and its files on another of the same domain.
    """
    found = {(host.decode(), parent.decode()) for host, parent in _REGISTRY.findall(program)}
    beside = {f"*.{parent}" for _, parent in found if "." in parent}
    return tuple(sorted({f"{host}:443" for host, _ in found} | beside))


def quoted_hosts(source: bytes) -> tuple[str, ...]:
    """Return the hosts in quotes or URLs in a short source file of a package tool."""
    return tuple(f"{host.decode()}:443" for host in dict.fromkeys(_HOST.findall(source)))


def secrets_in(text: str) -> tuple[str, ...]:
    """Return the credentials in a file, for masking."""
    return tuple(next(group for group in found.groups() if group) for found in _SECRET.finditer(text))


def _is_plain(value: str) -> bool:
    """Return whether a value holds neither a login nor a variable."""
    return "@" not in value and "${" not in value
