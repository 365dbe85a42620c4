"""Many workers, one repository, one branch. The one rule: whoever they are, each run lands once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from asbuilt.events.options_json import read_options
from asbuilt.git.commits import PHASE, RUN
from asbuilt.journal import runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address, new_id
from tests.journal.conftest import open_store
from tests.journeys.shop import REPO, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from asbuilt.events.event import Event
    from asbuilt.journal.database.store import Store

_PLAN: Final = """\
# Make {name}

## Phase 1 — Make {name}
### Work Items
- [ ] `{name}.txt` is there
### Verification
- `grep -q {name} {name}.txt`
"""
_SCRIPT: Final = """\
[[turn]]
role = "implement"
acts = [{{ write = "{name}.txt", text = "{name}\\n" }}, {{ say = "done" }}]
[[turn]]
role = "verify"
acts = [{{ verdict = "pass" }}]
"""


class Crowd:
    """Some users of one checkout, each with a worker; with a shared store, the workers of a fleet.

    Every second one has plans that git knows, which are marked by a commit of the landing; those of the
    others are marked where they lie.
    """

    def __init__(self, folder: Path, *, workers: int, runs_each: int, shared: str | None) -> None:
        self.folder = folder
        self.checkout = folder / "shop"
        self.checkout.mkdir()
        self.where = [shared or str(folder / f"journal-{number}.db") for number in range(workers)]
        self.names = [[f"w{number}-{one}" for one in range(runs_each)] for number in range(workers)]
        self.asked: list[tuple[str, str]] = []
        self._workers: list[subprocess.Popen[bytes]] = []
        self.git("init", "-q", "-b", "main")
        for name, value in (("user.name", "A Person"), ("user.email", "a@example.com"), ("gc.auto", "0")):
            self.git("config", name, value)
        for number, names in enumerate(self.names):
            for name in names:
                (self.checkout / f"{name}.md").write_text(_PLAN.format(name=name), encoding="utf-8")
                (folder / f"{name}.toml").write_text(_SCRIPT.format(name=name), encoding="utf-8")
                if number % 2 == 0:
                    self.git("add", f"{name}.md")
        self.git("commit", "-qm", "start", "--allow-empty")

    def git(self, *arguments: str) -> str:
        """Call git in the checkout."""
        command = ["git", *arguments]
        return subprocess.run(
            command, cwd=self.checkout, check=True, capture_output=True, text=True
        ).stdout.rstrip("\n")

    def ask(self) -> None:
        """Ask for all runs at once."""
        for where, names in zip(self.where, self.names, strict=True):
            store = self._store(where)
            for name in names:
                address, run = Address(LOCAL, REPO, f"{name}.md"), new_id()
                options = {
                    "checkout": str(self.checkout), "branch": "main", "slug": name, "host": "here",
                    "mode": "phase", "auto": True, "ring_required": False, "agent": "scripted",
                    "script": str(self.folder / f"{name}.toml"),
                }  # fmt: skip
                with store.write() as session:
                    runs.request(
                        session, address, run=run, slug=name, options=read_options(options), actor="you"
                    )
                self.asked.append((where, run))
            store.close()

    def start(self) -> None:
        """Start the workers."""
        environment = {**os.environ, "ASBUILT_TEST_BLOBS": str(self.folder / "blobs")}
        for number, where in enumerate(self.where):
            home = self.folder / f"state-{number}"
            command = [sys.executable, "-m", "tests.journeys.worker", str(home), where]
            self._workers.append(subprocess.Popen(command, cwd=ROOT, env=environment))

    def over(self, *, within_s: float) -> Counter[str]:
        """Wait until all runs are over: how many ended how."""
        until = time.monotonic() + within_s
        while True:
            states = self._states()
            if not {"requested", "running", "waiting"} & states.keys():
                return states
            assert time.monotonic() < until, states
            assert all(worker.poll() is None for worker in self._workers)
            time.sleep(0.5)

    def told(self, kind: type[Event]) -> int:
        """Count the events of a kind in all journals."""
        found = 0
        for where, names in zip(self.where, self.names, strict=True):
            store = self._store(where)
            with store.read() as session:
                for name in names:
                    entries = history(session, Address(LOCAL, REPO, f"{name}.md"))
                    found += sum(isinstance(one.event, kind) for one in entries)
            store.close()
        return found

    def landed(self) -> Counter[str]:
        """Count the commits of each run that stand for a phase on the branch."""
        words = f"%(trailers:key={RUN},valueonly,separator=) %(trailers:key={PHASE},valueonly,separator=)"
        rows = [line.split() for line in self.git("log", f"--format={words}", "main").splitlines()]
        return Counter(row[0] for row in rows if len(row) == 2)

    def close(self) -> None:
        """End the workers, and the agents that still work for them."""
        for worker in self._workers:
            worker.kill()
            worker.wait()
        for folder in self.folder.glob("state-*/runs/*/attempts/*"):
            (folder / "cancel").touch()

    def _states(self) -> Counter[str]:
        states: Counter[str] = Counter()
        for where in dict.fromkeys(self.where):
            store = self._store(where)
            with store.read() as session:
                known = [runs.find(session, LOCAL, REPO, run) for at, run in self.asked if at == where]
            store.close()
            states.update(one.state for one in known if one is not None)
        return states

    @staticmethod
    def _store(where: str) -> Store:
        store = open_store(where)
        store.migrate(STEPS)
        return store
