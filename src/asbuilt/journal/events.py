"""The events of a plan, in order. Rule: a key is written once, so a repeated step appends nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final

from asbuilt.events.event import Entry, Event
from asbuilt.journal.database.table import OF_PLAN, Table, insert
from asbuilt.journal.encoding.codec import Row, entry, entry_of, fields_of, kind_of

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address

MAX_BODY: Final = 2_048
"""Maximum size of an event's data in bytes; longer data is a blob, and the event has its digest."""
_WORDS: Final = 700
_SHORTEST: Final = 40
_PAGE: Final = 5_000
_LAST: Final = 2**31 - 1
_EVENTS: Final = Table("events", entry_of, ("seq", "key", "kind", "v", "at", "actor", "data"))

_NUMBERS: Final = tuple(f"n_{at}" for at in range(700))
_NUMBERED: Final = f"{OF_PLAN} AND seq IN ({', '.join(f':{name}' for name in _NUMBERS)}) ORDER BY seq"


def shortened(text: str, size: int) -> str:
    """Cut a text to `size` bytes of encoded JSON; quotes, control and non-ASCII characters take more."""
    for end in range(len(text), -1, -max(1, len(text) // 64)):
        cut = text if end == len(text) else text[:end] + "…"
        if body_size(cut) <= size:
            return cut
    return ""


def body_size(data: object) -> int:
    """Return the size of a value in an event, in bytes."""
    return len(_body(data).encode())


def _body(data: object) -> str:
    body = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        body.encode()
    except UnicodeEncodeError:
        # A file name that is not UTF-8: databases reject it as text, but the escaped form is lossless.
        return json.dumps(data, sort_keys=True, separators=(",", ":"))
    return body


def _cut(value: object, size: int) -> object:
    if isinstance(value, str):
        return shortened(value, size)
    if isinstance(value, dict):
        return {name: _cut(member, size) for name, member in value.items()}
    if not isinstance(value, list | tuple):
        return value
    # Keep the beginning of a long list.
    some = value[: max(1, size // _SHORTEST)]
    return [_cut(element, size // len(some)) for element in some]


def open_plan(session: Session, address: Address, slug: str) -> None:
    """Create a plan's head row if it has none."""
    first = {"seq": 0, "epoch": 0, "runs": 0, "state": "known", "changed_at": session.now}
    insert(
        session, "heads", "ON CONFLICT (org, repo, plan) DO NOTHING", **address._asdict(), slug=slug, **first
    )


def hold(session: Session, address: Address) -> None:
    """Lock a plan's head row: first in every transaction that changes a plan, or two could deadlock."""
    session.run(f"UPDATE heads SET changed_at = :now WHERE {OF_PLAN}", **address._asdict(), now=session.now)


def append(
    session: Session, address: Address, event: Event, *, key: str, actor: str, run: str | None = None
) -> Entry:
    """Append an event, or return the event that has this key. Texts that are too long are cut."""
    where = address._asdict()
    kind, v = kind_of(event)
    data = fields_of(event, run=run)
    if body_size(data) > MAX_BODY:
        # Ids and digests are shorter than what is cut.
        data = {name: _cut(value, _WORDS) for name, value in data.items()}
    body = _body(data)
    if len(body.encode()) > MAX_BODY:
        # A bug in asbuilt, caught before it fills a database: texts and outputs belong in blobs.
        raise ValueError(f"the event {kind} has {len(body)} characters; {MAX_BODY} bytes are allowed")
    # Lock the head row first, so that two writers of a plan are serialized.
    head = session.rows(
        f"UPDATE heads SET seq = seq + 1, changed_at = :now WHERE {OF_PLAN} RETURNING seq",
        **where,
        now=session.now,
    )
    seq = int(head[0]["seq"]) if head else _without_head(session, address)
    row = Row(seq, key, session.now, actor)
    known_key = "ON CONFLICT (org, repo, plan, key) DO NOTHING"
    if insert(session, "events", known_key, **where, **row._asdict(), kind=kind, v=v, data=body):
        return entry(row, kind, v, data)
    session.run(f"UPDATE heads SET seq = seq - 1 WHERE {OF_PLAN}", **where)
    known = keyed(session, address, key)
    if known is None:
        raise LookupError(key)
    return known


def _without_head(session: Session, address: Address) -> int:
    """Restore a plan's lost head row, and return the number of its next event."""
    open_plan(session, address, address.plan.rpartition("/")[2].removesuffix(".md"))
    rows = session.rows(
        f"UPDATE heads SET seq = 1 + (SELECT COALESCE(MAX(seq), 0) FROM events WHERE {OF_PLAN})"
        f" WHERE {OF_PLAN} RETURNING seq",
        **address._asdict(),
    )
    return int(rows[0]["seq"])


def keyed(session: Session, address: Address, key: str) -> Entry | None:
    """Return the event of a key, or None."""
    return _EVENTS.first(session, f"{OF_PLAN} AND key = :key", **address._asdict(), key=key)


def history(session: Session, address: Address, *, after: int = 0, limit: int = _PAGE) -> list[Entry]:
    """Return a plan's events after `after`, in order, at most `limit`."""
    where = f"{OF_PLAN} AND seq > :after ORDER BY seq LIMIT :limit"
    return _EVENTS.every(session, where, **address._asdict(), after=after, limit=limit)


def last(session: Session, address: Address, *, before: int | None = None, limit: int) -> list[Entry]:
    """Return the last `limit` events of a plan, or the last before `before`, in order."""
    where = f"{OF_PLAN} AND seq < :before ORDER BY seq DESC LIMIT :limit"
    end = _LAST if before is None else before
    return _EVENTS.every(session, where, **address._asdict(), before=end, limit=limit)[::-1]


def whole_history(session: Session, address: Address, *, after: int = 0) -> Iterator[Entry]:
    """Yield all of a plan's events after `after`, in order, page by page."""
    while page := history(session, address, after=after):
        yield from page
        after = page[-1].seq
        if len(page) < _PAGE:
            return


def numbered(session: Session, address: Address, numbers: Iterable[int]) -> list[Entry]:
    """Return a plan's events of some numbers, in order."""
    wanted, found = sorted(numbers), []
    for at in range(0, len(wanted), len(_NUMBERS)):
        some = wanted[at : at + len(_NUMBERS)]
        values = dict(zip(_NUMBERS, chain(some, repeat(some[-1])), strict=False))
        found += _EVENTS.every(session, _NUMBERED, **address._asdict(), **values)
    return found


def of_kinds(session: Session, address: Address, kinds: Sequence[str]) -> list[Entry]:
    """Return a plan's events of some kinds, in order."""
    names = {f"kind_{at}": kind for at, kind in enumerate(kinds)}
    where = f"{OF_PLAN} AND kind IN ({', '.join(f':{name}' for name in names)}) ORDER BY seq"
    return _EVENTS.every(session, where, **address._asdict(), **names)
