"""Format an event as one line, the same in every command. Unknown kinds are shown as JSON.

Rule: a line says what an agent claims, or what asbuilt ran. Only asbuilt's own checks make proven.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from asbuilt.cli.wording.plans import PLANS
from asbuilt.cli.wording.runs import RUNS
from asbuilt.cli.wording.work import HASH, WORK, Words, wording
from asbuilt.events import landings, pulls
from asbuilt.events.event import Entry, phase_of
from asbuilt.journal.encoding.codec import fields_of, kind_of


def _landed(event: landings.LandingDone) -> Words:
    if event.by_hand:
        return "LANDED", f"{event.branch} {event.new[:HASH]}, which had it already", True
    if event.reverts and not event.moved:
        return "REVERTED", f"nothing on {event.branch}", False
    return "REVERTED" if event.reverts else "LANDED", f"{event.branch} {event.new[:HASH]}", True


def _refused(event: landings.LandingRefused) -> Words:
    what = event.what.removeprefix("Not landed: ").removeprefix("Not undone: ")
    return "NOT UNDONE" if event.reverts else "NOT LANDED", what, True


def _recovered(event: landings.LandingRecovered) -> Words:
    came = "it had completed" if event.found == "Landed" else "it had moved nothing"
    return "RECOVERED", f"A landing was interrupted; {came}.", True


def _invariants(event: pulls.PullInvariants) -> Words:
    found = "; ".join((*event.broken, *event.warned))
    word = "LEFT BEHIND" if event.broken else "IN ORDER"
    return word, found or f"{event.held} of {event.held} invariants hold", bool(event.broken)


def _held(event: pulls.IssueHeld) -> Words:
    text = f"#{event.number} is claimed by {event.plan}; this run continues without it"
    return "ISSUE", text, True


LANDINGS: Final = (
    wording(
        landings.LandingIntended, lambda event: ("LANDING", f"{event.old[:HASH]}..{event.new[:HASH]}", False)
    ),
    wording(landings.LandingQueued, lambda event: ("IN LINE", event.words, True)),
    wording(landings.LandingTurn, lambda event: ("TURN", f"{event.ahead} ahead on {event.branch}", False)),
    wording(
        landings.LandingRetried, lambda event: ("RETRY", f"failed on the target, retried: {event.what}", True)
    ),
    wording(landings.LandingDone, _landed),
    wording(landings.LandingRefused, _refused),
    wording(landings.LandingDeclined, lambda event: ("DECLINED", f"the landing was {event.words}", True)),
    wording(landings.LandingRecovered, _recovered),
    wording(landings.LandingUnsigned, lambda event: ("UNSIGNED", event.why, True)),
    wording(landings.LandingUndone, lambda event: ("UNDONE", event.words, True)),
    wording(landings.LandingTidied, lambda event: ("TIDIED", f"{event.kept_in_all} workspaces kept", False)),
    wording(pulls.PullSeen, lambda event: ("PULL REQUEST", f"{event.state}, checks {event.checks}", False)),
    wording(
        pulls.PullIntended, lambda event: ("PUSH", f"{event.head[:HASH]}, on {event.target[:HASH]}", False)
    ),
    wording(pulls.PullPushed, lambda event: ("PUSHED", f"{event.branch} {event.head[:HASH]}", True)),
    wording(pulls.PullBlocked, lambda event: ("NOT PUSHED", f"{event.what} {event.next}", True)),
    wording(pulls.PullOpening, lambda event: ("PROPOSE", f"{event.branch} for {event.into}", False)),
    wording(pulls.PullOpened, lambda event: ("PROPOSED", f"#{event.number} {event.url}", True)),
    wording(pulls.PullMended, lambda event: ("MENDED", f"{event.repair.replace('_', ' ')}, proven", True)),
    wording(pulls.PullMerging, lambda event: ("MERGE", f"#{event.number} {event.head[:HASH]}", False)),
    wording(pulls.PullMerged, lambda event: ("MERGED", f"#{event.number}", True)),
    wording(pulls.PullRefused, lambda event: ("NOT MERGED", event.why, True)),
    wording(pulls.PullDropping, lambda event: ("DROP", f"{event.branch} at the forge", False)),
    wording(pulls.PullInvariants, _invariants),
    wording(pulls.IssueHeld, _held),
    wording(
        pulls.IssuesTelling,
        lambda event: ("ISSUES", ", ".join(f"#{issue}" for issue in event.numbers), False),
    ),
    wording(
        pulls.IssuesTold, lambda event: ("ISSUES", "; ".join(event.failed) or "told", bool(event.failed))
    ),
)


WORDS: Final = dict((*RUNS, *WORK, *PLANS, *LANDINGS))


class Line(NamedTuple):
    """An event as a line of a log."""

    phase: str
    word: str
    text: str
    is_news: bool = True
    """False: bookkeeping that only a full log shows."""


def event_line(entry: Entry) -> Line:
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
