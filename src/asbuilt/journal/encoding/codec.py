"""Read and write events as the journal stores them: a kind, a version, and JSON.

Rule: every stored event stays readable. An unknown kind is kept as `Unknown`, an unknown field in
`Entry.more`; `journal.encoding.upcasts` converts older versions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from asbuilt.errors import JournalDamaged
from asbuilt.events.convert import convert
from asbuilt.events.event import Entry, Event, Unknown
from asbuilt.events.kinds import KINDS
from asbuilt.events.options import RunOptions
from asbuilt.events.options_json import plain_options, read_options
from asbuilt.journal.encoding.upcasts import UPCASTS, Data


def kind_of(event: Event) -> tuple[str, int]:
    """Return the kind and version that an event is stored with."""
    return (event.name, event.number) if isinstance(event, Unknown) else (event.kind, event.version)


def fields_of(event: Event, *, run: str | None = None) -> Data:
    """Return an event's data with the run that it is about; fields at their default are left out."""
    plain = event.data if isinstance(event, Unknown) else msgspec.to_builtins(event)
    return plain if run is None else {"run": run, **plain}


def event_of(kind: str, v: int, data: Mapping[str, Any]) -> Event:
    """Read an event; raise `JournalDamaged` if a known kind lacks its fields."""
    known = KINDS.get(kind)
    if known is None or v > known.version:
        return Unknown(name=kind, number=v, data=dict(data))
    read = dict(data)
    for version in range(v, known.version):
        read = UPCASTS[kind, version](read)
    try:
        return convert(read, known)
    except msgspec.ValidationError as error:
        raise JournalDamaged(
            f"an event {kind} in the journal cannot be read",
            why=f"{error}. The history is incomplete without it.",
            next_step="`asbuilt doctor` checks the journal; a backup may have the complete event.",
        ) from error


def options_of(text: str) -> RunOptions:
    """Read the options of a run or of a schedule; raise `JournalDamaged` if a value cannot be read."""
    try:
        return read_options(convert(json.loads(text), Data))
    except msgspec.ValidationError as error:
        raise JournalDamaged(
            "the options of a run in the journal cannot be read",
            why=f"{error}. asbuilt does not know how that run works without them.",
            next_step="A newer version of asbuilt may have written them: update asbuilt on this machine.",
        ) from error


def newer_options(text: str) -> RunOptions:
    """Read what can be shown of the options that a newer asbuilt wrote: the name of the plan."""
    data = json.loads(text)
    slug = data.get("slug") if isinstance(data, dict) else None
    return RunOptions(slug=slug if isinstance(slug, str) else "")


def options_text(options: RunOptions) -> str:
    """Return options as the journal stores them."""
    return json.dumps(plain_options(options), sort_keys=True)


class Row(NamedTuple):
    """Columns of a row that are not part of the event."""

    seq: int
    key: str
    at: str
    actor: str


def entry(row: Row, kind: str, v: int, data: Mapping[str, Any]) -> Entry:
    """Build an entry from the parts of a row."""
    event = event_of(kind, v, data)
    names = data.keys() if isinstance(event, Unknown) else {"run", *event.__struct_encode_fields__}
    more = {name: value for name, value in data.items() if name not in names}
    return Entry(**row._asdict(), event=event, run=data.get("run"), more=more, v=v)


def entry_of(*, kind: str, v: int, data: str, **row: Any) -> Entry:  # noqa: ANN401 - as `Row` has them
    """Read a row of the journal."""
    return entry(Row(**row), kind, v, json.loads(data))


def whole(found: Entry, load: Callable[[str], bytes]) -> Entry:
    """Return an entry with the fields that are stored in a blob because they are too long."""
    event = found.event
    digest = getattr(event, event.elsewhere, "") if event.elsewhere else ""
    if not digest:
        return found
    # The event's own fields win: a landing that reverts commits uses the same field name in both.
    read = json.loads(load(digest)) | msgspec.to_builtins(event)
    return msgspec.structs.replace(found, event=event_of(*kind_of(event), read))
