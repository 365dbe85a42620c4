"""Detect a remote's forge and open it. Rule: a host that is not known is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from asbuilt.errors import ForgeFailed
from asbuilt.git.forge.branches import Remote
from asbuilt.git.forge.gh import Gh
from asbuilt.git.forge.github import GitHub
from asbuilt.policy.kinds import FORGE_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.git.repository import Repository
    from asbuilt.ports import Forge

_SCP: Final = re.compile(r"(?:[^@/:]+@)?(?P<host>[^@/:]+):(?P<path>[^:].*)")
_GITHUB: Final = ("github.com", "ssh.github.com", "github.localhost")
_OTHERS: Final = {"gitlab": "GitLab", "codeberg": "Forgejo", "forgejo": "Forgejo", "gitea": "Gitea"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Host, owner and name in a remote's URL."""

    host: str
    owner: str
    name: str


def place_of(url: str) -> Place | None:
    """Parse a remote's URL in any form that git accepts; None if it lacks a host, an owner or a name."""
    parts = urlsplit(url)
    if parts.scheme in ("http", "https", "ssh", "git"):
        host, path = (parts.hostname or ""), parts.path
    elif "://" not in url and (found := _SCP.fullmatch(url)) is not None:
        host, path = found["host"], found["path"]
    else:
        return None
    steps = [step for step in path.removesuffix("/").removesuffix(".git").split("/") if step]
    if not host or len(steps) < 2:
        return None
    host = host.lower()
    return Place(
        host="github.com" if host == "ssh.github.com" else host, owner="/".join(steps[:-1]), name=steps[-1]
    )


def open_forge(repository: Repository, environ: Mapping[str, str], *, remote: str = "origin") -> Forge:
    """Open the forge of a remote; sends no request yet."""
    git = replace(repository.git, as_user=True)
    said = git.said("remote", "get-url", "--push", "--", remote, allowed=(0, 2, 128))
    if said.code:
        raise ForgeFailed(
            f"this repository has no remote {remote}",
            why="A pull request is opened where the remote is.",
            next_step=f"git remote add {remote} ADDRESS, or land by cherry-pick.",
        )
    place = place_of(said.line)
    if place is None or not _is_github(place.host, environ):
        raise _unknown(remote, place)
    given = {name: environ[name] for name in FORGE_VARIABLES if name in environ}
    return GitHub(
        gh=Gh(host=place.host, environment=given),
        owner=place.owner,
        name=place.name,
        remote=Remote(repository=repository, url=said.line, environment=given),
    )


def _is_github(host: str, environ: Mapping[str, str]) -> bool:
    """Return whether a host is GitHub's, or the Enterprise host in `GH_HOST`."""
    return host in _GITHUB or host.endswith(".ghe.com") or host == environ.get("GH_HOST", "").lower()


def _unknown(remote: str, place: Place | None) -> ForgeFailed:
    if place is None:
        return ForgeFailed(
            f"remote {remote} leads to no forge",
            why="Its address names no host with an owner and a repository.",
            next_step="Point it at GitHub, or land by cherry-pick.",
        )
    kind = next((name for word, name in _OTHERS.items() if word in place.host), None)
    is_other = f"It is a {kind}; asbuilt opens pull requests on GitHub so far." if kind else ""
    return ForgeFailed(
        f"{place.host} is not a forge that asbuilt can open pull requests on",
        why=is_other or "asbuilt opens pull requests on GitHub so far, and no gh is told that this is one.",
        next_step="Land by cherry-pick and push yourself."
        if kind
        else f"For GitHub Enterprise set GH_HOST={place.host}; else land by cherry-pick and push yourself.",
    )
