"""Give a setup the registries of the user's package tools, and their credentials if a setting grants it.

Rule: credentials are mounted read-only while the setup runs, and never copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from asbuilt.flows.environments.results import content_of
from asbuilt.policy.sandbox.check_environment import PLACED
from asbuilt.policy.sandbox.registries import FILES, addresses_in, secrets_in
from asbuilt.policy.sandbox.rules import Placed

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.flows.environments.terms import Given


class Logins(NamedTuple):
    """Settings of package tools for one setup."""

    mounts: tuple[Placed, ...] = ()
    secrets: tuple[str, ...] = ()
    """Values to mask in its output."""
    points: tuple[Path, ...] = ()
    """Empty files that serve as mount points."""

    def remove(self) -> None:
        """Remove the mount points."""
        for point in self.points:
            if point.is_file() and not point.stat().st_size:
                point.unlink()


def place_logins(home: Path, given: Given) -> Logins:
    """Write the registries' addresses into the HOME of a setup; mount the user's own files where granted."""
    if given.home is None:
        return Logins()
    mounts: list[Placed] = []
    secrets: list[str] = []
    points: list[Path] = []
    for file in FILES:
        # A home may consist of links to a folder with shared settings.
        source = (given.home / file.path).resolve()
        text = (content_of(source) or b"").decode("utf-8", "replace")
        addresses = addresses_in(file, text)
        is_granted = bool(text) and file.tool in given.credentials
        if not addresses and not is_granted:
            continue
        point = home / file.place
        point.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        point.write_text(addresses, encoding="utf-8")
        if is_granted:
            mounts.append(Placed(str(source), f"{PLACED.home}/{file.place}", writable=False))
            secrets += secrets_in(text)
            points.append(point)
    return Logins(tuple(mounts), tuple(secrets), tuple(points))
