"""Where a run works: which workers may take it, by the labels that it asks for.

A label is a word such as `gpu` or `repo:shop`. `env:NAME` is a variable that the worker has a value for.

A remote has one name for every form of its URL. Rule: forms that name different repositories never get one
name. Only URLs that other machines can reach have a name.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from msgspec import UNSET

from asbuilt.errors import UsageWrong
from asbuilt.events.options import RunOptions, Variables

FLEET: Final = "fleet"
"""The first word of a place that any worker of the fleet may take."""
_LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,62}")
_PORTS: Final = {"ssh": 22, "git+ssh": 22, "ssh+git": 22, "https": 443, "http": 80}
_SCP: Final = re.compile(r"(?:[^@/:\s]+@)?(\[[0-9A-Fa-f:.]+\]|[^@/:\s\[\]]{2,}):(?!//)(.*)")
"""`user@host:path`. A host of one letter is a drive of Windows."""
_ALIASES: Final = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
"""Hosts for SSH on port 443."""
_CASELESS: Final = frozenset({"github.com", "gitlab.com", "bitbucket.org"})


class Offer(NamedTuple):
    """What a worker of the fleet offers."""

    labels: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    """Names of the variables that it has a value for."""

    @property
    def words(self) -> frozenset[str]:
        """The labels, and each variable as `env:NAME`."""
        return self.labels | {f"env:{name}" for name in self.variables}


def place_of(options: RunOptions) -> str | None:
    """Return the place of a run, which a worker that offers its words may take; None: not the fleet's."""
    if options.fleet is UNSET:
        return None
    named = options.env or Variables()
    needed = Offer(frozenset(options.fleet.labels), frozenset((*(named.checks or ()), *(named.setup or ()))))
    return " ".join((FLEET, *sorted(needed.words)))


def is_served(place: str, offer: Offer) -> bool:
    """Return whether a worker may take a run with this place."""
    return not lacking(place, offer)


def lacking(place: str, offer: Offer) -> tuple[str, ...]:
    """List the labels of a place that a worker does not have; a place of one machine is one of them."""
    first, *wanted = place.split() or [""]
    return tuple(word for word in wanted if word not in offer.words) if first == FLEET else (first,)


def check_label(text: str) -> str:
    """Return a label; raise `UsageWrong` for a text that is none."""
    if not _LABEL.fullmatch(text) or text.startswith("env:"):
        raise UsageWrong(
            f"{text!r} cannot be a label",
            why="A label has 1 to 63 letters, digits and -_.:/; `env:` is for variables of workers.",
            next_step="Use a word such as gpu or repo:shop.",
        )
    return text


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
