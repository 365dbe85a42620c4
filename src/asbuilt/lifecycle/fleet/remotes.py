"""The name of a remote repository, the same for every form of its URL.

Rule: forms that name different repositories never get one name. Only URLs that other machines can reach have
a name.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

_PORTS: Final = {"ssh": 22, "git+ssh": 22, "ssh+git": 22, "https": 443, "http": 80}
_SCP: Final = re.compile(r"(?:[^@/:\s]+@)?(\[[0-9A-Fa-f:.]+\]|[^@/:\s\[\]]{2,}):(?!//)(.*)")
"""`user@host:path`. A host of one letter is a drive of Windows."""
_ALIASES: Final = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
"""Hosts for SSH on port 443."""
_CASELESS: Final = frozenset({"github.com", "gitlab.com", "bitbucket.org"})


def canonical(url: str) -> str | None:
    """Return `host/path` of a remote; None for a path or a protocol that only this machine understands."""
    text = url.strip()
    scp = None if "://" in text else _SCP.fullmatch(text)
    if scp is not None:
        return _named(scp[1].strip("[]"), None, scp[2])
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not host:
        return None
    if host in _ALIASES:
        port = None
    return _named(host, None if port == _PORTS[parts.scheme] else port, parts.path)


def without_login(url: str) -> str:
    """Return a URL without the password in it, and without the user name unless SSH needs it."""
    if "://" not in url:
        return url.strip()
    parts = urlsplit(url.strip())
    login, _, address = parts.netloc.rpartition("@")
    user = login.partition(":")[0] if "ssh" in parts.scheme else ""
    netloc = f"{user}@{address}" if user else address
    return urlunsplit(SplitResult(parts.scheme, netloc, parts.path, "", ""))


def _named(host: str, port: int | None, path: str) -> str | None:
    known = host.lower()
    known = _ALIASES.get(known, known)
    parts = [part for part in unquote(path).split("/") if part not in ("", ".")]
    if not parts or ".." in parts or any(char.isspace() or not char.isprintable() for char in "".join(parts)):
        return None
    parts[-1] = parts[-1].removesuffix(".git") or parts[-1]
    name = "/".join(parts)
    where = f"[{known}]" if ":" in known else known
    return f"{where}{f':{port}' if port else ''}/{name.lower() if known in _CASELESS else name}"
