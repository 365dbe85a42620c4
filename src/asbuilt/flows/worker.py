"""The worker: one process a user that tells the engine what is due. Killed anywhere, the next one goes on."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from asbuilt.errors import EngineDamaged, JournalDamaged, StoreFailed
from asbuilt.flows.engine import DROPPED
from asbuilt.journal import runs
from asbuilt.journal.runs import FAR

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from asbuilt.flows.engine import Engine
    from asbuilt.journal.runs import Segment
    from asbuilt.journal.store import Store

LOOK_S: Final = 0.2
_LOOKS: Final = 20
"""Every so many looks the engine is asked for all that is open: a segment can be lost at any time."""
_OVER: Final = frozenset({"SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"})


def clear(scratch: Path) -> None:
    """Remove what a worker that was killed has left half done, and make what we need for a moment there too.

    The caller is the one worker: nobody else uses the folder.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700, exist_ok=True)
    tempfile.tempdir = str(scratch)


class Worker:
    """Brings journal and engine together, again and again: what is open there is known here."""

    def __init__(
        self, store: Store, engine: Engine, *, org: str, lost: Callable[[Segment, str], None]
    ) -> None:
        self._store = store
        self._engine = engine
        self._org = org
        self._lost = lost
        self._told: dict[str, str] = {}
        self._dropped: set[str] = set()
        self._looked = 0

    def serve(self, ended: threading.Event, *, idle_s: float | None = None) -> None:
        """Look for what is due until told to end, or until nothing has been open for `idle_s` seconds."""
        idle = 0.0
        while not ended.wait(LOOK_S):
            try:
                open_now = self.look()
            except (EngineDamaged, JournalDamaged):
                raise
            except StoreFailed:
                # The database may come back; what is written down is not lost meanwhile.
                ended.wait(2.0)
                continue
            idle = 0.0 if open_now else idle + LOOK_S
            if idle_s is not None and idle >= idle_s:
                return

    def look(self) -> int:
        """Tell the engine of every open segment that it does not know.

        Return how many go on by themselves: one that waits for a person needs no worker until the answer.
        """
        with self._store.read() as session:
            segments = runs.open_segments(session, self._org)
            now = session.now
        self._looked += 1
        everything = self._looked % _LOOKS == 0
        asked = [segment for segment in segments if everything or segment.workflow not in self._told]
        states = self._engine.states(segment.workflow for segment in asked)
        for segment in segments:
            self._tell(segment, now, states.get(segment.workflow))
        if everything:
            self._take_up({workflow for workflow, state in states.items() if state == DROPPED})
        self._told = {segment.workflow: segment.due_at for segment in segments}
        return sum(segment.due_at != FAR for segment in segments)

    def _tell(self, segment: Segment, now: str, state: str | None) -> None:
        known = self._told.get(segment.workflow)
        if state in _OVER:
            # Open in the journal and over in the engine; if it was closed meanwhile, the journal says so.
            self._lost(segment, self._engine.why_over(segment.workflow))
            return
        if known is None:
            self._engine.enqueue(
                segment.workflow,
                (segment.org, segment.repo, segment.run, segment.n),
                delay_s=_seconds(now, segment.due_at),
            )
        if (known is not None and segment.due_at < known) or (known is None and state == "DELAYED"):
            self._hasten(segment, now)

    def _take_up(self, dropped: set[str]) -> None:
        """Go on with what was seen dropped twice: one that is just beginning or ending looks so once."""
        for workflow in dropped & self._dropped:
            self._engine.resume(workflow)
        self._dropped = dropped

    def _hasten(self, segment: Segment, now: str) -> None:
        if segment.due_at <= now:
            self._engine.hasten(segment.workflow)


def _seconds(now: str, then: str) -> float:
    return max(0.0, (_time(then) - _time(now)).total_seconds())


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
