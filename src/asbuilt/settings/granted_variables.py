"""The user's variables that a repository's commands get, and whether the user has granted them.

Rule: a repository only names variables. It gets none before the user has granted exactly these names to this
folder, and each value is the user's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from asbuilt.settings.layers import Layer, Settings

GRANTED: Final = "checks.granted"
_SECTIONS: Final = ("checks", "setup")


class Asked(NamedTuple):
    """Variables that a repository asks for without a grant."""

    names: tuple[str, ...]
    digest: str


def asked(settings: Settings, root: Path) -> Asked | None:
    """Return what a repository asks for; None if it asks for nothing, or has the grant."""
    names = [
        (section, name)
        for section in _SECTIONS
        if settings.chosen[f"{section}.env"].origin.layer is Layer.REPOSITORY
        for name in sorted(settings.globs(f"{section}.env"))
    ]
    text = "\0".join((str(root.resolve()), *(f"{section}.{name}" for section, name in names)))
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    if not names or digest in settings.globs(GRANTED):
        return None
    return Asked(tuple(dict.fromkeys(name for _, name in names)), digest)


def given(settings: Settings, root: Path, environ: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the variables of checks and of the setup, by section; those without a grant are left out."""
    is_refused = asked(settings, root) is not None
    found: dict[str, dict[str, str]] = {}
    for section in _SECTIONS:
        is_theirs = settings.chosen[f"{section}.env"].origin.layer is Layer.REPOSITORY
        names = () if is_refused and is_theirs else settings.globs(f"{section}.env")
        values = {name: _value(settings, section, name, environ) for name in names}
        found[section] = {name: value for name, value in values.items() if value is not None}
    return found


def without_value(settings: Settings, environ: Mapping[str, str]) -> list[str]:
    """List the keys of named variables that have no value, as `checks.env.NAME`."""
    return [
        f"{section}.env.{name}"
        for section in _SECTIONS
        for name in settings.globs(f"{section}.env")
        if _value(settings, section, name, environ) is None
    ]


def _value(settings: Settings, section: str, name: str, environ: Mapping[str, str]) -> str | None:
    own = settings.chosen.get(f"{section}.env.{name}")
    return environ.get(name) if own is None else str(own.value)
