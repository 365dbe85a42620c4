"""Add a rendered plugin to the text of Claude Code's settings, and remove it. Pure.

Rule: only two entries are ours. If the file is otherwise unchanged, removing them restores it byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from asbuilt.cli.commands.init.members import (
    Splice,
    inside,
    set_member,
    take,
    take_section,
    undone,
    value_of,
    whole,
)
from asbuilt.cli.commands.init.rendering import MARKETPLACE, PLUGIN
from asbuilt.plan.markdown.source import digest

_MARKETPLACES: Final = "extraKnownMarketplaces"
_ENABLED: Final = "enabledPlugins"
_ENTRIES: Final = ((_ENABLED, PLUGIN), (_MARKETPLACES, MARKETPLACE))


class AnotherMarketplace(ValueError):
    """The settings have another marketplace with our name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What was spliced into a settings file."""

    folder: str
    """Folder of the plugin."""
    digest: str
    """Digest of the file with the plugin in it."""
    made: bool
    """Whether there was no file before."""
    sections: tuple[str, ...]
    """Sections that did not exist before."""
    splices: tuple[Splice, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the data for a record."""
        return {
            "folder": self.folder,
            "digest": self.digest,
            "made": self.made,
            "sections": list(self.sections),
            "splices": [list(splice) for splice in self.splices],
        }

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Registration:
        """Build it from the data of a record."""
        splices = tuple(Splice(*splice) for splice in kept["splices"])
        return cls(**{**kept, "sections": tuple(kept["sections"]), "splices": splices})


def is_registered(text: str | None, folder: str) -> bool:
    """Return whether a settings file names this plugin and enables it."""
    if text is None or not text.strip():
        return False
    return (
        _value(text, _MARKETPLACES, MARKETPLACE) == _entry(folder) and _value(text, _ENABLED, PLUGIN) is True
    )


def register(text: str | None, folder: str, kept: Registration | None) -> tuple[str, Registration]:
    """Return the settings with the plugin, and how to remove it; `text` None: there is no file."""
    if text is not None and kept and is_registered(text, folder):
        return text, kept
    before = text if text is None or kept is None else unregister(text, folder, kept)
    after = before or ""
    there = _value(after, _MARKETPLACES, MARKETPLACE) if after.strip() else None
    if there not in (None, _entry(folder)):
        raise AnotherMarketplace(str(there))
    known = {member.key for member in whole(after).members} if after.strip() else set()
    splices: list[Splice] = []
    for section, key, value in ((_MARKETPLACES, MARKETPLACE, _entry(folder)), (_ENABLED, PLUGIN, True)):
        splice = set_member(after, section, key, value)
        if splice is not None:
            splices.append(splice)
            after = splice.apply(after)
    sections = tuple(section for section, _ in _ENTRIES if section not in known)
    return after, Registration(
        folder=folder,
        digest=digest(after.encode()),
        made=before is None,
        sections=sections,
        splices=tuple(splices),
    )


def unregister(text: str, folder: str, kept: Registration | None) -> str | None:
    """Return the settings without the plugin; None: delete a file that was created only for it."""
    if not text.strip():
        return text
    if kept and kept.splices and digest(text.encode()) == kept.digest:
        return None if kept.made else undone(text, kept.splices)
    ours = [_entry(folder), *([_entry(kept.folder)] if kept else [])]
    there = _value(text, _MARKETPLACES, MARKETPLACE)
    if there is not None and there not in ours:
        return text
    for section, key in _ENTRIES:
        if splice := take(text, section, key):
            text = splice.apply(text)
            emptied = take_section(text, section) if kept and section in kept.sections else None
            text = emptied.apply(text) if emptied else text
    return None if kept and kept.made and not whole(text).members else text


def _entry(folder: str) -> dict[str, object]:
    return {"source": {"source": "directory", "path": folder}}


def _value(text: str, section: str, key: str) -> object:
    found = inside(text, section)
    member = found.last(key) if found else None
    return None if member is None else value_of(text, member)
