"""A repository with a plan, a journal, and a worker that can be killed. The one rule: nothing else moves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from asbuilt.events.options_json import read_options
from asbuilt.events.runs import RunEnded, TroubleMet
from asbuilt.journal import approvals, runs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address, new_id
from tests.journal.conftest import open_store
from tests.journeys.untouched import Before, git

if TYPE_CHECKING:
    from collections.abc import Callable

    from asbuilt.events.event import Event
    from asbuilt.journal.database.store import Store

_Kind = TypeVar("_Kind", bound="Event")
ROOT = Path(__file__).parent.parent.parent
LONG = int(os.environ.get("ASBUILT_CRASH_ROUNDS", "12")) > 12
"""The whole matrix; else the slice of it that CI has time for."""
BOTH = ("sqlite", "postgres")
one_store = pytest.mark.parametrize("where", BOTH if LONG else BOTH[:1], indirect=True)
"""For journeys that no store can tell apart: the slice tries them on one."""
REPO = "6f9c"
PLAN = """\
# Greetings

## Phase 1 — Greet
### Dependencies
None.
### Work Items
- [ ] `greet.py` says hello
### Verification
- `grep -q hello greet.py`

## Phase 2a — Part
### Dependencies
Phase 1.
### Work Items
- [ ] `part.py` says goodbye
### Verification
- `grep -q goodbye part.py`

## Phase 2b — Shout
### Dependencies
Phase 1.
### Work Items
- [ ] `shout.py` shouts
### Verification
- `grep -q HELLO shout.py`

## Phase 3 — Both
### Dependencies
Phase 2a, Phase 2b.
### Work Items
- [ ] `both.py` does both
### Verification
- `grep -q both both.py`
"""
SCRIPT = """\
[[turn]]
phase = "1"
role = "implement"
acts = [{ write = "greet.py", text = "print('hello')\\n" }, { say = "done" }]
[[turn]]
phase = "2a"
role = "implement"
acts = [{ write = "part.py", text = "print('wrong')\\n" }, { say = "done" }]
[[turn]]
phase = "2a"
role = "fix"
acts = [{ write = "part.py", text = "print('goodbye')\\n" }, { say = "done" }]
[[turn]]
phase = "2b"
role = "implement"
acts = [{ write = "shout.py", text = "print('HELLO')\\n" }, { say = "done" }]
[[turn]]
phase = "3"
role = "implement"
acts = [{ write = "both.py", text = "both = True\\n" }, { say = "done" }]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""
ALL = ["Mark plan.md", "Both", "Shout", "Part", "Greet", "start"]
LANDED = ("greet.py", "part.py", "shout.py", "both.py", "plan.md")
"""The paths that ALL brings into the checkout."""
STARTS_ALL = 'for file in *.py; do [ ! -e "$file" ] || python3 "$file" >/dev/null || exit 1; done'
"""A command that notices an error in any of them, for suites that only print a summary."""


def killed_at(*points: str) -> pytest.MarkDecorator:
    """Try a journey undisturbed, and with its worker killed at each of some events; the slice tries one."""
    return pytest.mark.parametrize("point", ["", *(points if LONG else points[:1])])


class Shop:
    """A repository with a plan, and everything that a run of it needs.

    Whatever a run may change in the person's checkout is announced with `lands`; all else must be as before.
    """

    def __init__(self, folder: Path, where: str) -> None:
        self.home = folder / "state"
        self.checkout = folder / "shop"
        self.where = where
        self.script = folder / "script.toml"
        self.script.write_text(SCRIPT, encoding="utf-8")
        self.checkout.mkdir(exist_ok=True)
        (self.checkout / "plan.md").write_text(PLAN, encoding="utf-8")
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A Person")
        self.git("config", "user.email", "a@example.com")
        self.git("add", ".")
        self.git("commit", "-qm", "start")
        (self.checkout / "mine.txt").write_text("mine", encoding="utf-8")
        self.store: Store = open_store(where)
        self.store.migrate(STEPS)
        self.plan = "plan.md"
        self.worker: subprocess.Popen[bytes] | None = None
        self.before: Before | None = None
        self._landing: tuple[str, ...] = ()
        self._moving: tuple[str, ...] = ()

    @property
    def address(self) -> Address:
        return Address(LOCAL, REPO, self.plan)

    def git(self, *arguments: str) -> str:
        return os.fsdecode(git(self.checkout, *arguments)).strip()

    def write(self, path: str, text: str) -> None:
        """Write a file as the person does, at any time."""
        (self.checkout / path).write_text(text, encoding="utf-8")
        if self.before is not None:
            self.before.announce(path)

    def commit(self, path: str, text: str | None, subject: str) -> None:
        """Commit one file, or that it is gone, as the person does; what came before is compared first."""
        self.compare()
        (self.checkout / path).unlink() if text is None else self.write(path, text)
        self.git("add", "--", path)
        self.git("commit", "-qm", subject, "--", path)
        self.before = self.before and Before(self.checkout)

    def rename_plan(self, path: str) -> None:
        """Give the plan another place, before any run."""
        (self.checkout / path).parent.mkdir(exist_ok=True)
        self.git("mv", "--", self.plan, path)
        self.git("commit", "-q", "--amend", "--no-edit")
        self.plan = path

    def lands(self, *paths: str, on: str = "main") -> None:
        """Announce what the run brings into the checkout, and the branch that it moves."""
        self._landing += paths
        self._moving = (f"refs/heads/{on}",)

    def request(self, **options: Any) -> str:  # noqa: ANN401
        """Ask for a run; from here on the checkout is the person's."""
        run = new_id()
        self.before = self.before or Before(self.checkout)
        with self.store.write() as session:
            runs.request(
                session,
                self.address,
                run=run,
                slug="plan",
                actor="you",
                options=read_options({
                    "checkout": str(self.checkout), "branch": "main", "slug": "plan", "host": "here",
                    "ring_required": False, "agent": "scripted", "script": str(self.script), "auto": True,
                    **options,
                }),
            )  # fmt: skip
        return run

    def start(self, *, within: tuple[str, ...] = (), **environment: str) -> None:
        """Start a worker, `within` the command of a sandbox where one is given."""
        self.worker = subprocess.Popen(
            [*within, sys.executable, "-m", "tests.journeys.worker", str(self.home), self.where],
            cwd=ROOT,
            env={**os.environ, **environment},
        )

    def start_killed(self, point: str) -> None:
        """Start a worker, and another one after it was killed when an event was there."""
        self.start()
        if point:
            self.until(lambda: point in self.kinds())
            self.kill()
            self.start()

    def kill(self) -> None:
        if self.worker is not None:
            self.worker.send_signal(signal.SIGKILL)
            self.worker.wait()

    def over(self, run: str) -> tuple[str, str]:
        """Wait for the end of a run: its state and the reason."""
        self.until(lambda: self.run(run).is_over)
        return self.run(run).state, self.reason()

    def events(self, kind: type[_Kind]) -> list[_Kind]:
        return [event for _, event in self.of_runs(kind)]

    def of_runs(self, kind: type[_Kind]) -> list[tuple[str | None, _Kind]]:
        """Give the events of a kind, each with its run."""
        with self.store.read() as session:
            entries = history(session, self.address)
        return [(one.run, one.event) for one in entries if isinstance(one.event, kind)]

    def kinds(self) -> list[str]:
        with self.store.read() as session:
            return [one.kind for one in history(session, self.address)]

    def run(self, run: str) -> runs.Run:
        with self.store.read() as session:
            found = runs.find(session, LOCAL, REPO, run)
        assert found is not None
        return found

    def answer(self, run: str, said: approvals.Answer) -> list[str]:
        """Answer the one question that waits, as a door does; return all that waited."""
        with self.store.write() as session:
            waiting = approvals.waiting(session, LOCAL, REPO)
            approvals.answer(session, LOCAL, REPO, waiting[0].number, reply=said, actor="you")
            runs.wake(session, LOCAL, REPO, run)
        return [approval.question for approval in waiting]

    def turn(self, head: str, *acts: str) -> None:
        """Put a turn before those of the script; the first that fits is played."""
        turn = f"[[turn]]\n{head}\nacts = [{', '.join(acts)}]\n"
        self.script.write_text(turn + self.script.read_text(encoding="utf-8"), encoding="utf-8")

    def reason(self) -> str:
        """Return why the last run ended, or what interrupted it last."""
        ends: list[RunEnded] | list[TroubleMet] = self.events(RunEnded) or self.events(TroubleMet)
        return ends[-1].words if ends else ""

    def log(self, branch: str = "main") -> list[str]:
        return self.git("log", "--format=%s", branch).splitlines()

    def kill_of_attempt(self, run: str, name: str, victim: str, *, script: str) -> None:
        """Kill the host or the agent of an attempt that hangs; whoever comes next plays another script."""
        folder = self.attempt(run, name)
        events = folder / "events.jsonl"
        self.until(lambda: events.exists() and b'"said"' in events.read_bytes())
        host = json.loads((folder / "host.json").read_bytes())
        self.script.write_text(script, encoding="utf-8")
        os.kill(host["pid"] if victim == "host" else host["children"][0][0], signal.SIGKILL)

    def attempt(self, run: str, name: str) -> Path:
        """Say where the files of an attempt are: `2a.1`, its verifier `2a.1v`."""
        return self.home / "runs" / run / "attempts" / f"{run}.{name}"

    def until(self, true: Callable[[], object], *, within_s: float = 180) -> None:
        end = time.monotonic() + within_s
        while not true():
            assert time.monotonic() < end, (self.kinds(), self.reason())
            time.sleep(0.05)

    def reopen(self) -> None:
        """Open the store anew, after what is in it was exchanged."""
        self.store.close()
        self.store = open_store(self.where)

    def close(self) -> None:
        """End the worker and the agents that still work for it."""
        self.kill()
        for folder in self.home.glob("runs/*/attempts/*"):
            (folder / "cancel").touch()
        self.store.close()

    def compare(self) -> None:
        """Compare the checkout with what the person had, but for what was announced."""
        if self.before is not None:
            self.before.same_except(self._landing, refs=self._moving)
