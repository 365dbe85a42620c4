"""Clerks who change one ledger, write its views, and die at it.

The one rule: a clerk writes down what it has done only once it is done.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from asbuilt.flows.tasks.postflight import finish, write_here
from asbuilt.journal.database.postgres import PostgresStore
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.ledger import tasks
from asbuilt.lifecycle.tasks.model import Artifact, Changes
from asbuilt.lifecycle.tasks.statuses import Status

if TYPE_CHECKING:
    from asbuilt.journal.database.store import Store

HERE: Final = ("local", "6f9c")
_WRITES: Final = ("open", "os.rename", "os.remove", "os.link")


class Clerk:
    """One of several who work on the same ledger."""

    def __init__(self, store: Store, checkout: Path, chance: random.Random) -> None:
        self._store = store
        self._checkout = checkout
        self._chance = chance

    def act(self, key: str) -> str:
        """Do one thing, and say what."""
        with self._store.read() as session:
            known = list(tasks.every(session, *HERE))
        what = self._chance.choices(["add", "status", "link", "write", "finish"], [2, 4, 2, 5, 1])[0]
        match what if known else "add":
            case "add":
                with self._store.write() as session:
                    task = tasks.add(
                        session,
                        *HERE,
                        slug=f"task_{key}",
                        kind="general",
                        description="x",
                        key=key,
                        actor="c",
                    )
                return f"add {task.number}"
            case "write":
                return f"write {len(write_here(self._store, *HERE, self._checkout))}"
            case "finish":
                finish(self._store, *HERE)
                return "finish"
            case "status":
                changes = Changes(status=self._chance.choice(list(Status)))
            case _:
                path = f"specs/007_x/plans/{self._chance.randint(1, 9):02d}.md"
                changes = Changes(artifacts=(Artifact("plan", path),))
        with self._store.write() as session:
            tasks.change(session, *HERE, self._chance.choice(known), changes=changes, key=key, actor="c")
        return what


def die_at(folder: Path, number: int) -> None:
    """Be killed right before so many changes to files below a folder have been made."""
    left, below = [number], str(folder)

    def heard(event: str, arguments: tuple[object, ...]) -> None:
        if event in _WRITES and str(arguments[0]).startswith(below):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(heard)


def main(where: str, checkout: str, told: str, seed: str, number: str) -> None:
    """Work until killed, or until everything is done."""
    chance = random.Random(seed)  # noqa: S311 - a choice that can be made again
    # Not by the tests' own way to open one: it loads a server, each time.
    store = PostgresStore(where) if where.startswith("postgresql:") else SqliteStore(Path(where))
    clerk = Clerk(store, Path(checkout), chance)
    die_at(Path(checkout), chance.randint(5, 60))
    with Path(told).open("a", encoding="utf-8") as said:
        for at in range(int(number)):
            said.write(f"{clerk.act(f'{seed}-{at}')}\n")
            said.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
