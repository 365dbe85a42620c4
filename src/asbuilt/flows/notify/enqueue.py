"""Call a person when a run needs one, parks, fails or lands.

The one rule: a call is written down before it is made, so that a step which is repeated calls nobody twice.
On the desktop it is made at once; what goes over the network or waits for quiet hours to end is sent later.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.events.options import value_or
from asbuilt.events.runs import AttentionCalled
from asbuilt.flows.run.record import ACTOR
from asbuilt.journal import notices
from asbuilt.journal.events import append, keyed
from asbuilt.lifecycle.attention import Message, notice, topic_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run
    from asbuilt.lifecycle.attention import Topic
    from asbuilt.lifecycle.run.windows import Window
    from asbuilt.ports import Attention


class Reach(NamedTuple):
    """How a worker reaches its user, and when not."""

    desktop: Attention | None = None
    posts: Mapping[str, Attention] = MappingProxyType({})
    """The ways over the network, by their names."""
    quiet: Window | None = None
    """The hours in which nothing is said."""
    urgent: frozenset[Topic] = frozenset()
    """What is said in quiet hours, too."""

    @property
    def ways(self) -> dict[str, Attention]:
        """Every way, by its name."""
        return {**({} if self.desktop is None else {self.desktop.way: self.desktop}), **self.posts}

    def held_back(self, topic: Topic, now: str) -> str | None:
        """Say until when something is not said, as the journal writes times; None: it is said now."""
        if self.quiet is None or topic in self.urgent:
            return None
        return self.quiet.closes_at(now)


NOBODY: Final = Reach()
"""Nobody is reached."""


class Calling:
    """The way of a worker to its user; without one, nobody is called and nothing is written."""

    def __init__(self, store: Store, reach: Reach) -> None:
        self._store = store
        self._reach = reach

    def call(self, run: Run, key: str) -> None:
        """Call somebody because of the event that was written under a key, unless that was done before."""
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
            append(
                session,
                run.address,
                AttentionCalled(way=", ".join(ways), about=entry.kind),
                key=f"{key}/called",
                actor=ACTOR,
                run=run.run,
            )
            notices.queue(session, run, key, later if until is None else ways, due_at=until or session.now)
        said = notice(name_of(run), entry.event)
        if desktop is not None and until is None and said is not None:
            desktop.call(Message(key, entry.at, (said,)))


def name_of(run: Run) -> str:
    """Name a run as people do."""
    return f"{run.options.slug}.{run.number}"
