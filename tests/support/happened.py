"""Events as tests write them, a kind and its data, and as journals hold them.

Rule: a kind or a field that no class has is a typo, and raises; a test that is about such ones says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asbuilt.events.event import Entry, Event, Unknown
from asbuilt.events.kinds import KINDS
from asbuilt.journal.encoding.codec import Row, entry, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def happened(
    events: Iterable[tuple[str, Mapping[str, Any]]], *, unknown: bool = False, first: int = 1
) -> list[Entry]:
    """Make the entries of a journal from kinds and their data; `run` and `at` are the entry's own."""
    return [_entry(seq, kind, data, unknown=unknown) for seq, (kind, data) in enumerate(events, start=first)]


def told(kind: str, /, **data: Any) -> Event:  # noqa: ANN401 - whatever an event of this kind says
    """Make one event of a kind."""
    return happened([(kind, data)])[0].event


def plain(found: Entry) -> tuple[str, dict[str, Any]]:
    """Return what was written of an entry: its kind, and its data with its run."""
    return found.kind, fields_of(found.event, run=found.run)


def _entry(seq: int, kind: str, data: Mapping[str, Any], *, unknown: bool) -> Entry:
    version = KINDS[kind].version if kind in KINDS else 1
    said = {name: value for name, value in data.items() if name != "at"}
    made = entry(Row(seq, f"{seq}", data.get("at", ""), "asbuilt"), kind, version, said)
    if not unknown and (isinstance(made.event, Unknown) or made.more):
        raise ValueError(f"{kind} is not known, or has no {', '.join(made.more) or 'class'}")
    return made
