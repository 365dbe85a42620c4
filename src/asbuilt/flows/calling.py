"""Call a person when a run needs one, parks, fails or lands.

The one rule: a call is written down before it is made, so that a step which is repeated calls nobody twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asbuilt.flows.record import ACTOR
from asbuilt.journal.events import append, keyed
from asbuilt.lifecycle.attention import notice

if TYPE_CHECKING:
    from asbuilt.journal.runs import Run
    from asbuilt.journal.store import Store
    from asbuilt.ports import Attention


class Calling:
    """The way of a worker to its user; without one, nobody is called and nothing is written."""

    def __init__(self, store: Store, attention: Attention | None) -> None:
        self._store = store
        self._attention = attention

    def call(self, run: Run, key: str) -> None:
        """Call somebody because of the event that was written under a key, unless that was done before."""
        if self._attention is None or not run.options.get("desktop", True):
            return
        with self._store.write() as session:
            event = keyed(session, run.address, key)
            name = f"{run.options['slug']}.{run.number}"
            said = None if event is None else notice(name, event.kind, event.data)
            if event is None or said is None or keyed(session, run.address, f"{key}/called") is not None:
                return
            append(
                session,
                run.address,
                key=f"{key}/called",
                kind="attention.called",
                actor=ACTOR,
                data={"run": run.run, "way": self._attention.way, "about": event.kind},
            )
        self._attention.call(said)
