"""Recipes of make and just: the commands and dependencies of every target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_TARGET: Final = re.compile(r"^([^:=#\t]+?)\s*::?(?!=)\s*([^=#;]*)(?:;\s*(.*))?$")
_CALLED: Final = re.compile(r"(?:^|[;&|(]\s*|\s)(?:make|just|task)\s+([^;&|)]*)")
"""Arguments that a shell command passes to make, just or task."""
_TESTING: Final = re.compile(r"^(test|tests|check|ci|verify|all)$|test|check")


class Recipes(NamedTuple):
    """The contents of a recipe file."""

    targets: dict[str, tuple[str, ...]]
    """Every target with its dependencies."""
    bodies: dict[str, tuple[str, ...]]
    loose: list[str]
    """Lines outside of targets: variables and settings."""

    def commands(self, name: str) -> tuple[str, ...] | None:
        """Return the commands of a target; None if there is no such target."""
        return self.bodies.get(name)


def recipes_in(data: bytes | None) -> Recipes:
    """Parse a recipe file."""
    targets: dict[str, tuple[str, ...]] = {}
    bodies: dict[str, list[str]] = {}
    loose: list[str] = []
    current: list[str] = []
    waiting = ""
    for raw in (data or b"").decode("utf-8", "replace").splitlines():
        if raw.endswith("\\"):
            waiting += (
                raw.removesuffix("\\").rstrip() + " " if not waiting else raw.removesuffix("\\").strip() + " "
            )
            continue
        line, waiting = (waiting + (raw.strip() if waiting else raw)).rstrip(), ""
        if line[:1] in ("\t", " ") and current:
            for name in current:
                bodies[name].append(line.strip())
            continue
        found = _TARGET.match(line) if line and not line.startswith(("#", ".")) else None
        if found is None:
            current = current if not line else []
            if line and not line.startswith("#"):
                loose.append(line)
            continue
        current = found[1].split()
        for name in current:
            targets[name] = tuple(found[2].split())
            bodies.setdefault(name, [])
            if found[3]:
                bodies[name].append(found[3])
    return Recipes(targets, {name: tuple(body) for name, body in bodies.items()}, loose)


def targets_of(command: str, checks: Iterable[str], targets: dict[str, tuple[str, ...]]) -> set[str]:
    """Return the targets that test the project or check the phase, with their dependencies."""
    named = [
        word
        for check in checks
        for call in _CALLED.findall(check)
        for word in call.split()
        if word in targets
    ]
    return _with_needs(_testing(command, targets), targets) | _with_needs(named, targets)


def _testing(command: str, targets: dict[str, tuple[str, ...]]) -> list[str]:
    words = command.split()
    named = [word for word in words if word in targets]
    if words[:1] in (["make"], ["just"]) and not named:
        named = list(targets)[:1]
    if not named:
        named = [name for name in targets if _TESTING.search(name)]
    return named


def _with_needs(named: list[str], targets: dict[str, tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    while named:
        name = named.pop()
        if name not in found and name in targets:
            found.add(name)
            named += targets[name]
    return found
