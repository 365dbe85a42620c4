"""A cadence is changed again and again, and whoever changes it is killed at each statement: HOME STORE.

It writes a line of JSON for each point: what was struck, and what stands afterwards.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from asbuilt.events.options_json import read_options
from asbuilt.events.schedules import ScheduleSet
from asbuilt.flows.requests import Asker
from asbuilt.flows.schedule import Schedules, schedule
from asbuilt.journal import claims, runs, schedules
from asbuilt.journal.database import postgres, sqlite
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.events import history
from asbuilt.journal.home import Home
from asbuilt.journal.ids import LOCAL, Address

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.journal.database.store import Store

PLAN = Address(LOCAL, "6f9c", "plans/rate-limit.md")
ANN = Asker("ann", "here", {"PATH": "/bin"})


def main() -> None:
    home, where = Home(Path(sys.argv[1])), sys.argv[2]
    store = _opened(where)
    store.migrate(STEPS)
    _change(store, home, "4h")
    was_struck, number = True, 0
    while was_struck:
        number += 1
        for strikes in ("before", "after"):
            was_struck = _struck(home, where, number, strikes)
            sys.stdout.write(
                json.dumps(_standing(store, home, number, strikes, was_struck=was_struck)) + "\n"
            )
            sys.stdout.flush()
            _change(store, home, "4h")


def _opened(where: str) -> Store:
    is_shared = where.startswith("postgresql:")
    return postgres.PostgresStore(where) if is_shared else sqlite.SqliteStore(Path(where))


def _change(store: Store, home: Home, cadence: str) -> None:
    options = {"kind": "run", "mode": "phase", "slug": "rate-limit", "auto": True}
    schedule(
        store,
        home,
        PLAN,
        slug="rate-limit",
        cadence=cadence,
        zone="UTC",
        options=read_options(options),
        asker=ANN,
    )


def _struck(home: Home, where: str, number: int, strikes: str) -> bool:
    """Change the cadence in a process that ends at a statement; False when it came to its end before."""
    child = os.fork()
    if child == 0:
        made = count(1)
        for kind in (vars(sqlite)["_Connection"], psycopg.Connection):
            setattr(kind, "execute", _counted(kind.execute, made, number, strikes))  # noqa: B010 - a method
        _change(_opened(where), home, "30m")
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _counted(execute: Callable[..., Any], made: count[int], number: int, strikes: str) -> Callable[..., Any]:
    def counted(*given: Any, **more: Any) -> Any:  # noqa: ANN401 - whatever a connection takes
        at = next(made)
        if at == number and strikes == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        found = execute(*given, **more)
        if at == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    return counted


def _standing(store: Store, home: Home, number: int, strikes: str, *, was_struck: bool) -> dict[str, object]:
    """Tell what is scheduled, whether the journal says the same, and whether it still fires."""
    with store.write() as session:
        found = schedules.every(session, LOCAL)
        told = [one.event for one in history(session, PLAN)]
        said = [event.cadence for event in told if isinstance(event, ScheduleSet)]
        day = f"20{number:02}-01-0{1 if strikes == 'before' else 2}T00:00:00.000Z"
        session.run("UPDATE schedules SET slot = :day, due_at = :day, set_at = :day", day=day)
    fired = Schedules(store, home, org=LOCAL).fire()
    with store.write() as session:
        for run in fired:
            runs.set_state(session, run, "landed")
            claims.release(session, PLAN, run=run.run, actor="ann")
    cadences = [one.cadence for one in found]
    return {
        "point": f"{strikes} {number}",
        "struck": was_struck,
        "cadences": cadences,
        "said": said[-1:],
        "fired": len(fired),
    }


if __name__ == "__main__":
    main()
