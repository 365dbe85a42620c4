"""Add a rendered plugin to the text of Claude Code's settings, and remove it. Pure.

Rules: only two members of the JSON document are ours. They are splices of its text: all other bytes stay as
they are. If the file is otherwise unchanged, removing them restores it byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from json import JSONDecodeError
from typing import Final, NamedTuple

from msgspec import Struct

from asbuilt.cli.commands.init.rendering import MARKETPLACE, PLUGIN
from asbuilt.plan.markdown.source import digest

_BLANK: Final = " \t\r\n"
_MARK: Final = "\ufeff"
_DECODER: Final = json.JSONDecoder()


class Splice(NamedTuple):
    """A replacement of one text by another, at an offset."""

    at: int
    removed: str
    inserted: str

    def apply(self, text: str) -> str:
        """Return the text with the splice applied."""
        return text[: self.at] + self.inserted + text[self.at + len(self.removed) :]


class Member(NamedTuple):
    """A member of an object: offsets of its key, of its value, and of the value's end."""

    key: str
    start: int
    value: int
    end: int


class Object(NamedTuple):
    """An object in the text, from its opening brace to after its closing brace."""

    start: int
    end: int
    members: tuple[Member, ...]

    def last(self, key: str) -> Member | None:
        """Return a member by key; of duplicates the last one, as JSON parsers do."""
        return next((member for member in reversed(self.members) if member.key == key), None)


class NotAnObject(ValueError):
    """The text, or a part of it, is no JSON object; the message says where and why."""


def whole(text: str) -> Object:
    """Parse the document."""
    begin = len(text) - len(text.removeprefix(_MARK))
    try:
        value = json.loads(text[begin:])
    except (JSONDecodeError, RecursionError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, JSONDecodeError) else "too deep"
        raise NotAnObject(where) from error
    if not isinstance(value, dict):
        raise NotAnObject("it is no object")
    return _object_at(text, _skip(text, begin))


def inside(text: str, section: str) -> Object | None:
    """Parse a member that is an object itself; None: missing."""
    found = whole(text).last(section)
    if found is None:
        return None
    if text[found.value] != "{":
        raise NotAnObject(f"{section} is no object")
    return _object_at(text, found.value)


def value_of(text: str, member: Member) -> object:
    """Parse a member's value."""
    value: object = json.loads(text[member.value : member.end])
    return value


def set_member(text: str, section: str, key: str, value: object) -> Splice | None:
    """Return the splice that sets a member of a section, in the file's formatting; None: already set."""
    if not text.strip(_BLANK):
        return Splice(0, text, json.dumps({section: {key: value}}, indent=2, ensure_ascii=False) + "\n")
    top, found = whole(text), inside(text, section)
    if found is None:
        return _added(text, top, top, section, {key: value})
    there = found.last(key)
    if there is None:
        return _added(text, top, found, key, value)
    if value_of(text, there) == value:
        return None
    return Splice(there.value, text[there.value : there.end], json.dumps(value, ensure_ascii=False))


def take(text: str, section: str, key: str) -> Splice | None:
    """Return the splice that removes the last member of that name from a section; None: missing."""
    found = inside(text, section)
    member = found.last(key) if found else None
    return _cut(text, found, member) if found and member else None


def take_section(text: str, section: str) -> Splice | None:
    """Return the splice that removes an empty section; None: missing, or not empty."""
    top, found = whole(text), inside(text, section)
    member = top.last(section)
    return _cut(text, top, member) if member and found and not found.members else None


def undone(text: str, splices: Sequence[Splice]) -> str:
    """Undo splices, the last one first."""
    for at, removed, inserted in reversed(splices):
        text = Splice(at, inserted, removed).apply(text)
    return text


def _object_at(text: str, start: int) -> Object:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, behind = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, behind) + 1)
        end = _DECODER.raw_decode(text, value)[1]
        members.append(Member(key, at, value, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Object(start, at + 1, tuple(members))


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _cut(text: str, of: Object, member: Member) -> Splice:
    at = of.members.index(member)
    if len(of.members) == 1:
        begin, end = of.start + 1, of.end - 1
    elif at + 1 < len(of.members):
        begin, end = member.start, of.members[at + 1].start
    else:
        begin, end = of.members[at - 1].end, member.end
    return Splice(begin, text[begin:end], "")


def _added(text: str, top: Object, of: Object, key: str, value: object) -> Splice:
    newline, indent = _manner(text, top)
    if of.members:
        lead = _lead(text, of)
        return Splice(of.members[-1].end, "", f",{lead or ' '}{_written(key, value, lead, indent)}")
    depth = 1 if of is top else 2
    lead, tail = (newline + indent * deep if newline else "" for deep in (depth, depth - 1))
    between = text[of.start + 1 : of.end - 1]
    return Splice(of.start + 1, between, lead + _written(key, value, lead, indent) + tail)


def _written(key: str, value: object, lead: str, indent: str) -> str:
    """Format a member, on several lines if its neighbours have their own lines."""
    if not lead:
        return json.dumps({key: value}, ensure_ascii=False)[1:-1]
    rows = json.dumps({key: value}, indent=indent, ensure_ascii=False).split("\n")[1:-1]
    return lead.join(row.removeprefix(indent) for row in rows)


def _manner(text: str, top: Object) -> tuple[str, str]:
    """Return the file's line ending and indentation; no line ending: the file is one line."""
    if not top.members:
        return ("\r\n" if "\r\n" in text else "\n"), "  "
    lead = _lead(text, top)
    indent = lead.lstrip("\r\n")
    return lead.removesuffix(indent), indent or "  "


def _lead(text: str, of: Object) -> str:
    """Return line ending and indentation before an object's first member; empty: it has no own line."""
    blank = text[of.start + 1 : of.members[0].start]
    begin = blank.rfind("\n")
    return "" if begin < 0 else blank[begin - (blank[begin - 1 : begin] == "\r") :]


_MARKETPLACES: Final = "extraKnownMarketplaces"
_ENABLED: Final = "enabledPlugins"
_ENTRIES: Final = ((_ENABLED, PLUGIN), (_MARKETPLACES, MARKETPLACE))


class AnotherMarketplace(ValueError):
    """The settings have another marketplace with our name."""


class Registration(Struct, frozen=True, kw_only=True):
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
