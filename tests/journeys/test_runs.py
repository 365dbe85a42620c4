from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.journal import approvals, runs
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address, new_id
from asbuilt.journal.schema import STEPS
from tests.journal.conftest import open_store, postgres, where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from asbuilt.journal.store import Store

__all__ = ["postgres", "where"]

pytestmark = pytest.mark.crash
ROOT = Path(__file__).parent.parent.parent
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
acts = [{ write = "both.py", text = "# both\\n" }, { say = "done" }]
[[turn]]
role = "verify"
acts = [{ verdict = "pass" }]
"""


ALL = ["Mark plan.md", "Both", "Shout", "Part", "Greet", "start"]


class Shop:
    """A repository with a plan, a journal, and a worker that can be killed."""

    def __init__(self, folder: Path, where: str) -> None:
        self.home = folder / "state"
        self.checkout = folder / "shop"
        self.where = where
        self.script = folder / "script.toml"
        self.script.write_text(SCRIPT, encoding="utf-8")
        self.checkout.mkdir()
        (self.checkout / "plan.md").write_text(PLAN, encoding="utf-8")
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A Person")
        self.git("config", "user.email", "a@example.com")
        self.git("add", ".")
        self.git("commit", "-qm", "start")
        (self.checkout / "mine.txt").write_text("mine", encoding="utf-8")
        self.store: Store = open_store(where)
        self.store.migrate(STEPS)
        self.address = Address(LOCAL, "6f9c", "plan.md")
        self.worker: subprocess.Popen[bytes] | None = None

    def git(self, *arguments: str) -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(
            ["git", *arguments],  # noqa: S607
            cwd=self.checkout,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def start(self) -> None:
        self.worker = subprocess.Popen(
            [sys.executable, "-m", "tests.journeys.worker", str(self.home), self.where], cwd=ROOT
        )

    def kill(self) -> None:
        if self.worker is not None:
            self.worker.send_signal(signal.SIGKILL)
            self.worker.wait()

    def request(self, **options: Any) -> str:  # noqa: ANN401
        run = new_id()
        with self.store.write() as session:
            runs.request(
                session,
                self.address,
                run=run,
                slug="plan",
                actor="you",
                options={
                    "checkout": str(self.checkout), "branch": "main", "slug": "plan", "host": "here",
                    "agent": "scripted", "script": str(self.script), **options,
                },
            )  # fmt: skip
        return run

    def kinds(self) -> list[str]:
        with self.store.read() as session:
            return [event.kind for event in history(session, self.address)]

    def run(self, run: str) -> runs.Run:
        with self.store.read() as session:
            found = runs.find(session, LOCAL, "6f9c", run)
        assert found is not None
        return found

    def reason(self) -> str:
        with self.store.read() as session:
            ends = [event.data for event in history(session, self.address) if event.kind == "run.ended"]
        return str(ends[-1].get("reason", "")) if ends else ""

    def until(self, true: Callable[[], object], *, within_s: float = 180) -> None:
        end = time.monotonic() + within_s
        while not true():
            assert time.monotonic() < end, (self.kinds(), self.reason())
            time.sleep(0.05)


@pytest.fixture
def shop(tmp_path: Path, where: str) -> Iterator[Shop]:
    made = Shop(tmp_path, where)
    yield made
    made.kill()
    made.store.close()


def test_one_phase_is_proven_and_lands(shop: Shop) -> None:
    run = shop.request(mode="phase", auto=True)
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    assert (shop.run(run).state, shop.reason()) == ("landed", "")
    assert shop.git("log", "--format=%s|%an", "main").splitlines() == [
        "Mark plan.md|A Person",
        "Greet|A Person",
        "start|A Person",
    ]
    assert "**Status:**" not in (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert (shop.checkout / "greet.py").read_text(encoding="utf-8") == "print('hello')\n"
    assert shop.git("status", "--short") == "?? mine.txt"


def test_an_untracked_plan_is_marked_where_it_lies_and_never_committed(shop: Shop) -> None:
    shop.git("rm", "-q", "--cached", "plan.md")
    shop.git("commit", "-qm", "the plan is mine")
    run = shop.request(mode="phase", auto=True)
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    assert (shop.run(run).state, shop.reason()) == ("landed", "")
    assert shop.git("log", "--format=%s", "main").splitlines() == ["Greet", "the plan is mine", "start"]
    landed = shop.git("log", "-1", "--format=%H", "main")
    text = (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert text == PLAN.replace("- [ ] `greet.py` says hello", f"- [x] `greet.py` says hello ({landed[:10]})")
    assert shop.git("status", "--short").splitlines() == ["?? mine.txt", "?? plan.md"]


def test_a_file_of_yours_in_the_way_is_kept_and_nothing_lands(shop: Shop) -> None:
    (shop.checkout / "greet.py").write_text("mine too", encoding="utf-8")
    run = shop.request(mode="phase", auto=True)
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    assert shop.run(run).state == "failed"
    assert "greet.py" in shop.reason()
    assert (shop.checkout / "greet.py").read_text(encoding="utf-8") == "mine too"
    assert shop.git("log", "--format=%s", "main") == "start"
    assert shop.git("log", "--format=%s", "cp-plan").splitlines() == ["Greet", "start"]


def test_a_finish_goes_through_its_waves_fixes_what_fails_and_lands_once(shop: Shop) -> None:
    run = shop.request(mode="finish", auto=True)
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    assert (shop.run(run).state, shop.reason()) == ("landed", "")
    assert shop.git("log", "--format=%s", "main").splitlines() == ALL
    kinds = shop.kinds()
    assert (kinds.count("landing.done"), kinds.count("phase.proven"), kinds.count("attempt.begun")) == (
        1,
        4,
        5,
    )


def test_a_phase_that_stays_wrong_after_two_fixes_ends_the_run_and_lands_nothing(shop: Shop) -> None:
    shop.script.write_text(SCRIPT.replace("goodbye", "still wrong"), encoding="utf-8")
    run = shop.request(mode="finish", auto=True)
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    assert shop.run(run).state == "failed"
    assert shop.reason().startswith(
        "phase 2a is not proven after 2 fixes: grep -q goodbye part.py: FAIL, exit 1"
    )
    assert shop.git("log", "--format=%s", "main") == "start"
    assert shop.git("log", "--format=%s", "cp-plan").splitlines() == ["Greet", "start"]


def test_without_auto_it_asks_between_phases_with_no_worker_alive_and_lands_nothing(shop: Shop) -> None:
    run = shop.request(mode="finish")
    shop.start()
    shop.until(lambda: shop.run(run).state == "waiting")
    shop.kill()
    with shop.store.write() as session:
        waiting = approvals.waiting(session, LOCAL, "6f9c")
        approvals.answer(session, LOCAL, "6f9c", waiting[0].number, said="no", actor="you")
        runs.wake(session, LOCAL, "6f9c", run)
    assert [approval.question for approval in waiting] == ["go on with phase 2a?"]
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    assert (shop.run(run).state, shop.reason()) == ("stopped", "you said no to phase 2a")
    assert shop.git("log", "--format=%s", "main") == "start"


@pytest.mark.parametrize(
    "point",
    [
        "run.started", "workspace.made", "phase.begun", "attempt.begun", "attempt.ended",
        "tree.kept", "checks.done", "verdict.given", "phase.proven", "landing.intended",
    ],
)  # fmt: skip
def test_a_worker_killed_at_any_point_is_followed_by_one_that_goes_on(shop: Shop, point: str) -> None:
    run = shop.request(mode="finish", auto=True)
    shop.start()
    shop.until(lambda: point in shop.kinds())
    shop.kill()
    shop.start()
    shop.until(lambda: shop.run(run).is_over)
    assert (shop.run(run).state, shop.reason()) == ("landed", "")
    assert shop.git("log", "--format=%s", "main").splitlines() == ALL
    assert shop.git("status", "--short") == "?? mine.txt"
