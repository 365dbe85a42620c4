"""Notify the user when a run needs an answer, parks, fails or lands.

Rules: a notification is recorded before it is sent, so that a repeated step does not notify twice. The
desktop is notified at once. Network channels, and everything in quiet hours, are sent later: a try is
recorded before it is made, and its result after. A message is therefore sent at least once, always with the
same id, and at most 6 times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.approvals import ApprovalAsked
from asbuilt.events.event import Event
from asbuilt.events.options import value_or
from asbuilt.events.runs import AttentionCalled
from asbuilt.flows.engine.background import beside
from asbuilt.flows.run.record import ACTOR
from asbuilt.journal import approvals, notifications, runs
from asbuilt.journal.events import append, keyed
from asbuilt.journal.notifications import Waiting
from asbuilt.journal.runs import Run
from asbuilt.lifecycle.notify import Message, Notice, Topic, notice, questions_path, topic_of
from asbuilt.lifecycle.run.retry_times import again_at, moment, written

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Session, Store
    from asbuilt.lifecycle.run.working_hours import Window
    from asbuilt.ports import Attention

TRIES: Final = 6
"""Most tries per message: waits of 5 s, 30 s, 2, 10 and 30 min, 43 min in all."""
_KEPT: Final = timedelta(days=30)


class Notifying:
    """Sends the messages of one worker, through its channels."""

    every_s = 2.0

    def __init__(self, store: Store, reach: Reach, *, org: str) -> None:
        self._store = store
        self._reach = reach
        self._ways = reach.ways
        self._org = org
        self.waits = False
        """Whether messages are left to send, now or later, as of the last poll."""

    def look(self) -> int:
        """Send everything that is due now, and return the number of messages tried."""
        self.waits = self._is_any()
        tried = sum(map(self._look_at, self._ways)) if self.waits else 0
        if tried:
            self.waits = self._is_any()
        return tried

    def _is_any(self) -> bool:
        with self._store.read() as session:
            return notifications.waits(session, self._org, list(self._ways))

    def _look_at(self, way: str) -> int:
        tried = 0
        while self._is_due(way):
            with self._store.write() as session:
                taken = notifications.next_due(session, self._org, way)
                if not taken:
                    break
                message = _message(session, taken, self._reach)
                notifications.put_off(
                    session, taken, until=again_at(max(wait.tries for wait in taken), session.now)
                )
            error = None if message is None else self._ways[way].call(message)
            is_over = error is None or max(wait.tries for wait in taken) + 1 >= TRIES
            with self._store.write() as session:
                notifications.answered(session, taken, error=error, is_over=is_over)
                notifications.forget(session, self._org, before=written(moment(session.now) - _KEPT))
            tried += 1
        return tried

    def _is_due(self, way: str) -> bool:
        with self._store.read() as session:
            return notifications.is_due(session, self._org, way)


def sending(store: Store, reach: Reach, *, org: str) -> AbstractContextManager[Callable[[], bool]]:
    """Send while the worker runs, unless there is only a desktop; yields whether messages are left."""
    if not (reach.posts or reach.quiet):
        return nullcontext(lambda: False)
    return beside(Notifying(store, reach, org=org))


def _notice(run: Run, event: Event, reach: Reach) -> Notice | None:
    folder = Path(run.options.checkout).name
    return notice(run.name, event, reach.questions(run.repo), repository=folder)


def _message(session: Session, taken: Sequence[Waiting], reach: Reach) -> Message | None:
    """Return a message with the notices that still apply; None if none does."""
    messages = []
    for wait in taken:
        entry = keyed(session, wait.address, wait.key)
        run = runs.find(session, wait.org, wait.repo, wait.run)
        if entry is None or run is None:
            continue
        message = _notice(run, entry.event, reach)
        if message is not None and not _is_answered(session, wait, entry.event):
            messages.append((entry.at, entry.seq, message))
    if not messages:
        return None
    messages.sort(key=lambda pair: pair[:2])  # a plan's own events of one millisecond keep their order
    names = "\n".join(f"{wait.repo}\t{wait.plan}\t{wait.key}" for wait in taken)
    return Message(
        hashlib.sha256(names.encode()).hexdigest()[:32],
        messages[0][0],
        tuple(pushed for *_, pushed in messages),
    )


def _is_answered(session: Session, wait: Waiting, event: Event) -> bool:
    """Return whether a question was answered before its notification was sent."""
    if not isinstance(event, ApprovalAsked):
        return False
    found = approvals.named(session, wait.org, wait.repo, event.number)
    return found is not None and found.answer is not None


class Reach(NamedTuple):
    """How a worker reaches its user, and when not."""

    desktop: Attention | None = None
    posts: Mapping[str, Attention] = MappingProxyType({})
    quiet: Window | None = None
    urgent: frozenset[Topic] = frozenset()
    """Topics that notify in quiet hours too."""
    board: Callable[[], str] = str
    """Returns the address of the board; empty if none runs."""

    @property
    def ways(self) -> dict[str, Attention]:
        """Every channel, by name."""
        return {**({} if self.desktop is None else {self.desktop.way: self.desktop}), **self.posts}

    def questions(self, repo: str) -> str:
        """Return where the board shows the questions of a repository; empty without a board."""
        address = self.board()
        return f"{address}{questions_path(repo)}" if address else ""

    def held_back(self, topic: Topic, now: str) -> str | None:
        """Return when a topic may notify, as the journal writes times; None: now."""
        if self.quiet is None or topic in self.urgent:
            return None
        return self.quiet.closes_at(now)


NO_REACH: Final = Reach()


class Calling:
    """Notifications of a worker; without channels it sends and records nothing."""

    def __init__(self, store: Store, reach: Reach) -> None:
        self._store = store
        self._reach = reach

    def call(self, run: Run, key: str) -> None:
        """Notify the user of the event with a key, unless that was done before."""
        desktop = self._reach.desktop if value_or(run.options.desktop, True) else None
        later = tuple(self._reach.posts)
        if desktop is None and not later:
            return
        with self._store.write() as session:
            entry = keyed(session, run.address, key)
            topic = None if entry is None else topic_of(entry.event)
            if entry is None or topic is None or keyed(session, run.address, f"{key}/called") is not None:
                return
            until = self._reach.held_back(topic, session.now)
            ways = (*((desktop.way,) if desktop is not None else ()), *later)
            called = AttentionCalled(way=", ".join(ways), about=entry.kind)
            append(session, run.address, called, key=f"{key}/called", actor=ACTOR, run=run.run)
            notifications.queue(
                session, run, key, later if until is None else ways, due_at=until or session.now
            )
        message = _notice(run, entry.event, self._reach)
        if desktop is not None and until is None and message is not None:
            desktop.call(Message(key, entry.at, (message,)))
