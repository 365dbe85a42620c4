"""A landing happens once and whole, or not at all, and nothing of the user's changes with it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from asbuilt.git.commits import message_for, outcomes
from asbuilt.git.landing.candidates import Candidate, Conflict, Edit, add_files, held, hold, pick, revert
from asbuilt.git.landing.land import Landed, Refused, TipMoved, land, recover
from asbuilt.git.repository import open_repository
from tests.git.shop import ADA, RUN, Shop, killed_once, user_state

if TYPE_CHECKING:
    from pathlib import Path


def _candidate(shop: Shop, *commits: str, onto: str | None = None) -> Candidate:
    found = pick(shop.repository, onto=onto or shop.tip(), commits=commits, run=RUN)
    assert isinstance(found, Candidate)
    hold(shop.repository, RUN, found)
    return found


def _changes_of_the_user(shop: Shop, at: Path | None = None) -> None:
    """Leave a checkout as people leave them: staged, dirty, untracked, ignored and stashed."""
    shop.write("README.md", "stashed\n", at=at)
    shop.git("stash", at=at)
    shop.write("README.md", "dirty\n", at=at)
    shop.write("staged.txt", "staged\n", at=at)
    shop.git("add", "staged.txt", at=at)
    shop.write("notes.txt", "untracked\n", at=at)
    shop.write(".env.local.env", "SECRET\n", at=at)
    shop.write("build/out.o", "ignored\n", at=at)


def test_a_landing_carries_the_checkout_and_keeps_everything_else(shop: Shop) -> None:
    _changes_of_the_user(shop)
    first = shop.phase("1", {"src/app.py": "one\nTWO\nthree\n", "src/new/deep.py": "new\n"})
    second = shop.phase("2", {"src/app.py": None}, onto=first)
    candidate = _candidate(shop, first, second)
    before = user_state(shop, but=("src/app.py", "src/new/deep.py"))

    outcome = land(shop.repository, shop.intent(candidate.tip), shop.room)

    assert outcome == Landed(ref="refs/heads/main", new=second, checkout=str(shop.root))
    after = user_state(shop, but=("src/app.py", "src/new/deep.py"))
    assert {**after, "refs": None} == {**before, "refs": None}
    assert shop.tip() == second
    assert (shop.root / "src/new/deep.py").read_text() == "new\n"
    assert not (shop.root / "src/app.py").exists()
    assert shop.fsck() == ""


def test_a_branch_that_is_not_checked_out_moves_and_no_checkout_does(shop: Shop) -> None:
    shop.git("switch", "-q", "-c", "feature")
    _changes_of_the_user(shop)
    before = user_state(shop)
    new = shop.phase("1", {"src/app.py": "changed\n"}, onto=shop.tip())
    assert land(shop.repository, shop.intent(new), shop.room) == Landed(ref="refs/heads/main", new=new)
    after = user_state(shop)
    assert {**after, "refs": None} == {**before, "refs": None}
    assert shop.tip() == new


def test_the_checkout_is_carried_along_in_another_worktree_too(shop: Shop, tmp_path: Path) -> None:
    shop.git("switch", "-q", "-c", "feature")
    other = tmp_path / "other place"
    shop.git("worktree", "add", "-q", str(other), "main")
    _changes_of_the_user(shop, other)
    here, there = user_state(shop), user_state(shop, at=other, but=("src/app.py",))
    new = shop.phase("1", {"src/app.py": "changed\n"})

    assert land(shop.repository, shop.intent(new), shop.room) == Landed(
        ref="refs/heads/main", new=new, checkout=str(other)
    )
    assert (other / "src/app.py").read_text() == "changed\n"
    assert {**user_state(shop), "refs": None} == {**here, "refs": None}
    assert {**user_state(shop, at=other, but=("src/app.py",)), "refs": None} == {**there, "refs": None}
    assert land(open_repository(other), replace(shop.unprepared(new)), shop.room) == Landed(
        ref="refs/heads/main", new=new, already=True
    )


def test_a_tip_that_moved_is_told_apart_and_the_candidate_is_built_anew(shop: Shop) -> None:
    proven = shop.phase("1", {"src/app.py": "one\ntwo\nTHREE\n"})
    intent = shop.intent(_candidate(shop, proven).tip)
    meanwhile = shop.commit("a colleague", {"README.md": "moved\n"})
    before = user_state(shop)

    assert land(shop.repository, intent, shop.room) == TipMoved(ref="refs/heads/main", found=meanwhile)
    assert user_state(shop) == before

    again = _candidate(shop, proven)
    assert again.onto == meanwhile
    assert again.tip != proven
    assert land(shop.repository, shop.intent(again.tip), shop.room) == Landed(
        ref="refs/heads/main", new=again.tip, checkout=str(shop.root)
    )
    assert (shop.root / "README.md").read_text() == "moved\n"
    assert (shop.root / "src/app.py").read_text() == "one\ntwo\nTHREE\n"
    shown = shop.git("log", "-1", "--format=%an <%ae> %aI|%cn %cI|%s|%(trailers:only,unfold,separator=%x2C)")
    assert shown == (
        "Ada <ada@example.com> 2026-01-02T03:04:05+00:00|Ada 2026-01-02T03:04:05+00:00|Phase 1|"
        f"Asbuilt-Run: {RUN},Asbuilt-Phase: 1"
    )


def test_what_another_run_has_landed_already_is_not_put_there_again(shop: Shop) -> None:
    one = shop.phase("1", {"one.py": "1\n"}, run="r1")
    two = shop.phase("2", {"two.py": "2\n"}, onto=one, run="r2")
    shop.commit("a colleague", {"README.md": "moved\n"})
    landed = _candidate(shop, one)
    assert isinstance(land(shop.repository, shop.intent(landed.tip), shop.room), Landed)
    both = _candidate(shop, one, two)
    assert (both.present, [name for name, _ in both.commits]) == (((one, landed.tip),), [two])
    assert both.top == both.tip
    assert _candidate(shop, one).top == shop.tip()


def test_a_conflict_moves_nothing_and_names_the_files(shop: Shop) -> None:
    proven = shop.phase("1", {"src/app.py": "one\nmine\nthree\n"})
    shop.plan_branch(proven)
    shop.commit("a colleague", {"src/app.py": "one\ntheirs\nthree\n"})
    before = user_state(shop)
    conflict = pick(shop.repository, onto=shop.tip(), commits=[proven], run=RUN)
    assert conflict == Conflict(commit=proven, paths=("src/app.py",), onto=shop.tip())
    assert user_state(shop) == before
    assert held(shop.repository, RUN) is None


def test_landing_twice_is_one_landing(shop: Shop) -> None:
    proven = shop.phase("1", {"src/app.py": "one\n"})
    shop.commit("a colleague", {"README.md": "moved\n"})
    candidate = _candidate(shop, proven)
    intent = shop.intent(candidate.tip)
    assert isinstance(land(shop.repository, intent, shop.room), Landed)
    assert land(shop.repository, intent, shop.room) == Landed(
        ref="refs/heads/main", new=candidate.tip, already=True
    )
    again = pick(shop.repository, onto=shop.tip(), commits=[proven], run=RUN)
    assert again == Candidate(
        onto=candidate.tip,
        tip=candidate.tip,
        commits=(),
        present=((proven, candidate.tip),),
        since=candidate.tip,
    )


def test_what_was_landed_before_is_found_with_the_marks_that_it_brought(shop: Shop) -> None:
    proven = shop.phase("1", {"src/app.py": "one\n"})
    mark = Edit(files={"plan.md": b"done\n"}, message=message_for("Mark", Asbuilt_Run=RUN), by=ADA)
    candidate = add_files(shop.repository, _candidate(shop, proven), mark, run=RUN)
    land(shop.repository, shop.intent(candidate.tip), shop.room)
    later = shop.commit("a colleague", {"README.md": "later\n"})
    again = pick(shop.repository, onto=later, commits=[proven], run=RUN)
    assert isinstance(again, Candidate)
    assert (again.tip, again.since) == (later, candidate.tip)
    other = Edit(files={"plan.md": b"open\n"}, message=message_for("Mark", Asbuilt_Run=RUN), by=ADA)
    assert add_files(shop.repository, again, other, run=RUN).since is None


def test_what_landed_is_undone_by_one_revert_each_and_can_land_again(shop: Shop) -> None:
    first = shop.phase("1", {"src/app.py": "1\n"})
    second = shop.phase("2", {"new.py": "2\n"}, onto=first)
    land(shop.repository, shop.intent(_candidate(shop, first, second).tip), shop.room)
    later = shop.commit("a colleague", {"README.md": "later\n"})
    undo = revert(shop.repository, onto=later, commits=[first, second], run=RUN, by=ADA)
    assert isinstance(undo, Candidate)
    assert isinstance(land(shop.repository, shop.intent(undo.tip), shop.room), Landed)
    assert shop.git("log", "--format=%s", "-4") == 'Revert "Phase 1"\nRevert "Phase 2"\na colleague\nPhase 2'
    assert (shop.root / "src/app.py").read_text() == "one\ntwo\nthree\n"
    assert not (shop.root / "new.py").exists()
    assert (shop.root / "README.md").read_text() == "later\n"
    assert [(one.phase, one.undone) for one in outcomes(shop.repository, shop.tip(), RUN)] == [
        ("1", True),
        ("2", True),
    ]
    assert isinstance(
        land(shop.repository, shop.intent(_candidate(shop, first, second).tip), shop.room), Landed
    )
    assert (shop.root / "src/app.py").read_text() == "1\n"


def test_the_plans_marks_are_the_last_commit_of_a_candidate(shop: Shop) -> None:
    shop.commit("plan", {"plans/rate-limit.md": "- [ ] it\n"})
    proven = shop.phase("1", {"src/app.py": "1\n"})
    candidate = _candidate(shop, proven)
    edit = Edit(
        files={"plans/rate-limit.md": b"- [x] it\n"},
        message=message_for("Mark rate-limit", Asbuilt_Run=RUN),
        by=ADA,
    )
    marked = add_files(shop.repository, candidate, edit, run=RUN)
    assert add_files(shop.repository, marked, edit, run=RUN) == marked
    assert isinstance(land(shop.repository, shop.intent(marked.tip), shop.room), Landed)
    assert shop.git("show", "--format=%s", "--name-only", "HEAD") == "Mark rate-limit\n\nplans/rate-limit.md"
    assert (shop.root / "plans/rate-limit.md").read_text() == "- [x] it\n"


def test_a_live_lock_is_waited_for_and_never_removed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    new = shop.phase("1", {"src/app.py": "1\n"})
    lock = shop.root / ".git/index.lock"
    lock.write_bytes(b"")
    opened = threading.Timer(0.5, lock.unlink)
    opened.start()
    assert isinstance(land(shop.repository, shop.unprepared(new), shop.room), Landed)
    opened.join()

    lock.write_bytes(b"somebody's")
    monkeypatch.setattr("asbuilt.git.landing.land._PATIENCE_S", 0.3)
    newer = shop.phase("2", {"src/app.py": "2\n"})
    started = time.monotonic()
    refused = land(shop.repository, shop.unprepared(newer), shop.room)
    assert isinstance(refused, Refused)
    assert refused.kind == "locked"
    assert time.monotonic() - started < 10
    assert lock.read_bytes() == b"somebody's"
    assert recover(shop.repository, shop.unprepared(newer)).__class__.__name__ == "NotMoved"
    assert lock.exists()


@pytest.mark.parametrize(("program", "word"), [("mv", "-f"), ("cp", "-p")])
def test_a_landing_goes_through_when_a_program_of_it_was_killed(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, program: str, word: str
) -> None:
    new = shop.phase("1", {"src/app.py": "landed\n", "new.py": "new\n"})
    intent = shop.intent(new)
    monkeypatch.setenv("PATH", killed_once(shop.room / "killed", program, word))
    landed = land(shop.repository, intent, shop.room)
    assert landed == Landed(ref="refs/heads/main", new=new, checkout=str(shop.root))
    assert (shop.room / "killed/once").is_dir()
    assert (shop.tip(), shop.git("status", "--porcelain")) == (new, "")


def test_hooks_and_settings_of_the_repository_are_not_run_by_a_landing(shop: Shop, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    for name in ("pre-push", "post-receive", "update", "pre-receive", "post-update", "push-to-checkout",
                 "reference-transaction", "post-checkout", "post-index-change"):  # fmt: skip
        hook = shop.root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >>'{trace}'\n")
        hook.chmod(0o755)
    monitor = tmp_path / "monitor"
    monitor.write_text(f"#!/bin/sh\necho monitor >>'{trace}'\n")
    monitor.chmod(0o755)
    shop.git("config", "core.fsmonitor", str(monitor))
    trace.unlink(missing_ok=True)
    proven = shop.phase("1", {"src/app.py": "1\n"})
    trace.unlink(missing_ok=True)
    candidate = _candidate(shop, proven)
    assert isinstance(land(shop.repository, shop.intent(candidate.tip), shop.room), Landed)
    assert not trace.exists()


def test_whoever_was_replaced_moves_nothing_however_late_it_is_asked(shop: Shop) -> None:
    first = shop.phase("1", {"src/app.py": "one\n"})
    intent = shop.intent(_candidate(shop, first).tip)
    before = user_state(shop)

    def replaced() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        land(shop.repository, intent, shop.room, hold=replaced)
    assert user_state(shop) == before
    assert land(shop.repository, intent, shop.room) == Landed(
        ref="refs/heads/main", new=first, checkout=str(shop.root)
    )
