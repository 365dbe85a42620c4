"""A shop whose parts can fail, and a person who types real commands in it: nothing here is mocked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asbuilt.events.landings import LandingRefused
from asbuilt.flows.requests import Asker, resume
from asbuilt.journal import repositories
from asbuilt.journal.engine.liveness import holder
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.repositories import Known
from tests.crash.invariants import Broken, broken
from tests.journeys.shop import REPO, Shop

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT_S = 3_600
"""Until an agent's limit opens: longer than any test waits."""


class Said(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """All of it on one line, as a person reads it: where a line is broken means nothing."""
        return " ".join(f"{self.out} {self.err}".split())


class Plant(Shop):
    """A shop that is known to its user's asbuilt: the journal lies in the state folder, or in Postgres."""

    def __init__(self, folder: Path, where: str = "") -> None:
        state = folder / "state"
        state.mkdir(mode=0o700, exist_ok=True)
        super().__init__(folder, where or str(state / "journal.db"))
        self.environ = {
            "HOME": str(folder / "home"), "LOGNAME": "ann", "LC_ALL": "C.UTF-8",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ASBUILT_HOME": str(state), "ASBUILT_SANDBOX_REQUIRED": "false", "ASBUILT_TIME_ZONE": "UTC",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
            **({"ASBUILT_STORE_URL": where} if where.startswith("postgresql:") else {}),
        }  # fmt: skip
        self.wrong: list[Broken] = []
        (folder / "home").mkdir(exist_ok=True)
        self.git("config", "asbuilt.repository", REPO)
        common = (self.checkout / ".git").resolve()
        known = Known(REPO, str(common), f"{common.stat().st_dev}:{common.stat().st_ino}", None)
        with self.store.write() as session:
            repositories.remember(session, LOCAL, known)

    def start(self, *, within: tuple[str, ...] = (), **environment: str) -> None:
        """Be the worker as the system's own service is: in the foreground."""
        with (self.home.parent / "worker.log").open("ab") as log:
            self.worker = subprocess.Popen(
                [*within, sys.executable, "-P", "-m", "asbuilt", "worker", "--foreground"],
                cwd="/",
                env={**self.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def parked(self, **options: object) -> str:
        """Ask for a phase whose agent meets its usage limit at once, and wait until the run waits for it."""
        self.turn('phase = "1"\nrole = "implement"\nstart = 1', f"{{ limit = {LIMIT_S} }}")
        self.lands("greet.py", "plan.md")
        run = self.request(mode="phase", **options)
        self.start()
        self.until(lambda: self.run(run).state == "waiting")
        return run

    def hasten(self, run: str) -> None:
        """Let a run that waits go on now, as `resume` does, and look at nothing."""
        resume(self.store, self.run(run), asker=Asker("ann", "here", {}))

    def landed(self, run: str) -> None:
        """See that a run has come to its good end, and that nothing is broken."""
        ended, log, self.wrong = self.over(run), self.log(), broken(self)
        assert ended == ("landed", ""), (ended, self.events(LandingRefused))
        assert log == ["Mark plan.md", "Greet", "start"], log
        assert self.wrong == [], self.wrong

    def serves(self) -> bool:
        """Tell whether a worker is there."""
        return holder(self.home / "worker.lock") is not None

    def is_starting(self) -> bool:
        """Tell whether the worker that was started has not ended."""
        return self.worker is not None and self.worker.poll() is None

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Hold the worker still while something is done to it."""
        assert self.worker is not None
        self.worker.send_signal(signal.SIGSTOP)
        yield
        self.worker.send_signal(signal.SIGCONT)

    def typed(self, *arguments: str, **environment: str) -> Said:
        """Type a command in the checkout."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "asbuilt", *arguments],
            cwd=self.checkout,
            env={**self.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def close(self) -> None:
        """End every worker, also one that a command has started."""
        if pid := holder(self.home / "worker.lock"):
            os.kill(pid, signal.SIGKILL)
        super().close()
