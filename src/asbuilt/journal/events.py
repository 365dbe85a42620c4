"""The events of a plan, in order. Rule: a key is written once, so a repeated step appends nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from asbuilt.journal.database.store import first
from asbuilt.journal.encoding.codec import Row, entry, entry_of, fields_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from asbuilt.events.event import Entry, Event
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.ids import Address

MAX_BODY: Final = 2_048
"""Maximum size of an event's data in bytes; longer data is a blob, and the event has its digest."""
_WORDS: Final = 700
_SHORTEST: Final = 40
_PAGE: Final = 5_000
_LAST: Final = 2**31 - 1
COLUMNS: Final = "seq, key, kind, v, at, actor, data"
"""Columns of an event."""


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


def _fitting(data: dict[str, Any]) -> dict[str, Any]:
    """Cut texts and lists to 700 bytes each if the data is over 2,048 bytes; ids and digests are shorter."""
    if body_size(data) <= MAX_BODY:
        return data
    return {name: _cut(value, _WORDS) for name, value in data.items()}


def _cut(value: object, size: int) -> object:
    if isinstance(value, str):
        return shortened(value, size)
    if isinstance(value, dict):
        return {name: _cut(one, size) for name, one in value.items()}
    if not isinstance(value, list | tuple):
        return value
    # Keep the beginning of a long list.
    some = value[: max(1, size // _SHORTEST)]
    return [_cut(one, size // len(some)) for one in some]


def open_plan(session: Session, address: Address, slug: str) -> None:
    """Create a plan's head row if it has none."""
    session.run(
        "INSERT INTO heads (org, repo, plan, slug, seq, epoch, runs, state, changed_at)"
        " VALUES (:org, :repo, :plan, :slug, 0, 0, 0, 'known', :now)"
        " ON CONFLICT (org, repo, plan) DO NOTHING",
        **address._asdict(),
        slug=slug,
        now=session.now,
    )


def hold(session: Session, address: Address) -> None:
    """Lock a plan's head row. Every transaction that changes a plan takes this lock first.

    Then two of them wait for each other in order. A lock taken later could deadlock.
    """
    session.run(
        "UPDATE heads SET changed_at = :now WHERE org = :org AND repo = :repo AND plan = :plan",
        **address._asdict(),
        now=session.now,
    )


def append(
    session: Session, address: Address, event: Event, *, key: str, actor: str, run: str | None = None
) -> Entry:
    """Append an event, or return the event that has this key. Texts that are too long are cut."""
    where = address._asdict()
    kind, v = kind_of(event)
    data = _fitting(fields_of(event, run=run))
    body = _body(data)
    if len(body.encode()) > MAX_BODY:
        # A bug in asbuilt, caught before it fills a database: texts and outputs belong in blobs.
        raise ValueError(f"the event {kind} has {len(body)} characters; {MAX_BODY} bytes are allowed")
    # Lock the head row first, so that two writers of a plan are serialized.
    head = first(
        session.rows(
            "UPDATE heads SET seq = seq + 1, changed_at = :now"
            " WHERE org = :org AND repo = :repo AND plan = :plan RETURNING seq",
            **where,
            now=session.now,
        )
    )
    seq = int(head["seq"]) if head else _without_head(session, address)
    row = Row(seq, key, session.now, actor)
    is_new = session.run(
        "INSERT INTO events (org, repo, plan, seq, key, kind, v, at, actor, data)"
        " VALUES (:org, :repo, :plan, :seq, :key, :kind, :v, :at, :actor, :data)"
        " ON CONFLICT (org, repo, plan, key) DO NOTHING",
        **where,
        **row._asdict(),
        kind=kind,
        v=v,
        data=body,
    )
    if is_new:
        return entry(row, kind, v, data)
    session.run("UPDATE heads SET seq = seq - 1 WHERE org = :org AND repo = :repo AND plan = :plan", **where)
    known = keyed(session, address, key)
    if known is None:
        raise LookupError(key)
    return known


def _without_head(session: Session, address: Address) -> int:
    """Restore a plan's lost head row, and return the number of its next event."""
    open_plan(session, address, address.plan.rpartition("/")[2].removesuffix(".md"))
    rows = session.rows(
        "UPDATE heads SET seq = 1 + (SELECT COALESCE(MAX(seq), 0) FROM events"
        " WHERE org = :org AND repo = :repo AND plan = :plan)"
        " WHERE org = :org AND repo = :repo AND plan = :plan RETURNING seq",
        **address._asdict(),
    )
    return int(rows[0]["seq"])


def keyed(session: Session, address: Address, key: str) -> Entry | None:
    """Return the event of a key, or None."""
    row = first(
        session.rows(
            f"SELECT {COLUMNS} FROM events WHERE org = :org AND repo = :repo AND plan = :plan AND key = :key",
            **address._asdict(),
            key=key,
        )
    )
    return None if row is None else entry_of(row)


def history(session: Session, address: Address, *, after: int = 0, limit: int = _PAGE) -> list[Entry]:
    """Return a plan's events after `after`, in order, at most `limit`."""
    rows = session.rows(
        f"SELECT {COLUMNS} FROM events"
        " WHERE org = :org AND repo = :repo AND plan = :plan AND seq > :after ORDER BY seq LIMIT :limit",
        **address._asdict(),
        after=after,
        limit=limit,
    )
    return [entry_of(row) for row in rows]


def last(session: Session, address: Address, *, before: int | None = None, limit: int) -> list[Entry]:
    """Return the last `limit` events of a plan, or the last before `before`, in order."""
    rows = session.rows(
        f"SELECT {COLUMNS} FROM events WHERE org = :org AND repo = :repo AND plan = :plan AND seq < :before"
        " ORDER BY seq DESC LIMIT :limit",
        **address._asdict(),
        before=_LAST if before is None else before,
        limit=limit,
    )
    return [entry_of(row) for row in reversed(rows)]


def whole_history(session: Session, address: Address, *, after: int = 0) -> Iterator[Entry]:
    """Yield all of a plan's events after `after`, in order, page by page."""
    while page := history(session, address, after=after):
        yield from page
        after = page[-1].seq
        if len(page) < _PAGE:
            return


def of_kinds(session: Session, address: Address, kinds: Sequence[str]) -> list[Entry]:
    """Return a plan's events of some kinds, in order."""
    names = {f"kind_{chr(ord('a') + at)}": kind for at, kind in enumerate(kinds)}
    rows = session.rows(
        f"SELECT {COLUMNS} FROM events WHERE org = :org AND repo = :repo AND plan = :plan"
        f" AND kind IN ({', '.join(f':{name}' for name in names)}) ORDER BY seq",
        **address._asdict(),
        **names,
    )
    return [entry_of(row) for row in rows]
