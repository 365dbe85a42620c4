"""Run many plans in many repositories by a fleet of workers, and kill, freeze or restart what they need."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import repeat
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from measures.server import Server, server  # noqa: E402 - the tests' folder is on the path now
from tests.crash.machines import SSH  # noqa: E402
from tests.journal.conftest import open_store  # noqa: E402

from asbuilt.events.landings import LandingDone  # noqa: E402
from asbuilt.events.options_json import read_options  # noqa: E402
from asbuilt.events.runs import RunEnded  # noqa: E402
from asbuilt.flows.fleet.membership import join, ordered  # noqa: E402
from asbuilt.flows.registration import enrol  # noqa: E402
from asbuilt.flows.requests import Asker, Declined, request  # noqa: E402
from asbuilt.git.repository import open_repository  # noqa: E402
from asbuilt.journal import runs  # noqa: E402
from asbuilt.journal.database.schema import STEPS  # noqa: E402
from asbuilt.journal.events import history  # noqa: E402
from asbuilt.journal.home import open_home  # noqa: E402
from asbuilt.journal.ids import LOCAL, Address  # noqa: E402
from asbuilt.journal.shared_blobs import SharedBlobs  # noqa: E402

PLAN: Final = """\
# Plan {n}

## Phase 1 — Do {n}
### Dependencies
None.
### Work Items
- [ ] `f{n}.txt` says {n}
### Verification
- `grep -q {n} f{n}.txt`
"""
SCRIPT: Final = """\
[[turn]]
role = "implement"
acts = [{{ write = "f{n}.txt", text = "{n}\\n" }}, {{ sleep = 1 }}, {{ say = "done" }}]
[[turn]]
role = "verify"
acts = [{{ verdict = "pass" }}]
"""
TIMES: Final = "2 20 30"
"""Heartbeat, stop and lost, in seconds."""
FROZEN_S: Final = 90


class Asked(NamedTuple):
    """A run that was asked for."""

    address: Address
    run: str


class Fleet:
    """Repositories on a remote, and workers that share nothing but it and the database."""

    def __init__(self, folder: Path, where: str, seed: int) -> None:
        self.folder, self.where, self.chance = folder, where, random.Random(seed)  # noqa: S311 - repeatable
        self.forge = folder / "forge"
        self.forge.mkdir()
        ssh = folder / "ssh"
        ssh.write_text(SSH.format(folder=self.forge), encoding="utf-8")
        ssh.chmod(0o700)
        os.environ["GIT_SSH_COMMAND"] = str(ssh)
        self.store, self.own = open_store(where), open_store(where)
        self.store.migrate(STEPS)
        self.blobs = SharedBlobs(folder / "blobs", self.own)
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self.frozen: tuple[subprocess.Popen[bytes], float] | None = None
        self.number = 0
        self.kills: Counter[str] = Counter()

    def repository(self, name: str, plans: range) -> list[Asked]:
        """Make a repository with plans, push it, and ask for a run of each."""
        place = self.folder / name
        (place / "plans").mkdir(parents=True)
        for n in plans:
            (place / "plans" / f"p{n}.md").write_text(PLAN.format(n=n), encoding="utf-8")
            (self.folder / f"{n}.toml").write_text(SCRIPT.format(n=n), encoding="utf-8")
        url = f"ssh://git@forge.test/{name}.git"
        for words in (
            "init -q -b main", "config user.name Ada", "config user.email ada@example.com", "add .",
            "commit -qm start", f"remote add origin {url}", f"clone -q --bare . {self.forge / name}.git",
        ):  # fmt: skip
            _git(place, *words.split())
        repo = enrol(self.store, open_repository(place))
        return [self._ask(place, Address(LOCAL, repo, f"plans/p{n}.md"), n) for n in plans]

    def _ask(self, place: Path, address: Address, n: int) -> Asked:
        options = read_options({
            "checkout": str(place), "branch": "main", "slug": f"p{n}", "host": "here", "mode": "finish",
            "ring_required": False, "agent": "scripted", "auto": True,
            "script": str(self.folder / f"{n}.toml"),
        })  # fmt: skip
        plan = (place / address.plan).read_bytes()
        order = ordered(
            self.store, self.blobs, open_repository(place), options, plan=plan, environ=os.environ
        )
        asker = Asker("ada", "here", os.environ)
        made = request(self.store, self.folder / "rooms", address, slug=f"p{n}", options=order, asker=asker)
        if isinstance(made, Declined):
            raise SystemExit(f"{address.plan} was declined")
        return Asked(address, made.run)

    def start(self, name: str = "") -> None:
        """Start a worker: a new one, or one that was killed and still has its disk."""
        if not name:
            self.number += 1
            name = f"w{self.number}"
            join(open_home(self.folder / f"state-{name}"), [])
        log = (self.folder / f"{name}.log").open("ab")
        self.workers[name] = subprocess.Popen(
            [sys.executable, "-m", "tests.journeys.worker", str(self.folder / f"state-{name}"), self.where],
            cwd=ROOT,
            env={**os.environ, "ASBUILT_TEST_TIMES": TIMES},
            stdout=log,
            stderr=log,
        )

    def kill(self) -> None:
        """Kill a worker by chance; half of them come back, half are lost with their disk and replaced."""
        name = self.chance.choice(sorted(self.workers))
        worker = self.workers.pop(name)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        if self.chance.random() < 0.5:
            self.kills["came back"] += 1
            self.start(name)
            return
        self.kills["lost with its disk"] += 1
        state = self.folder / f"state-{name}"
        for attempt in state.glob("runs/*/attempts/*"):
            (attempt / "cancel").touch()
        state.rename(self.folder / f"gone-{name}")
        self.start()

    def freeze(self) -> None:
        """Stop a worker by chance; it does not know, and continues after a while."""
        name = self.chance.choice(sorted(self.workers))
        self.workers[name].send_signal(signal.SIGSTOP)
        self.frozen = self.workers[name], time.monotonic() + FROZEN_S
        self.kills["frozen"] += 1

    def thaw(self) -> None:
        """Let a worker continue whose time is over."""
        if self.frozen and time.monotonic() >= self.frozen[1]:
            self.frozen[0].send_signal(signal.SIGCONT)
            self.frozen = None

    def open_runs(self) -> Counter[str]:
        """Count the runs that are not over, by state."""
        with self.store.read() as session:
            return Counter(run.state for run in runs.open_of(session, LOCAL))

    def close(self) -> None:
        """End the workers and their agents."""
        for worker in self.workers.values():
            worker.kill()
            worker.wait()
        for attempt in self.folder.glob("*-w*/runs/*/attempts/*"):
            (attempt / "cancel").touch()
        self.store.close()
        self.own.close()


def _git(place: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True)
    return done.stdout


def judged(fleet: Fleet, asked: list[Asked], names: list[str]) -> tuple[list[str], list[str], Counter[str]]:
    """Return what was lost, what came twice, and counts of starts, from the journal and the remotes."""
    subjects: Counter[str] = Counter()
    for name in names:
        subjects.update(_git(fleet.forge / f"{name}.git", "log", "--format=%s", "main").splitlines())
    lost, doubled, counts = [], [], Counter[str]()
    for one in asked:
        with fleet.store.read() as session:
            run = runs.find(session, LOCAL, one.address.repo, one.run)
            events: list[Any] = [entry.event for entry in history(session, one.address)]
        n = Path(one.address.plan).stem.removeprefix("p")
        state = run.state if run else "none"
        landed = {event.new for event in events if isinstance(event, LandingDone)}
        if state != "landed" or subjects[f"Do {n}"] == 0:
            why = next((event.words for event in events if isinstance(event, RunEnded)), "")
            lost.append(f"{one.address.plan}: {state}, {subjects[f'Do {n}']} on the remote; {why}")
            counts["not over when the time ended"] += run is not None and not run.is_over
        if subjects[f"Do {n}"] > 1 or len(landed) > 1:
            doubled.append(f"{one.address.plan}: {subjects[f'Do {n}']} on the remote, {len(landed)} landings")
        kinds = Counter(event.kind for event in events)
        for kind in ("attempt.begun", "verifier.begun", "run.taken_over", "trouble.met"):
            counts[kind] += kinds[kind]
    return lost, doubled, counts


def disturbed(fleet: Fleet, postgres: Server, given: argparse.Namespace) -> float:
    """Let things fail until no run is open, or the time is over; return the seconds."""
    began = time.monotonic()
    kills = repeat(fleet.kill, given.most) if given.most else repeat(fleet.kill)
    incidents = iter((fleet.kill, fleet.freeze, postgres.restart)) if given.once else kills
    next_at = began + given.every
    while (states := fleet.open_runs()) and time.monotonic() - began < given.minutes * 60:
        fleet.thaw()
        if time.monotonic() >= next_at:
            print(f"{time.monotonic() - began:4.0f} s, open: {dict(states)}", file=sys.stderr)
            next(incidents, lambda: None)()
            next_at += given.every
        time.sleep(0.5)
    return time.monotonic() - began


def main() -> None:
    """Print what was lost and what came twice; exit with 1 if there is any."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--runs", type=int, default=100, help="number of runs")
    parser.add_argument("--repositories", type=int, default=10, help="number of repositories")
    parser.add_argument("--workers", type=int, default=8, help="number of workers with 2 slots each")
    parser.add_argument("--every", type=float, default=20, help="seconds between kills")
    parser.add_argument("--most", type=int, default=0, help="most kills; 0: as long as runs are open")
    parser.add_argument(
        "--once",
        action="store_true",
        help=f"one kill, one worker frozen for {FROZEN_S} s, one restart of Postgres, and nothing more",
    )
    parser.add_argument("--minutes", type=float, default=40, help="give up after this time")
    parser.add_argument("--seed", type=int, default=1, help="chooses whom to kill")
    parser.add_argument("--smoke", action="store_true", help="6 runs in 2 repositories by 2 workers, 1 kill")
    given = parser.parse_args()
    if given.smoke:
        given.runs, given.repositories, given.workers, given.every, given.most = 6, 2, 2, 8, 1
    with server() as postgres, tempfile.TemporaryDirectory(prefix="kills-") as scratch:
        fleet = Fleet(Path(scratch), postgres.database(), given.seed)
        try:
            each = -(-given.runs // given.repositories)
            names = [f"shop{at}" for at in range(given.repositories)]
            asked = []
            for at, name in enumerate(names):
                asked += fleet.repository(name, range(at * each, min((at + 1) * each, given.runs)))
            for _ in range(given.workers):
                fleet.start()
            took = disturbed(fleet, postgres, given)
            lost, doubled, counts = judged(fleet, asked, names)
        finally:
            fleet.close()
    print(f"{len(asked)} runs in {len(names)} repositories by {given.workers} workers: {took:.0f} s")
    print(f"{fleet.kills.total()} kills: {dict(fleet.kills)}; {dict(counts)}")
    print(f"lost {len(lost)}, doubled {len(doubled)}", *lost, *doubled, sep="\n  ")
    sys.exit(bool(lost or doubled or (given.smoke and not fleet.kills)))


if __name__ == "__main__":
    main()
