"""A journal as it stands one night, written with the journal's own functions: no agent, no worker, no wait.

Everything happens in 2099, after any real clock, so that what is parked there is parked whenever tests run.
"""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from asbuilt.agents.activity import folder_of
from asbuilt.events.attempts import AttemptBegun, AttemptEnded, ChecksDone, TreeKept, VerdictGiven
from asbuilt.events.landings import LandingDone
from asbuilt.events.options_json import read_options
from asbuilt.events.phases import (
    BaselineDone,
    PhaseBegun,
    PhaseProven,
    SetupDone,
    TestsResolved,
    WorkspaceMade,
)
from asbuilt.events.plans import PlanCompared
from asbuilt.events.runs import RunEnded, RunParked, RunStarted, WaitReason
from asbuilt.journal import approvals, claims, repositories, runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.engine import segments
from asbuilt.journal.engine.liveness import only_one
from asbuilt.journal.events import append
from asbuilt.journal.home import open_home
from asbuilt.journal.ids import LOCAL, Address, Segment
from asbuilt.journal.repositories import Known

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from asbuilt.events.event import Event, Outcome
    from asbuilt.journal.database.store import Row, Session
    from asbuilt.journal.runs import Run

REPO = "5b0c0f5e-7a33-4f4b-8f8e-0d6a0f3f9d11"
BASE = "7be20c1" + "0" * 33
NOW = datetime(2099, 11, 13, 21, 37, 40, tzinfo=UTC)
Phases = dict[str, tuple[str, list[str]]]
"""Id: title, and what it needs."""
PHASES: Phases = {
    "1": ("Token bucket", []),
    "2a": ("Redis store", ["1"]),
    "2b": ("Limits per API key", ["1"]),
    "3": ("Middleware and 429", ["2a", "2b"]),
}


class Dated(NamedTuple):
    """A transaction at a time of our choice."""

    session: Session
    at: str

    @property
    def now(self) -> str:
        return self.at

    def rows(self, sql: str, **values: object) -> list[Row]:
        return self.session.rows(sql, **values)

    def run(self, sql: str, **values: object) -> int:
        return self.session.run(sql, **values)

    def wake(self) -> None:
        self.session.wake()

    def enqueue(self, segment: Segment) -> bool:
        return self.session.enqueue(segment)


def clock(time: str) -> str:
    """Give a time of the night as the journal writes it: `21:49:02` of that day, UTC. Whole times stay."""
    return time if "T" in time else f"2099-11-13T{time}.000Z"


def ago(minutes: float) -> str:
    """Give a real time, for commands that run as processes and read the machine's clock."""
    then = datetime.now(UTC) - timedelta(minutes=minutes)
    return then.strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Night:
    """A repository, its state folder, and what has happened."""

    def __init__(self, folder: Path, shop: Path) -> None:
        self.shop = shop
        self.home = open_home(folder / "state")
        self.store = SqliteStore(self.home.journal)
        self.store.migrate(STEPS)
        self.blobs = Blobs(self.home.blobs)
        self.open = ExitStack()
        self.numbers = 0
        subprocess.run(["git", "-C", shop, "config", "asbuilt.repository", REPO], check=True)  # noqa: S607
        common = shop / ".git"
        with self.store.write() as session:
            known = Known(REPO, str(common.resolve()), f"{common.stat().st_dev}:{common.stat().st_ino}", None)
            repositories.remember(session, LOCAL, known)

    def wake(self) -> None:
        """Let a worker be there."""
        self.open.enter_context(only_one(self.home.worker_lock))

    def close(self) -> None:
        self.open.close()
        self.store.close()

    def plan(
        self,
        slug: str,
        at: str,
        phases: Phases = PHASES,
        unlanded: Sequence[tuple[str, str, str]] = (),
        **options: object,
    ) -> Story:
        """Ask for a run of a plan and let it begin, on work that earlier runs proved and did not land."""
        self.numbers += 1
        address = Address(LOCAL, REPO, f"plans/{slug}.md")
        chosen = {
            "slug": slug, "mode": "finish", "auto": True, "agent": "claude", "branch": "main", "kind": "run",
            "host": "laptop", "checkout": str(self.shop), **options,
        }  # fmt: skip
        run = f"r{self.numbers}"
        with self.store.write() as session:
            dated = Dated(session, clock(at))
            made = runs.request(dated, address, run=run, slug=slug, options=read_options(chosen), actor="ann")
            claims.acquire(dated, address, run=run, mode="finish", host="laptop", actor="ann")
            runs.set_state(dated, made, "running")
        story = Story(self, made)
        outline = {
            "phases": {phase: needs for phase, (_, needs) in phases.items()},
            "titles": {phase: title for phase, (title, _) in phases.items()},
            "done": [phase for phase, *_ in unlanded],
            "unlanded": [[phase, run, commit.ljust(40, "0")] for phase, run, commit in unlanded],
        }
        digest = self.blobs.put(json.dumps(outline).encode())
        story.append(at, RunStarted(base=BASE, outline=digest), "started")
        # Everything that is made ready before the first phase.
        story.append(at, TestsResolved(source="given", command="uv run pytest -q"), "tests")
        story.append(at, WorkspaceMade(lane="main"), "workspace")
        story.append(at, SetupDone(outcome="PASS", digest="none", why="no setup is set"), "setup")
        story.append(at, BaselineDone(outcome="PASS", why="214 ran", ran=214, failed=0), "baseline")
        return story


class Story:
    """What happens to one run."""

    def __init__(self, night: Night, run: Run) -> None:
        self.night, self.made = night, run
        self.proven = 0

    def append(self, at: str, event: Event, key: str) -> None:
        run = self.made.run
        with self.night.store.write() as session:
            dated = Dated(session, clock(at))
            append(dated, self.made.address, event, key=f"{run}/{key}", actor="asbuilt", run=run)

    def begin(
        self, at: str, phase: str, number: int = 1, role: str = "implement", *, edited: bool = False
    ) -> None:
        if number == 1:
            begun_phase = PhaseBegun(phase=phase, intent="sha256:9c41", edited=edited)
            self.append(at, begun_phase, f"{phase}/begun")
        begun = AttemptBegun(phase=phase, number=number, role=role, agent="claude")
        self.append(at, begun, f"{phase}/{number}/begun/1")

    def end(
        self,
        at: str,
        phase: str,
        number: int = 1,
        ending: str = "done",
        *,
        cost_usd: float = 0.0,
        **more: Any,  # noqa: ANN401 - whatever else an attempt ends with
    ) -> None:
        ended = AttemptEnded(
            phase=phase,
            number=number,
            ending=ending,
            says="all tests pass",
            attempt=f"{phase}.{number}",
            cost_usd=cost_usd,
            **more,
        )
        self.append(at, ended, f"{phase}/{number}/ended/1")

    def check(self, at: str, phase: str, number: int = 1, outcome: Outcome = "PASS", *failures: str) -> None:
        commit, tree = f"{phase}{number}".ljust(40, "c"), f"{phase}{number}".ljust(40, "d")
        kept = TreeKept(phase=phase, number=number, commit=commit, tree=tree, changed=True)
        self.append(at, kept, f"{phase}/{number}/kept")
        checked = ChecksDone(phase=phase, number=number, outcome=outcome, failures=failures)
        self.append(at, checked, f"{phase}/{number}/checks")

    def prove(self, at: str, phase: str, commit: str, number: int = 1, *, cost_usd: float = 0.0) -> None:
        if number == 1:
            self.begin(at, phase)
        self.end(at, phase, number, cost_usd=cost_usd)
        self.check(at, phase, number)
        given = VerdictGiven(phase=phase, number=number, outcome="PASS")
        self.append(at, given, f"{phase}/{number}/verdict")
        self.append(at, PhaseProven(phase=phase, commit=commit.ljust(40, "0")), f"{phase}/proven")
        self.proven += 1
        self.append(at, PlanCompared(point=str(self.proven)), f"compared/{self.proven}")

    def land(self, at: str, **phases: str) -> None:
        commits = tuple(
            (phase, self.made.run, commit.ljust(40, "0"), commit.ljust(40, "0"))
            for phase, commit in phases.items()
        )
        done = LandingDone(branch="main", new="b83d07e".ljust(40, "0"), commits=commits)
        self.append(at, done, "landed")
        self.over(at, "landed")

    def park(self, at: str, why: str, until: str | None) -> None:
        reason = WaitReason.ANSWER if until is None else WaitReason.LIMIT
        with self.night.store.write() as session:
            dated, made = Dated(session, clock(at)), self.made
            segment = Segment(LOCAL, REPO, made.run, 2, until or runs.FAR, why)
            runs.plan_segment(dated, segment)
            segments.close(dated, segment._replace(n=1))
            runs.set_state(dated, made, "waiting")
        self.append(at, RunParked(reason=reason, why=why, until=until), "parked/1")

    def ask(self, at: str, phase: str) -> None:
        key = f"{self.made.run}/between/{phase}"
        wish = approvals.Wish(self.made.run, "continue", f"continue with phase {phase}?", phase)
        with self.night.store.write() as session:
            approvals.ask(Dated(session, clock(at)), self.made.address, key=key, wish=wish, actor="asbuilt")
        self.park(at, f"approval {key}", None)

    def over(self, at: str, state: str, reason: str = "", following: str = "", other: str = "") -> None:
        self.append(at, RunEnded(state=state, reason=reason, next=following, other=other), "ended")
        with self.night.store.write() as session:
            dated, made = Dated(session, clock(at)), self.made
            runs.set_state(dated, made, state)
            claims.release(dated, made.address, run=made.run, actor="asbuilt")
            segments.close(dated, Segment(LOCAL, REPO, made.run, 1, "", ""))

    def heard(self, at: str, attempt: str, *calls: tuple[str, str, str]) -> None:
        """Write what an agent was heard of: (time, tool, detail)."""
        folder = folder_of(self.night.home.path, f"{self.made.run}.{attempt}")
        folder.mkdir(parents=True, exist_ok=True)
        lines = [
            {"kind": "called", "at": clock(when), "tool": tool, "detail": detail}
            for when, tool, detail in calls
        ]
        file = folder / "events.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        (folder / "starts").write_text("1\n", encoding="utf-8")
        moment = datetime.fromisoformat(clock(at)).timestamp()
        os.utime(file, (moment, moment))
        self.night.open.enter_context(only_one(folder / "lock"))


def tell(night: Night) -> None:
    """Let happen what a person finds that night: one plan at work, and one of every other kind."""
    retry = night.plan("retry", "09:00:00", {"1": ("Back off", [])})
    retry.prove("10:10:00", "1", "5d2ab1c", cost_usd=6.31)
    retry.land("10:12:00", **{"1": "5d2ab1c"})
    cache = night.plan("ci-cache", "18:00:00", {"1": ("Key by lock file", []), "2": ("Restore", ["1"])})
    cache.prove("18:20:00", "1", "aa01f3e", cost_usd=1.12)
    cache.begin("18:21:00", "2")
    cache.end("18:40:00", "2")
    cache.check("18:41:00", "2", 1, "FAIL", "tests: FAIL, 2 new failures")
    cache.over("18:41:30", "failed", "phase 2 is not proven after 2 fixes: tests: FAIL, 2 new failures")
    importer = night.plan("importer", "19:00:00", auto=False)
    importer.prove("19:30:00", "1", "e1e1e1e", cost_usd=0.9)
    importer.ask("19:31:00", "2a")
    audit = night.plan("login-audit", "20:00:00")
    audit.prove("20:40:00", "1", "c0ffee1", cost_usd=2.77)
    audit.begin("20:41:00", "2a")
    audit.end("20:58:00", "2a", ending="limited", reason="usage limit", resets_at="2099-11-14T01:10:00.000Z")
    audit.park("20:58:00", "usage limit of the agent in phase 2a", "2099-11-14T01:10:00.000Z")
    with night.store.write() as session:
        dated = Dated(session, clock("20:59:00"))
        claims.acquire(dated, retry.made.address, run="ann", mode="hand", host="laptop", actor="ann")
    limit = night.plan("rate-limit", "20:49:02")
    limit.prove("21:01:55", "1", "4f1c9a2", cost_usd=0.84)
    limit.begin("21:02:10", "2a")
    limit.heard("21:37:34", "2a.1", ("21:30:00", "Read", "src/api/limits/store.py"))
