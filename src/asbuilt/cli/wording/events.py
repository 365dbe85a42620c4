"""Put events into words: one line each, the same in every door. A kind that is not known is shown as it is.

The one rule: an agent says; asbuilt ran; only our check makes proven.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asbuilt.cli.wording.landings import LANDINGS
from asbuilt.cli.wording.plans import PLANS
from asbuilt.cli.wording.runs import RUNS
from asbuilt.cli.wording.work import WORK
from asbuilt.events.event import phase_of
from asbuilt.journal.encoding.codec import fields_of, kind_of

if TYPE_CHECKING:
    from asbuilt.events.event import Entry

_WORDS: Final = dict((*RUNS, *WORK, *PLANS, *LANDINGS))
KINDS: Final = tuple(kind.kind for kind in _WORDS)
"""Every kind of event that has words."""


class Line(NamedTuple):
    """What an event says: of which phase, in one word, and the rest."""

    phase: str
    word: str
    text: str
    is_news: bool = True
    """False: bookkeeping that only a full log shows."""


def told(entry: Entry) -> Line:
    """Put one event into words."""
    event = entry.event
    words = _WORDS.get(type(event))
    if words is None:
        data = data_of(entry)
        return Line(
            str(data.get("phase") or "-"), entry.kind, json.dumps(data, sort_keys=True), is_news=False
        )
    word, text, is_news = words(event)
    return Line(phase_of(event) or "-", word, " ".join(text.split()), is_news)


def data_of(entry: Entry) -> dict[str, Any]:
    """Return the data of an event as a journal has them, fields that are not known here among them."""
    return fields_of(entry.event, run=entry.run) | entry.more


def plain(entry: Entry) -> dict[str, Any]:
    """Return an entry as scripts read it."""
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
