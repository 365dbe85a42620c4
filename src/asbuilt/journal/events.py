"""What has happened to a plan, in order, once each. A repeated step appends nothing: its key is taken."""

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
"""Bytes of an event's data; what is longer is a blob, and its digest stands here."""
_WORDS: Final = 700
_SHORTEST: Final = 40
_PAGE: Final = 5_000
_LAST: Final = 2**31 - 1
COLUMNS: Final = "seq, key, kind, v, at, actor, data"
"""What an event is made of."""


def shortened(text: str, size: int) -> str:
    """Cut a text to so many bytes of an event's data; quotes, controls and strange letters take more."""
    for end in range(len(text), -1, -max(1, len(text) // 64)):
        cut = text if end == len(text) else text[:end] + "…"
        if body_size(cut) <= size:
            return cut
    return ""


def body_size(data: object) -> int:
    """Count the bytes that something takes in an event."""
    return len(_body(data).encode())


def _body(data: object) -> str:
    body = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        body.encode()
    except UnicodeEncodeError:
        # A name that is not UTF-8: no database takes it as text, and escaped it comes back as it was.
        return json.dumps(data, sort_keys=True, separators=(",", ":"))
    return body


def _fitting(data: dict[str, Any]) -> dict[str, Any]:
    """Cut words, and lists of them, so that several fit; ids and digests are shorter than that."""
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
    # Of a long list the beginning is kept.
    some = value[: max(1, size // _SHORTEST)]
    return [_cut(one, size // len(some)) for one in some]


def open_plan(session: Session, address: Address, slug: str) -> None:
    """Give a plan its head row, if it has none yet."""
    session.run(
        "INSERT INTO heads (org, repo, plan, slug, seq, epoch, runs, state, changed_at)"
        " VALUES (:org, :repo, :plan, :slug, 0, 0, 0, 'known', :now)"
        " ON CONFLICT (org, repo, plan) DO NOTHING",
        **address._asdict(),
        slug=slug,
        now=session.now,
    )


def hold(session: Session, address: Address) -> None:
    """Take a plan's head row. Whoever changes anything of a plan takes it first.

    So two of them wait one for the other. Were it taken in the middle, each could hold what the other needs.
    """
    session.run(
        "UPDATE heads SET changed_at = :now WHERE org = :org AND repo = :repo AND plan = :plan",
        **address._asdict(),
        now=session.now,
    )


def append(
    session: Session, address: Address, event: Event, *, key: str, actor: str, run: str | None = None
) -> Entry:
    """Append an event, or return the one that already has this key. Words that are too long are cut."""
    where = address._asdict()
    kind, v = kind_of(event)
    data = _fitting(fields_of(event, run=run))
    body = _body(data)
    if len(body.encode()) > MAX_BODY:
        # Our own bug, found before it fills a database: texts and outputs belong into blobs.
        raise ValueError(f"the event {kind} has {len(body)} characters; {MAX_BODY} bytes are allowed")
    # The head row is taken first, so that two writers of one plan come one after the other.
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
    """Give a plan its lost head row back, and return the number of its next event."""
    open_plan(session, address, address.plan.rpartition("/")[2].removesuffix(".md"))
    rows = session.rows(
        "UPDATE heads SET seq = 1 + (SELECT COALESCE(MAX(seq), 0) FROM events"
        " WHERE org = :org AND repo = :repo AND plan = :plan)"
        " WHERE org = :org AND repo = :repo AND plan = :plan RETURNING seq",
        **address._asdict(),
    )
    return int(rows[0]["seq"])


def keyed(session: Session, address: Address, key: str) -> Entry | None:
    """Return the event of a key, if it has been written."""
    row = first(
        session.rows(
            f"SELECT {COLUMNS} FROM events WHERE org = :org AND repo = :repo AND plan = :plan AND key = :key",
            **address._asdict(),
            key=key,
        )
    )
    return None if row is None else entry_of(row)


def history(session: Session, address: Address, *, after: int = 0, limit: int = _PAGE) -> list[Entry]:
    """Return a plan's events in order, from behind `after`."""
    rows = session.rows(
        f"SELECT {COLUMNS} FROM events"
        " WHERE org = :org AND repo = :repo AND plan = :plan AND seq > :after ORDER BY seq LIMIT :limit",
        **address._asdict(),
        after=after,
        limit=limit,
    )
    return [entry_of(row) for row in rows]


def last(session: Session, address: Address, *, before: int | None = None, limit: int) -> list[Entry]:
    """Return the last events of a plan, or the last before one, in order: a page, read from its end."""
    rows = session.rows(
        f"SELECT {COLUMNS} FROM events WHERE org = :org AND repo = :repo AND plan = :plan AND seq < :before"
        " ORDER BY seq DESC LIMIT :limit",
        **address._asdict(),
        before=_LAST if before is None else before,
        limit=limit,
    )
    return [entry_of(row) for row in reversed(rows)]


def whole_history(session: Session, address: Address, *, after: int = 0) -> Iterator[Entry]:
    """Give all of a plan's events in order from behind `after`, page by page."""
    while page := history(session, address, after=after):
        yield from page
        after = page[-1].seq
        if len(page) < _PAGE:
            return


def of_kinds(session: Session, address: Address, kinds: Sequence[str]) -> list[Entry]:
    """Give a plan's events of some kinds in order."""
    names = {f"kind_{chr(ord('a') + at)}": kind for at, kind in enumerate(kinds)}
    rows = session.rows(
        f"SELECT {COLUMNS} FROM events WHERE org = :org AND repo = :repo AND plan = :plan"
        f" AND kind IN ({', '.join(f':{name}' for name in names)}) ORDER BY seq",
        **address._asdict(),
        **names,
    )
    return [entry_of(row) for row in rows]
