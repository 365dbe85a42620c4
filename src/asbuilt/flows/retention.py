"""Automatic retention: once a day a worker deletes what `clean` would, and old records of the engine.

Rule: it keeps no state but the time of its last pass, so a pass that was cut off is repeated.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from asbuilt.errors import AsbuiltError
from asbuilt.flows.cleanup import Commons, Leavings, Thing
from asbuilt.flows.fleet.membership import labels_of, secrets
from asbuilt.git.fleet import open_mirror, prune
from asbuilt.git.forge.branches import Remote
from asbuilt.git.repository import open_repository
from asbuilt.journal import repositories
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.engine import fleet
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.retention import ENGINE_DAYS, Goes
from asbuilt.lifecycle.run.retry_times import written

if TYPE_CHECKING:
    from asbuilt.flows.engine.dbos import Engine
    from asbuilt.journal.database.store import Store

_PASS: Final = timedelta(days=1)
_AT_ONCE: Final = 200
"""Most things that one look deletes; the next look continues."""


class Retention:
    """The retention of one worker: its repositories, its state folder, and the engine's records."""

    every_s = 20.0
    waits = False
    """Nothing here keeps a worker from ending."""

    def __init__(
        self, journal: tuple[Home, Store, Blobs], engine: Engine, *, machine: str | None, days: int
    ) -> None:
        """Keep the parts; what is older than `days` goes."""
        self._journal = journal
        self._engine = engine
        self._machine = machine
        self._days = days
        self._stamp = journal[0].path / "cleaned"

    def look(self) -> int:
        """Do a day's pass, or a part of it, if it is due; return the number of things that went."""
        if not self._engine.is_launched or not self._is_due():
            return 0
        gone = 0
        for thing in self._found():
            if isinstance(thing.fate, Goes):
                if gone == _AT_ONCE:
                    return gone
                with suppress(AsbuiltError, OSError):
                    thing.remove()
                    gone += 1
        gone += self._engine.forget(written(datetime.now(UTC) - timedelta(days=ENGINE_DAYS)))
        self._stamp.touch()
        return gone

    def _is_due(self) -> bool:
        try:
            last = datetime.fromtimestamp(self._stamp.stat().st_mtime, UTC)
        except FileNotFoundError:
            # A state folder that is new, or of a version without retention: nothing goes on the first day.
            self._stamp.touch()
            return False
        return datetime.now(UTC) - last >= _PASS

    def _found(self) -> Iterator[Thing]:
        """List what there is. A repository that is gone or cannot be read is left out."""
        for left in chain(self._here(), self._of_fleet()):
            with suppress(AsbuiltError, OSError):
                yield from left.find(days=self._days)
        yield from Commons(*self._journal, org=LOCAL, repo="").old(days=self._days)

    def _here(self) -> Iterator[Leavings]:
        with self._journal[1].read() as session:
            known = repositories.every(session, LOCAL)
        for plan in known:
            is_here = self._machine is None or plan.machine in (None, self._machine)
            if plan.remote is None and is_here:
                with suppress(AsbuiltError, OSError):
                    yield Leavings(self._journal, open_repository(Path(plan.folder)), repo=plan.repo)

    def _of_fleet(self) -> Iterator[Leavings]:
        """Return the leftovers of the fleet's runs, if this worker has joined it."""
        home, store, _ = self._journal
        if labels_of(home) is None:
            return
        with store.read() as session:
            newest = fleet.newest(session, LOCAL)
        for run in newest:
            order = run.options.fleet
            if order is not UNSET:
                with suppress(AsbuiltError, OSError):
                    mirror = open_mirror(home.path / "mirrors", run.repo, order.remote)
                    environ = {**os.environ, **secrets(home)}
                    attempts = Remote.at(mirror, order.attempts or order.remote, environ)
                    yield Leavings(self._journal, mirror, repo=run.repo, attempts=attempts)
                    prune(mirror)
