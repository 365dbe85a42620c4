"""A second worker on the same Postgres, with a state folder of its own. Only outputs are shared."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import psycopg

from asbuilt.agents import activity
from tests.journeys.shop import ROOT

if TYPE_CHECKING:
    import signal
    from pathlib import Path

    from tests.journeys.shop import Shop

TIMES: Final = "1 6 8"
"""Beat, stop and lost, in seconds: long enough for a machine that is busy with other tests."""


class Fleet:
    """Workers by name on the database of a shop; the first has the shop's own state folder."""

    def __init__(self, shop: Shop, folder: Path) -> None:
        self.shop = shop
        self.homes = {"first": shop.home, "second": folder / "second"}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *before: str, where: str | None = None, **environment: str) -> None:
        """Start a worker; `before` is what starts it, `where` another way to the same database."""
        module, home = "tests.journeys.worker", str(self.homes[name])
        self.processes[name] = subprocess.Popen(
            [*before, sys.executable, "-m", module, home, where or self.shop.where],
            cwd=ROOT,
            env={
                **os.environ,
                "ASBUILT_TEST_TIMES": TIMES,
                "ASBUILT_TEST_BLOBS": str(self.shop.home / "blobs"),
                **environment,
            },
        )

    def signal(self, name: str, number: signal.Signals) -> None:
        self.processes[name].send_signal(number)

    def starts(self, attempt: str) -> int:
        """Count how often hosts have started an attempt, in all state folders."""
        files = [file for home in self.homes.values() for file in home.glob(f"runs/*/attempts/*.{attempt}")]
        counted = [line for file in files for line in (file / "starts").read_text().splitlines()]
        return len([line for line in counted if line != "elsewhere"])

    def ended(self, name: str) -> int:
        """Ask a worker to end, and wait until it has."""
        self.processes[name].terminate()
        return self.processes[name].wait(timeout=60)

    def works(self, name: str, run: str) -> bool:
        """Tell whether the first attempt of a run has an agent that lives, and has said something."""
        folder = activity.folder_of(self.homes[name], f"{run}.1.1")
        said = folder / "events.jsonl"
        return activity.is_alive(folder) and said.exists() and b'"said"' in said.read_bytes()

    def names(self) -> list[str]:
        """Name the workers that the database knows."""
        with self.shop.store.read() as session:
            return [row["worker"] for row in session.rows("SELECT worker FROM workers ORDER BY beat_at DESC")]

    def at_rest(self) -> None:
        """Wait until no worker goes through a segment, whether it is still its own or not."""
        self.shop.until(lambda: not self._pending())

    def _pending(self) -> list[tuple[object, ...]]:
        with psycopg.connect(self.shop.where) as connection:
            found = connection.execute(
                "SELECT workflow_uuid FROM dbos.workflow_status WHERE status IN ('PENDING', 'ENQUEUED')"
            )
            return found.fetchall()

    def heard(self) -> set[str]:
        """Tell when each worker was last heard of."""
        with self.shop.store.read() as session:
            return {f"{row['worker']} {row['beat_at']}" for row in session.rows("SELECT * FROM workers")}

    def close(self) -> None:
        """End the workers, stopped ones too, and their agents."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        for home in self.homes.values():
            for folder in home.glob("runs/*/attempts/*"):
                (folder / "cancel").touch()
