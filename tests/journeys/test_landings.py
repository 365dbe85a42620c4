from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from asbuilt.events.landings import (
    LandingDone,
    LandingIntended,
    LandingRecovered,
    LandingRefused,
    LandingTidied,
    LandingUndone,
    LandingUnsigned,
)
from asbuilt.events.phases import PhaseProven
from asbuilt.events.plans import PlanCompleted
from asbuilt.events.runs import ReportWritten, RunEnded
from asbuilt.journal.blobs import Blobs
from tests.journeys.shop import ALL, LANDED, PLAN, SCRIPT
from tests.journeys.untouched import Before

if TYPE_CHECKING:
    from tests.journeys.shop import Shop

pytestmark = pytest.mark.crash
# What does not depend on the store is seen on one of them.
on_sqlite = pytest.mark.parametrize("where", ["sqlite"], indirect=True)

MAIN = ("refs/heads/main",)
TESTS = "sh tests.sh"
RUNNER = """\
ran=0; failed=0
for file in *.py; do
  ran=$((ran+1))
  if [ -e "$file" ] && ! { [ -s "$file" ] && python3 "$file" >&2; }; then failed=1; fi
done
if [ -e broken ]; then failed=1; fi
echo "$ran passed, $failed failed"
exit $failed
"""


def ends(shop: Shop, **options: Any) -> tuple[str, str]:  # noqa: ANN401
    """Ask for a run, and let a worker bring it to its end."""
    run = shop.request(**options)
    if shop.worker is None or shop.worker.poll() is not None:
        shop.start()
    return shop.over(run)


def report(shop: Shop) -> str:
    return Blobs(shop.home / "blobs").get(shop.events(ReportWritten)[-1].report).decode()


def dirty(shop: Shop) -> Before:
    """Leave some of everything in the checkout that is the user's alone."""
    shop.commit(".gitignore", "*.env\n", "ignore")
    shop.commit("notes.txt", "one\n", "notes")
    shop.write("notes.txt", "stashed\n")
    shop.git("stash")
    shop.write("notes.txt", "unstaged\n")
    shop.write("staged.txt", "staged\n")
    shop.git("add", "staged.txt")
    shop.write("secret.env", "s3cret\n")
    return Before(shop.checkout)


def test_what_was_held_lands_by_a_run_that_lands(shop: Shop) -> None:
    dirty(shop)
    assert ends(shop, mode="finish", hold=True) == (
        "held", "proven; landing was not requested",
    )  # fmt: skip
    shop.compare()
    shop.lands(*LANDED)
    assert shop.log("asbuilt/plan") == [*ALL[1:-1], "notes", "ignore", "start"]
    assert "## Proven on `asbuilt/plan`, not landed" in report(shop)
    assert ends(shop, kind="land") == ("landed", "")
    assert shop.log() == [*ALL[:-1], "notes", "ignore", "start"]
    assert shop.git("branch", "--list", "asbuilt/*") == ""
    assert shop.events(LandingTidied)[-1].branch == "removed"
    assert list((shop.home / "workspaces").rglob("greet.py")) == []
    landed = shop.git("log", "--format=%h", "--abbrev=10", "main").splitlines()
    assert f"- Phase 3: `{landed[1]}`" in report(shop)
    assert len(shop.events(PlanCompleted)) == 1
    assert ends(shop, kind="land") == (
        "done", "nothing to land: the target has all proven commits",
    )  # fmt: skip
    assert ends(shop, mode="finish") == (
        "done", "the plan is already complete: every phase is done",
    )  # fmt: skip


def test_a_later_run_builds_on_what_is_not_landed_and_lands_it_all(shop: Shop) -> None:
    dirty(shop)
    assert ends(shop, mode="phase", hold=True)[0] == "held"
    assert ends(shop, mode="phase", hold=True)[0] == "held"
    assert shop.log("asbuilt/plan") == ["Part", "Greet", "notes", "ignore", "start"]
    shop.commit("theirs.txt", "theirs", "theirs")
    shop.lands(*LANDED)
    assert ends(shop, mode="finish") == ("landed", "")
    assert shop.log() == [*ALL[:-1], "theirs", "notes", "ignore", "start"]
    assert [proven.phase for proven in shop.events(PhaseProven)] == ["1", "2a", "2b", "3"]


@on_sqlite
@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_a_plan_branch_that_is_not_as_it_was_left_stops_a_run_with_words(shop: Shop, how: str) -> None:
    assert ends(shop, mode="phase", hold=True)[0] == "held"
    at = shop.git("rev-parse", "asbuilt/plan")
    what = "asbuilt/plan is gone"
    if how == "deleted":
        shop.git("branch", "-D", "asbuilt/plan")
    else:
        moved = shop.git("commit-tree", "-p", at, "-m", "mine", f"{at}^{{tree}}")
        shop.git("branch", "--force", "asbuilt/plan", moved)
        what = f"asbuilt/plan was moved to {moved[:12]}"
    assert ends(shop, kind="land") == (
        "failed",
        (
            f"{what}. Why: It had proven work that is not landed: phase 1, at {at[:12]}. "
            "Put it back; asbuilt land plan --undo drops that work instead. "
            f"Next: `git branch --force asbuilt/plan {at[:12]}`"
        ),
    )
    assert shop.log() == ["start"]
    shop.git("branch", "--force", "asbuilt/plan", at)
    shop.lands("greet.py", "plan.md")
    assert ends(shop, kind="land") == ("landed", "")


def test_direct_lands_each_phase_as_soon_as_it_is_proven(shop: Shop) -> None:
    dirty(shop)
    assert ends(shop, mode="phase", hold=True)[0] == "held"
    shop.lands(*LANDED)
    assert ends(shop, mode="finish", landing="direct") == ("landed", "")
    marks = [ALL[0]]
    assert shop.log() == [
        *marks, "Both", *marks, "Shout", *marks, "Part", *marks, "Greet", "notes", "ignore", "start",
    ]  # fmt: skip
    kinds = [kind for kind in shop.kinds() if kind in ("phase.proven", "landing.done")]
    assert kinds == ["phase.proven", "landing.done"] * 4
    assert shop.git("branch", "--list", "asbuilt/*") == ""
    assert (shop.checkout / "plan.md").read_text(encoding="utf-8").count("- [x]") == 4


def test_an_undo_takes_back_what_a_run_landed_and_a_run_after_it_works_again(shop: Shop) -> None:
    shop.commit("tests.sh", RUNNER, "tests")
    before = dirty(shop)
    shop.lands(*LANDED)
    assert ends(shop, mode="finish", tests=TESTS) == ("landed", "")
    plan = (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert plan.count("- [x]") == 4
    assert ends(shop, kind="undo", tests=TESTS) == ("undone", "")
    assert shop.log()[:5] == ["Reopen plan.md", *(f'Revert "{one}"' for one in reversed(ALL[1:-1]))]
    before.same_except((), refs=MAIN)
    assert (shop.checkout / "plan.md").read_text(encoding="utf-8") == PLAN
    assert len(shop.events(LandingUndone)) == 1
    assert ends(shop, mode="finish", tests=TESTS) == ("landed", "")
    assert shop.log()[:5] == ALL[:-1]
    assert ends(shop, kind="undo", of="nobody")[1] == (
        "nothing to undo: no proven work of run nobody is left"
    )


@on_sqlite
def test_an_undo_of_work_that_is_not_landed_keeps_it_under_a_ref(shop: Shop) -> None:
    assert ends(shop, mode="phase", hold=True)[0] == "held"
    at = shop.git("rev-parse", "asbuilt/plan")
    state, reason = ends(shop, kind="undo")
    assert (shop.log(), shop.git("branch", "--list", "asbuilt/*")) == (["start"], "")
    (kept,) = shop.git(
        "for-each-ref", "--format=%(objectname) %(refname)", "refs/asbuilt/undone"
    ).splitlines()
    assert kept.startswith(f"{at} refs/asbuilt/undone/")
    said = f"nothing had landed; the proven work is kept under {kept.split()[1]}"
    assert (state, reason) == ("undone", said)
    assert [(one.reverted, one.words) for one in shop.events(LandingUndone)] == [(False, said)]
    assert [one.moved for one in shop.events(LandingDone) if one.reverts] == [False]
    shop.compare()
    shop.lands("greet.py", "plan.md")
    assert ends(shop, mode="phase") == ("landed", "")
    assert shop.log() == ["Mark plan.md", "Greet", "start"]


@on_sqlite
def test_on_a_red_target_nothing_lands_until_it_is_mended(shop: Shop) -> None:
    shop.commit("tests.sh", RUNNER, "tests")
    assert ends(shop, mode="phase", hold=True, tests=TESTS)[0] == "held"
    shop.commit("broken", "", "break it")
    red = shop.git("rev-parse", "--short=10", "main")
    assert ends(shop, kind="land", tests=TESTS) == (
        "failed",
        (
            f"Not landed: main itself fails its tests at {red}. On a red target nothing could be proven. "
            "Nothing moved. Fix main first. Next: `sh tests.sh` `# fails on main: commit a fix there`"
        ),
    )
    assert shop.log() == ["break it", "tests", "start"]
    assert "## Run failed - " in report(shop)
    assert "- Land the proven phases: `asbuilt land plan`" in report(shop)
    shop.commit("broken", None, "mend it")
    shop.lands("greet.py", "plan.md")
    assert ends(shop, kind="land", tests=TESTS) == ("landed", "")
    assert shop.log()[:3] == ["Mark plan.md", "Greet", "mend it"]


@on_sqlite
def test_a_conflict_is_told_with_a_way_on_that_works(shop: Shop) -> None:
    assert ends(shop, mode="phase", hold=True)[0] == "held"
    shop.commit("greet.py", "theirs\n", "theirs")
    state, reason = ends(shop, kind="land")
    assert state == "failed"
    assert reason.startswith("Not landed: greet.py changed on main too")
    shop.compare()
    (refused,) = shop.events(LandingRefused)
    assert (refused.next, refused.other) == (
        "`git switch main && git merge asbuilt/plan`",
        "drop the proven work, to run it again: `asbuilt land plan --undo`",
    )
    (ended,) = shop.events(RunEnded)[-1:]
    assert (ended.next, ended.other) == (refused.next, refused.other)
    shop.git("merge", "-q", "-X", "theirs", "-m", "by hand", "asbuilt/plan")
    shop.before = Before(shop.checkout)
    shop.lands("plan.md")
    assert ends(shop, kind="land") == ("landed", "")
    assert (shop.events(LandingDone)[-1].by_hand, shop.log()[:2]) == (True, ["Mark plan.md", "by hand"])
    assert "- [x] `greet.py` says hello" in (shop.checkout / "plan.md").read_text(encoding="utf-8")


@on_sqlite
def test_a_failed_run_says_in_its_report_what_and_how_to_go_on(shop: Shop) -> None:
    shop.script.write_text(SCRIPT.replace("goodbye", "still wrong"), encoding="utf-8")
    assert ends(shop, mode="finish")[0] == "failed"
    text = report(shop)
    assert "- Phase: 2a\n- What: phase 2a is not proven after 2 fixes" in text
    assert "- State: 1 phase proven on `asbuilt/plan`. Nothing was thrown away." in text
    assert "- Kept: `" in text
    assert "- Try again: `asbuilt run plan`\n- Land the proven phases: `asbuilt land plan`" in text
    assert text.index("## Phase 2a: Part") < text.index("## Phase 1: Greet")
    shop.script.write_text(SCRIPT, encoding="utf-8")
    shop.lands(*LANDED)
    assert ends(shop, mode="finish") == ("landed", "")
    assert shop.log() == ALL


@on_sqlite
def test_a_plan_with_a_status_of_its_own_is_completed_and_opened_again(shop: Shop) -> None:
    text = "---\ntitle: Greetings\nstatus: active\n---\n" + PLAN[: PLAN.index("## Phase 2a")]
    shop.commit("plan.md", text, "status")
    shop.lands("greet.py", "plan.md")
    assert ends(shop, mode="phase") == ("landed", "")
    after = (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert "status: complete\ncompleted: " in after
    assert ends(shop, kind="undo") == ("undone", "")
    opened = (shop.checkout / "plan.md").read_text(encoding="utf-8")
    assert opened == text.replace("status: active\n", "status: active\ncompleted: TBD\n")


@on_sqlite
def test_a_phase_whose_own_check_fails_on_the_new_tip_does_not_land(shop: Shop) -> None:
    check = "- `grep -q hello greet.py`\n"
    text = PLAN.replace(check, check + "- `test ! -e forbidden`\n")
    shop.commit("plan.md", text, "one check more")
    assert ends(shop, mode="phase", hold=True)[0] == "held"
    shop.commit("forbidden", "", "theirs")
    tip = shop.git("rev-parse", "--short=10", "main")
    state, reason = ends(shop, kind="land")
    assert state == "failed"
    assert reason.startswith(
        f"Not landed: on main at {tip} it is not proven: phase 1: test ! -e forbidden: FAIL, exit 1"
    )


@on_sqlite
@pytest.mark.parametrize("key", ["usable", "gone"])
def test_what_lands_is_signed_where_git_would_sign_and_never_fails_for_a_key(shop: Shop, key: str) -> None:
    file = shop.home.parent / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True)  # noqa: S607
    if key == "gone":
        file.unlink()
        file.with_suffix(".pub").unlink()
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", str(file)), ("commit.gpgsign", "true")):
        shop.git("config", name, value)
    shop.lands("greet.py", "plan.md")
    assert ends(shop, mode="phase") == ("landed", "")
    signed = ["gpgsig" in shop.git("cat-file", "commit", commit) for commit in ("main", "main~1")]
    assert signed == [key == "usable"] * 2
    assert len(shop.events(LandingUnsigned)) == (key == "gone")
    assert shop.git("branch", "--list", "asbuilt/*") == ""


@pytest.mark.parametrize("point", ["run.started", "landing.intended", "landing.done"])
@pytest.mark.parametrize("kind", ["land", "undo"])
def test_a_landing_or_undo_killed_at_any_point_goes_on(shop: Shop, kind: str, point: str) -> None:
    before = dirty(shop)
    shop.lands("greet.py", "plan.md")
    assert ends(shop, mode="phase", hold=kind == "land")[0] in ("held", "landed")
    seen = shop.kinds().count(point)
    run = shop.request(kind=kind)
    shop.until(lambda: shop.kinds().count(point) > seen)
    shop.kill()
    shop.start()
    assert shop.over(run) == ({"land": "landed", "undo": "undone"}[kind], "")
    landed = ["Mark plan.md", "Greet", "notes", "ignore", "start"]
    assert shop.log() == (landed if kind == "land" else ["Reopen plan.md", 'Revert "Greet"', *landed])
    before.same_except(("greet.py", "plan.md") if kind == "land" else (), refs=MAIN)


@on_sqlite
def test_a_landing_cut_off_in_the_checkout_is_settled_before_it_is_tried_again(shop: Shop) -> None:
    shop.before = dirty(shop)
    shop.lands("greet.py", "plan.md")
    git_dir = shop.checkout / ".git"
    # The lock of another git makes the mover wait between its intent and its move.
    (git_dir / "index.lock").write_text("another git", encoding="ascii")
    run = shop.request(mode="phase")
    shop.start()
    shop.until(lambda: "landing.intended" in shop.kinds())
    shop.kill()
    assert shop.kinds()[-1] == "landing.intended"
    (intent,) = shop.events(LandingIntended)
    # So does one look that was killed in the middle: a note, our lock, and a file cut short.
    (git_dir / "asbuilt-landing").write_text(f"{intent.old} {intent.new}\n", encoding="ascii")
    (git_dir / "index.lock").write_text("asbuilt landing 4711\n", encoding="ascii")
    (shop.checkout / "greet.py").write_text("print('he", encoding="utf-8")
    shop.start()
    assert shop.over(run) == ("landed", "")
    (recovered,) = shop.events(LandingRecovered)
    assert (recovered.found, recovered.restored, recovered.left) == ("NotMoved", 1, ())
