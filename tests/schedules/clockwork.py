"""A worker's look at schedules as a process of its own, which lives by a clock that stands still: HOME STORE.

Each line that it reads is one look; it answers with the slots that have fired, and lets their runs land.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from asbuilt.events.schedules import ScheduleFired
from asbuilt.flows.schedule import Schedules
from asbuilt.journal import claims, runs
from asbuilt.journal.database import postgres
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.events import history
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL
from asbuilt.lifecycle.run.retry_times import written

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store
    from asbuilt.journal.runs import Run


def main() -> None:
    home, where = Home(Path(sys.argv[1])), sys.argv[2]
    is_shared = where.startswith("postgresql:")
    store: Store = postgres.PostgresStore(where) if is_shared else SqliteStore(Path(where))
    schedules = Schedules(store, home, org=LOCAL)
    _say("up")
    for _ in sys.stdin:
        # The clock of a Postgres is the server's, which no library that is preloaded here reaches.
        vars(postgres)["_NOW"] = f"SELECT '{written(datetime.now(UTC))}' AS now"
        fired = []
        is_due = True
        while is_due:
            fired += [_landed(store, run) for run in schedules.fire()]
            with store.read() as session:
                is_due = schedules.is_due(session)
        _say(json.dumps(fired))


def _landed(store: Store, run: Run) -> tuple[str, str]:
    """Let a run land at once, and tell of which plan and slot it is."""
    with store.write() as session:
        runs.set_state(session, run, "landed")
        claims.release(session, run.address, run=run.run, actor="ann")
        told = [
            (one.run, one.event.slot)
            for one in history(session, run.address)
            if isinstance(one.event, ScheduleFired)
        ]
    fired_by, slot = told[-1]
    assert fired_by == run.run
    return run.plan, slot


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
