"""A refinement goes from a new text over a yes to the file; nothing done or written meanwhile is lost."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from asbuilt.errors import GateStopped, PlanChanged
from asbuilt.events.phases import PhaseMarked, PhaseProven
from asbuilt.flows.authoring.refinement import Refinements, Wish, is_refinement
from asbuilt.flows.requests import Asker, answer, revise
from asbuilt.journal.blobs import Blobs
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.drafts import drafts_of
from asbuilt.journal.events import append, history, open_plan
from asbuilt.journal.ids import LOCAL, Address
from asbuilt.lifecycle.approval import AGENT, Await, Rewrite
from asbuilt.plan.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from asbuilt.events.event import Event
    from asbuilt.journal.approvals import Answer
    from asbuilt.lifecycle.approval import Approved

PLAN = """\
# Limits

## Phase 1 — Bucket

**Status:** ✅ Done (a1b2c3d)

- `bucket.py` is there

## Phase 2 — Store

**Status:** ⬚

- `store.py` is there

## Phase 3 — Docs

- `limits.md` is there
"""
NEW = PLAN.replace("store.py", "redis.py").replace("`bucket.py` is there", "nothing is there")
WANTED = PLAN.replace("store.py", "redis.py")
ADA = Asker("ada", "laptop", {})


class Desk:
    """A plan's file, and the journal of its repository."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "limits.md"
        self.file.write_text(PLAN)
        self.store = SqliteStore(folder / "journal.db")
        self.store.migrate(STEPS)
        self.blobs = Blobs(folder / "blobs")
        self.address = Address(LOCAL, "6f9c", "plans/limits.md")
        self.refinements = Refinements(self.store, self.blobs, self.address)

    def propose(self, text: str = NEW, by: str = AGENT) -> int:
        before = read(self.file.read_bytes())
        after = read(self.refinements.refined(before, text.encode()))
        wish = Wish("limits", "use Redis", "ada", "here")
        asked = self.refinements.propose(before, after, wish, by=by)
        assert is_refinement(asked.run)
        return asked.number

    def say(self, number: int, said: Answer = "yes", note: str | None = None) -> None:
        counts, _ = answer(self.store, LOCAL, "6f9c", number, reply=said, note=note, asker=ADA)
        assert counts

    def go_on(self) -> Approved | None:
        last = self.refinements.last()
        assert last is not None
        plan = read(self.file.read_bytes())
        return self.refinements.file(last, plan, self.file, name="limits", actor="ada")

    def write(self, event: Event, run: str | None = None) -> None:
        with self.store.write() as session:
            open_plan(session, self.address, "limits")
            append(session, self.address, event, key=f"k/{event}", actor="ada", run=run)

    def kinds(self) -> list[str]:
        with self.store.read() as session:
            return [one.kind for one in history(session, self.address)]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    with closing(made.store):
        yield made


def test_the_file_is_written_by_the_yes_and_not_before(desk: Desk) -> None:
    number = desk.propose()
    last = desk.refinements.last()
    assert last is not None
    assert isinstance(last.step, Await)
    assert (last.change, last.checkout) == ("use Redis", "here")
    assert desk.go_on() is None
    assert desk.file.read_text() == PLAN
    desk.say(number)
    approved = desk.go_on()
    assert approved is not None
    assert (approved.by, approved.edited) == ("ada", False)
    assert desk.file.read_text() == WANTED
    assert desk.kinds() == [
        "plan.refining",
        "draft.written",
        "draft.written",
        "approval.asked",
        "approval.answered",
        "plan.approved",
        "plan.filed",
    ]


def test_what_was_written_before_a_kill_is_not_written_again(desk: Desk) -> None:
    desk.say(desk.propose())
    desk.file.write_text(WANTED)
    before = desk.file.stat().st_ino
    assert desk.go_on() is not None
    assert (desk.file.read_text(), desk.file.stat().st_ino) == (WANTED, before)
    assert desk.kinds()[-1] == "plan.filed"
    assert desk.go_on() is None


def test_marks_that_were_made_meanwhile_stay(desk: Desk) -> None:
    number = desk.propose()
    desk.file.write_text(PLAN.replace("**Status:** ⬚", "**Status:** 🟡"))
    desk.say(number)
    desk.go_on()
    assert desk.file.read_text() == WANTED.replace("**Status:** ⬚", "**Status:** 🟡")


def test_a_phase_that_was_done_meanwhile_keeps_its_mark(desk: Desk) -> None:
    number = desk.propose(PLAN.replace("`limits.md` is", "`limits.md` and `faq.md` are"))
    done = PLAN.replace("**Status:** ⬚", "**Status:** ✅ Done (c0ffee1)")
    desk.file.write_text(done)
    desk.say(number)
    desk.go_on()
    assert desk.file.read_text() == done.replace("`limits.md` is", "`limits.md` and `faq.md` are")


def test_a_phase_that_was_done_meanwhile_is_not_changed_any_more(desk: Desk) -> None:
    number = desk.propose()
    desk.write(PhaseProven(phase="2", commit="c0ffee1"), run="r1")
    desk.say(number)
    with pytest.raises(GateStopped) as refused:
        desk.go_on()
    assert refused.value.what == "the approved text changes a completed phase of limits"
    assert desk.file.read_text() == PLAN


def test_what_somebody_wrote_meanwhile_is_not_lost(desk: Desk) -> None:
    number = desk.propose()
    theirs = PLAN.replace("limits.md", "faq.md")
    desk.file.write_text(theirs)
    desk.say(number)
    with pytest.raises(PlanChanged) as refused:
        desk.go_on()
    assert refused.value.what == "limits was edited while its refinement waited"
    assert desk.file.read_text() == theirs


def test_the_file_decides_about_marks_and_the_journal_about_proofs(desk: Desk) -> None:
    plan = read(PLAN.encode())
    assert desk.refinements.done(plan) == {"1"}
    desk.write(PhaseMarked(phase="1", status="pending", by="hand"))
    desk.write(PhaseProven(phase="3", commit="c0ffee1"), run="r1")
    assert desk.refinements.done(plan) == {"1", "3"}


def test_a_no_leaves_the_file_as_it_is_and_is_told_with_its_reason(desk: Desk) -> None:
    desk.say(desk.propose(), "no", "not Redis")
    last = desk.refinements.last()
    assert last is not None
    assert isinstance(last.step, Rewrite)
    assert last.step.question.note == "not Redis"
    assert desk.go_on() is None
    assert desk.file.read_text() == PLAN


def test_an_edit_in_the_inbox_cannot_change_what_is_done(desk: Desk) -> None:
    number = desk.propose()
    theirs = WANTED.replace("`bucket.py` is there", "nothing is there").encode()
    is_ours, asked = revise(desk.store, desk.blobs, LOCAL, "6f9c", number, data=theirs, asker=ADA)
    assert is_ours
    desk.say(asked.number)
    with pytest.raises(GateStopped):
        desk.go_on()
    assert desk.file.read_text() == PLAN


def test_a_newer_refinement_takes_the_place_of_the_one_before(desk: Desk) -> None:
    first = desk.propose()
    second = desk.propose(PLAN.replace("store.py", "sqlite.py"))
    counts, asked = answer(desk.store, LOCAL, "6f9c", first, reply="yes", note=None, asker=ADA)
    assert (counts, asked.answer) == (False, "revised")
    desk.say(second)
    desk.go_on()
    assert desk.file.read_text() == PLAN.replace("store.py", "sqlite.py")
    with desk.store.read() as session:
        assert [one.by for one in drafts_of(session, desk.address).approved] == ["ada"]
