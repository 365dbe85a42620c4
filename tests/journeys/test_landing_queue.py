"""Runs that land on one branch form one line: one at a time, in order, and a dead one delays no other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.landings import LandingDone, LandingQueued, LandingTurn
from asbuilt.events.options_json import read_options
from asbuilt.journal import runs
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.events import history
from asbuilt.journal.ids import LOCAL, Address, new_id
from asbuilt.journal.queries.overview import run_view
from asbuilt.journal.queues import landing_queue
from tests.journeys.shop import REPO, Shop

if TYPE_CHECKING:
    from asbuilt.events.event import Event

pytestmark = pytest.mark.crash
NAMES = ("anna", "bert", "cleo")


def plan(name: str, check: str) -> str:
    return (
        f"# {name}\n\n## Phase 1 — Add {name}\n### Dependencies\nNone.\n### Work Items\n"
        f"- [ ] `{name}.txt` says {name}\n### Verification\n- `{check}`\n"
    )


def prepared(shop: Shop, *, check: str = "grep -q {name} {name}.txt") -> None:
    """Commit a plan for each name."""
    for name in NAMES:
        shop.commit(f"{name}.md", plan(name, check.format(name=name)), f"plan {name}")


def asked(shop: Shop, name: str, **options: object) -> str:
    run = new_id()
    script = shop.script.with_name(f"{name}.toml")
    script.write_text(
        f'[[turn]]\nphase = "1"\nrole = "implement"\nacts = [{{ write = "{name}.txt", text = "{name}\\n" }},'
        ' { say = "done" }]\n[[turn]]\nrole = "verify"\nacts = [{ verdict = "pass" }]\n',
        encoding="utf-8",
    )
    with shop.store.write() as session:
        runs.request(
            session, Address(LOCAL, REPO, f"{name}.md"), run=run, slug=name, actor="you",
            options=read_options({
                "checkout": str(shop.checkout), "branch": "main", "slug": name, "host": "here",
                "ring_required": False, "agent": "scripted", "script": str(script), "auto": True,
                "mode": "finish", **options,
            }),
        )  # fmt: skip
    return run


def told(shop: Shop, name: str) -> list[Event]:
    with shop.store.read() as session:
        return [one.event for one in history(session, Address(LOCAL, REPO, f"{name}.md"))]


def kinds(shop: Shop, name: str, *wanted: type[Event]) -> list[Event]:
    return [one for one in told(shop, name) if isinstance(one, wanted)]


def stand_first(shop: Shop) -> runs.Run:
    """Put a run first into the line that no worker knows."""
    run = asked(shop, "zoe")
    with shop.store.write() as session:
        session.run("UPDATE segments SET asked = 0, due_at = :far WHERE run = :run", far=runs.FAR, run=run)
        found = runs.find(session, LOCAL, REPO, run)
        assert found is not None
        assert landing_queue.join(session, found) == ()
    return found


def let_go(shop: Shop, run: runs.Run) -> None:
    with shop.store.write() as session:
        landing_queue.leave(session, run)


def waits(shop: Shop, run: str) -> str:
    with shop.store.read() as session:
        found = runs.find(session, LOCAL, REPO, run)
        assert found is not None
        return run_view(session, Blobs(shop.home / "blobs"), found).waits_for.why


def test_three_runs_land_in_order_and_each_says_its_place(shop: Shop) -> None:
    prepared(shop)
    first = stand_first(shop)
    shop.start(ASBUILT_TEST_SLOTS="3")
    wanted = []
    for name in NAMES:
        wanted.append(asked(shop, name))
        shop.until(partial(kinds, shop, name, LandingQueued))
    shop.until(lambda: all(shop.run(run).state == "waiting" for run in wanted))
    assert [waits(shop, run) for run in wanted] == [
        "2nd in line for main, behind zoe",
        "3rd in line for main, behind anna",
        "4th in line for main, behind bert",
    ]
    let_go(shop, first)
    shop.until(lambda: all(shop.run(run).is_over for run in wanted))
    assert [shop.run(run).state for run in wanted] == ["landed"] * 3
    assert [subject for subject in reversed(shop.log()) if subject.startswith("Add ")] == [
        "Add anna", "Add bert", "Add cleo",
    ]  # fmt: skip
    turns = [event for name in NAMES for event in kinds(shop, name, LandingTurn)]
    assert [event.ahead for event in turns if isinstance(event, LandingTurn)] == [0, 1, 0, 1, 0]
    assert [len(kinds(shop, name, LandingDone)) for name in NAMES] == [1, 1, 1]


def test_a_run_whose_worker_is_killed_as_the_first_lands_and_the_others_after_it(shop: Shop) -> None:
    prepared(shop)
    first = stand_first(shop)
    shop.start(ASBUILT_TEST_SLOTS="3")
    wanted = []
    for name in NAMES[:2]:
        wanted.append(asked(shop, name))
        shop.until(partial(kinds, shop, name, LandingQueued))
    shop.until(lambda: all(shop.run(run).state == "waiting" for run in wanted))
    let_go(shop, first)
    shop.until(lambda: kinds(shop, "anna", LandingTurn))
    shop.kill()
    shop.start()
    shop.until(lambda: all(shop.run(run).is_over for run in wanted))
    assert [shop.run(run).state for run in wanted] == ["landed", "landed"]
    assert [len(kinds(shop, name, LandingDone)) for name in NAMES[:2]] == [1, 1]
