"""Notify the user when a run needs an answer, parks, fails or lands.

Rule: a notification is recorded before it is sent, so that a repeated step does not notify twice. The desktop
is notified at once. Network channels, and everything in quiet hours, are sent later.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.options import value_or
from asbuilt.events.runs import AttentionCalled
from asbuilt.flows.run.record import ACTOR
from asbuilt.journal import notices
from asbuilt.journal.events import append, keyed
from asbuilt.lifecycle.attention import Message, Topic, notice, questions_path, topic_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.run.windows import Window
    from asbuilt.ports import Attention


class Reach(NamedTuple):
    """How a worker reaches its user, and when not."""

    desktop: Attention | None = None
    posts: Mapping[str, Attention] = MappingProxyType({})
    """Network channels, by name."""
    quiet: Window | None = None
    """Quiet hours."""
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


NOBODY: Final = Reach()
"""No channels."""


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
            notices.queue(session, run, key, later if until is None else ways, due_at=until or session.now)
        said = notice(run.name, entry.event, self._reach.questions(run.repo))
        if desktop is not None and until is None and said is not None:
            desktop.call(Message(key, entry.at, (said,)))
