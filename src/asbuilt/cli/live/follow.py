"""Follow a run until it ends or needs the user.

Rule: following changes nothing but the notes that the user types. Leaving it does not change the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Final

from asbuilt.agents.activity import deed_of
from asbuilt.cli.live.frame import Activity, Moment
from asbuilt.cli.live.viewers import News, Viewer
from asbuilt.cli.runs.waiting import is_parked
from asbuilt.cli.ui.clock import now_in
from asbuilt.events.attempts import ChecksDone, TogetherDone
from asbuilt.events.event import Entry, Event
from asbuilt.events.phases import BaselineDone, PhaseRechecked, SetupDone
from asbuilt.events.schedules import ScheduleDeferred
from asbuilt.journal import runs
from asbuilt.journal.events import history
from asbuilt.journal.queries.facts_cache import Folds
from asbuilt.journal.queries.overview import RunView, failures_in, run_view
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.notify import notice
from asbuilt.lifecycle.status.run_state import WaitsFor
from asbuilt.proof.evidence import Evidence, evidence_from
from asbuilt.wiring import Journal

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session
    from asbuilt.ports import Attempts

_LOOK_S: Final = 0.2
_WORDS: Final = 200
_RAN: Final = (SetupDone, BaselineDone, ChecksDone, PhaseRechecked, TogetherDone)
"""Events that name evidence of what asbuilt ran."""


@dataclass(kw_only=True)
class Lookout:
    """A follower of one run, and the last event it has seen."""

    journal: Journal
    run: Run
    viewer: Viewer
    listener: Listener
    folds: Folds
    is_served: Callable[[], bool]
    """Returns whether a worker is alive, and may start one."""
    is_here: bool
    leaves_parked: bool
    """Stop following when the run parks."""
    send: Callable[[str], None]
    """Stores a note for the agent."""
    zone: tzinfo | None
    """Times are shown in this zone; None: the machine's zone."""
    _seen: int = 0

    def watch(self) -> RunView:
        """Show events until the run is over or needs the user; polls every 0.2 s."""
        served = True
        with self.viewer.held():
            while True:
                view = self._look(served=served)
                if view.run.is_over or view.waits_for_a_person:
                    return view
                if self.leaves_parked and is_parked(view, datetime.now(UTC)):
                    return view
                served = self.is_served()
                for text in self.viewer.wait(_LOOK_S):
                    self.send(text)

    def look(self) -> RunView:
        """Return the current view of the run, and show nothing."""
        with self.journal.store.read() as session:
            return self._view(session)

    def _view(self, session: Session) -> RunView:
        found = runs.find(session, self.run.org, self.run.repo, self.run.run)
        return run_view(session, self.journal.blobs, found or self.run, self.folds)

    def _look(self, *, served: bool) -> RunView:
        with self.journal.store.read() as session:
            entries = history(session, self.run.address, after=self._seen)
            view = self._view(session)
        news = [self._news(entry) for entry in entries if self._is_about(entry)]
        now = now_in(self.zone)
        doing, lanes = self.listener.activity(view), self.listener.lanes(view)
        moment = Moment(view, now, doing, lanes, is_served=served, is_here=self.is_here)
        self.viewer.show(news, moment)
        # Events from before the first poll do not ring the bell.
        if self._seen and any(notice(view.name, new.entry.event) for new in news):
            self.viewer.ring()
        self._seen = entries[-1].seq if entries else self._seen
        return view

    def _is_about(self, entry: Entry) -> bool:
        """Return whether an event is of this run, or defers the plan's schedule while it is followed."""
        is_deferral = isinstance(entry.event, ScheduleDeferred) and bool(self._seen)
        return entry.run == self.run.run or is_deferral

    def _news(self, entry: Entry) -> News:
        return News(entry, self._shown(entry.event), failures_in(self.journal.blobs, entry.event))

    def _shown(self, event: Event) -> list[Evidence]:
        if not isinstance(event, _RAN) or event.evidence is None:
            return []
        return [evidence_from(row) for row in json.loads(self.journal.blobs.get(event.evidence))]


class Listener:
    """Follow the attempts of a run through the events that their host writes. Read-only."""

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts
        self._read: dict[str, tuple[int, int, str]] = {}
        """By attempt: the events that were read, the tool calls among them, and the last activity."""

    def activity(self, view: RunView) -> Activity | None:
        """Return what the current agent does; None if no agent works."""
        return self._activity(view, view.waits_for)

    def lanes(self, view: RunView) -> tuple[tuple[str, Activity], ...]:
        """Return what the agent of each lane does."""
        found = ((waits.phase or "", self._activity(view, waits)) for waits in view.lanes)
        return tuple((phase, activity) for phase, activity in found if activity is not None)

    def _activity(self, view: RunView, waits: WaitsFor) -> Activity | None:
        attempt = view.attempt_of(waits)
        if attempt is None:
            return None
        place, calls, last = self._read.get(attempt, (0, 0, "begins"))
        events, place = self._attempts.events(attempt, place)
        for event in events:
            calls += event["kind"] == "called"
            last = doing(event) or last
        self._read[attempt] = place, calls, last
        who = "verifier" if waits.kind == "verifier" else view.run.options.agent or "agent"
        return Activity(who, last, self._attempts.last_activity(attempt), calls)


def doing(event: Mapping[str, object]) -> str:
    """Summarize an agent's event in a few words; empty if it shows no activity."""
    deed = deed_of(event)
    if deed is None:
        return ""
    match deed.what:
        case "ran":
            return deed.text
        case "said":
            return f'says "{deed.text[:_WORDS]}"'
        case "noted":
            return deed.text[:_WORDS]
        case "allowed" | "refused":
            return f"asks to {deed.text}: {deed.what}"
