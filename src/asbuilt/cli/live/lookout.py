"""Follow a run until it ends or needs the user.

Rule: following is read-only. Leaving it does not change the run.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from asbuilt.cli.live.moment import Activity, Moment
from asbuilt.cli.live.viewers import News
from asbuilt.events.attempts import ChecksDone, TogetherDone
from asbuilt.events.phases import BaselineDone, PhaseRechecked, SetupDone
from asbuilt.journal import runs
from asbuilt.journal.events import history
from asbuilt.journal.queries.failures import failures_in
from asbuilt.journal.queries.overview import run_view
from asbuilt.lifecycle.attention import notice
from asbuilt.proof.evidence import evidence_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from asbuilt.cli.live.viewers import Viewer
    from asbuilt.events.event import Entry, Event
    from asbuilt.journal.database.store import Session
    from asbuilt.journal.queries.overview import RunView
    from asbuilt.journal.runs import Run
    from asbuilt.ports import Attempts
    from asbuilt.proof.evidence import Evidence
    from asbuilt.wiring import Journal

_LOOK_S: Final = 0.2
_RAN: Final = (SetupDone, BaselineDone, ChecksDone, PhaseRechecked, TogetherDone)
"""Events that name evidence of what asbuilt ran."""


class Lookout:
    """A follower of one run, and the last event it has seen."""

    def __init__(
        self,
        journal: Journal,
        run: Run,
        viewer: Viewer,
        attempts: Attempts,
        *,
        is_served: Callable[[], bool],
        is_here: bool = False,
    ) -> None:
        """`is_served` returns whether a worker is alive, and may start one."""
        self._journal = journal
        self._run = run
        self._viewer = viewer
        self._listener = Listener(attempts)
        self._is_served = is_served
        self._is_here = is_here
        self._seen = 0

    def watch(self) -> RunView:
        """Show events until the run is over or needs the user; polls every 0.2 s."""
        served = True
        with self._viewer.held():
            while True:
                view = self._look(served=served)
                if view.run.is_over or view.waits_for_a_person:
                    return view
                served = self._is_served()
                time.sleep(_LOOK_S)

    def look(self) -> RunView:
        """Return the current view of the run, and show nothing."""
        with self._journal.store.read() as session:
            return self._view(session)

    def _view(self, session: Session) -> RunView:
        found = runs.find(session, self._run.org, self._run.repo, self._run.run)
        return run_view(session, self._journal.blobs, found or self._run)

    def _look(self, *, served: bool) -> RunView:
        with self._journal.store.read() as session:
            entries = history(session, self._run.address, after=self._seen)
            view = self._view(session)
        news = [self._news(entry) for entry in entries if entry.run == self._run.run]
        now = datetime.now(UTC)
        moment = Moment(view, now, self._listener.activity(view), is_served=served, is_here=self._is_here)
        self._viewer.show(news, moment)
        # Events from before the first poll do not ring the bell.
        if self._seen and any(notice(view.name, one.entry.event) for one in news):
            self._viewer.ring()
        self._seen = entries[-1].seq if entries else self._seen
        return view

    def _news(self, entry: Entry) -> News:
        return News(entry, self._shown(entry.event), failures_in(self._journal.blobs, entry.event))

    def _shown(self, event: Event) -> list[Evidence]:
        if not isinstance(event, _RAN) or event.evidence is None:
            return []
        return [evidence_from(one) for one in json.loads(self._journal.blobs.get(event.evidence))]


class Listener:
    """Follow the attempts of a run through the events that their host writes. Read-only."""

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts
        self._attempt = ""
        self._place = 0
        self._calls = 0
        self._doing = ""

    def activity(self, view: RunView) -> Activity | None:
        """Return what the current agent does; None if no agent works."""
        attempt = attempt_of(view)
        if attempt is None:
            return None
        if attempt != self._attempt:
            self._attempt, self._place, self._calls, self._doing = attempt, 0, 0, "begins"
        events, self._place = self._attempts.events(attempt, self._place)
        for event in events:
            self._calls += event["kind"] == "called"
            self._doing = doing(event) or self._doing
        who = "verifier" if view.waits_for.kind == "verifier" else view.run.options.agent or "agent"
        return Activity(who, self._doing, self._attempts.last_heard(attempt), self._calls)


def attempt_of(view: RunView) -> str | None:
    """Return the id of the awaited attempt; a verifier's ends with `v`."""
    waits = view.waits_for
    if waits.kind not in ("agent", "verifier"):
        return None
    number = next((phase.attempt for phase in view.phases if phase.id == waits.phase), None)
    return f"{view.run.run}.{waits.phase}.{number or 1}{'v' if waits.kind == 'verifier' else ''}"


def doing(event: Mapping[str, object]) -> str:
    """Summarize an agent's event in a few words; empty if it shows no activity."""
    match event:
        case {"kind": "called", "tool": str(tool), "detail": str(detail)}:
            return f"{tool} {detail}".strip()
        case {"kind": "said", "text": str(text)}:
            return f'says "{text[:200]}"'
        case {"kind": "noted", "text": str(text)}:
            return text[:200]
        case {"kind": "asked", "call": str(call), "allowed": bool(allowed)}:
            return f"asks to {call}: {'allowed' if allowed else 'refused'}"
        case _:
            return ""
