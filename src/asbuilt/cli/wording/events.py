"""Format an event as one line, the same in every command. Unknown kinds are shown as JSON.

Rule: a line says what an agent claims, or what asbuilt ran. Only asbuilt's own checks make proven.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from asbuilt.cli.wording.landings import LANDINGS
from asbuilt.cli.wording.plans import PLANS
from asbuilt.cli.wording.runs import RUNS
from asbuilt.cli.wording.work import WORK
from asbuilt.events.event import Entry, phase_of
from asbuilt.journal.encoding.codec import fields_of, kind_of

WORDS: Final = dict((*RUNS, *WORK, *PLANS, *LANDINGS))


class Line(NamedTuple):
    """An event as a line of a log."""

    phase: str
    word: str
    text: str
    is_news: bool = True
    """False: bookkeeping that only a full log shows."""


def told(entry: Entry) -> Line:
    """Return the line of an event."""
    event = entry.event
    words = WORDS.get(type(event))
    if words is None:
        data = data_of(entry)
        return Line(
            str(data.get("phase") or "-"), entry.kind, json.dumps(data, sort_keys=True), is_news=False
        )
    word, text, is_news = words(event)
    return Line(phase_of(event) or "-", word, " ".join(text.split()), is_news)


def data_of(entry: Entry) -> dict[str, Any]:
    """Return the data of an event as stored in the journal, including fields unknown to this version."""
    return fields_of(entry.event, run=entry.run) | entry.more


def plain(entry: Entry) -> dict[str, Any]:
    """Return an entry as JSON data."""
    kind, version = kind_of(entry.event)
    return {
        "seq": entry.seq,
        "key": entry.key,
        "kind": kind,
        "v": version,
        "at": entry.at,
        "actor": entry.actor,
        "data": data_of(entry),
    }
