"""What a landing that is declined, a scheduled plan and the log say of the runs of a plan."""

from __future__ import annotations

import json
import subprocess

import pytest

from asbuilt.events.attempts import TreeKept
from asbuilt.events.authoring import StageJudged
from asbuilt.events.options import RunOptions
from asbuilt.events.plans import DraftSetup, DraftTried
from asbuilt.events.pulls import PullSeen
from asbuilt.journal import schedules
from asbuilt.journal.events import open_plan
from asbuilt.journal.ids import LOCAL
from asbuilt.journal.schedules import Schedule
from tests.cli.nights import REPO, Night
from tests.cli.plans import RATE_LIMIT, put
from tests.cli.screens import shown


@pytest.mark.parametrize("undo", [(), ("--undo",)], ids=["land", "undo"])
def test_a_landing_that_a_parked_run_declines_returns_5_and_names_the_runs_own_next_command(
    quiet: Night, undo: tuple[str, ...]
) -> None:
    story = quiet.plan("rate-limit", "20:00:00", auto=False)
    story.prove("20:30:00", "1", "4f1c9a2")
    story.land("20:31:00", **{"1": "4f1c9a2"})
    story.over("20:31:30", "landed")
    quiet.plan("rate-limit", "20:32:00", auto=False).ask("20:33:00", "2a")
    said = shown(quiet, ("land", "rate-limit", *undo), "plain", 80)
    assert said.startswith("exit 5\n--- stdout\nDeclined: rate-limit is already running as rate-limit.2 ")
    assert said.splitlines()[-2].startswith("Next: asbuilt approve yes a1")
    told = shown(quiet, ("land", "rate-limit", *undo, "--json"), "plain", 80).splitlines()
    assert (told[0], json.loads(told[2])) == (
        "exit 5",
        {"schema": "asbuilt.run/1", "run": "rate-limit.2", "state": "declined", "exit": 5},
    )


@pytest.mark.parametrize("undo", [(), ("--undo",)], ids=["land", "undo"])
def test_a_landing_shows_the_changed_settings_that_it_reads_and_no_others(
    quiet: Night, undo: tuple[str, ...]
) -> None:
    story = quiet.plan("rate-limit", "20:00:00")
    story.prove("20:30:00", "1", "4f1c9a2")
    story.land("20:31:00", **{"1": "4f1c9a2"})
    other = quiet.plan(
        "rate-limit", "20:32:00", auto=False, caps={"usd": 2.0}, depth="quick", limits={"checks_min": 3}
    )
    other.ask("20:33:00", "2a")
    said = shown(quiet, ("land", "rate-limit", *undo), "plain", 80).splitlines()
    assert [line for line in said if line.startswith("Settings ")] == [
        "Settings checks.minutes is now 45; it was 3"
    ]


def test_a_scheduled_plan_that_has_not_run_has_the_phases_of_its_file_and_is_listed_until_its_schedule_ends(
    quiet: Night,
) -> None:
    assert shown(quiet, ("run-plan", "next"), "plain", 80).splitlines()[2] == "Nothing is scheduled."
    put(quiet.shop, rate_limit=RATE_LIMIT)
    at = "2099-11-14T08:00:00.000Z"
    wanted = Schedule(
        LOCAL, REPO, "plans/rate-limit.md", "s1", "rate-limit", "day at 9am", "UTC", RunOptions(kind="run"),
        "ann", at, at, at, at,
    )  # fmt: skip
    with quiet.store.write() as session:
        open_plan(session, wanted.address, wanted.slug)
        schedules.set_(session, wanted)
    assert shown(quiet, ("stop", "rate-limit", "--pause"), "plain", 80) == (
        "exit 3\n--- stderr\nerror: rate-limit has no run to pause; it is scheduled (day at 9am)\n"
        "  Why:  A schedule is ended, not paused.\n"
        "  Next: asbuilt stop rate-limit --schedule\n"
    )
    told = shown(quiet, ("status", "rate-limit", "--json"), "plain", 80).partition("--- stdout\n")[2]
    (plan,) = json.loads(told)["plans"]
    assert [(one["id"], one["state"]) for one in plan["phases"]] == [
        ("1", "done"), ("2a", "ready"), ("2b", "ready"), ("3", "pending"),
    ]  # fmt: skip
    quiet.plan("exports", "20:00:00").begin("20:01:00", "1")
    assert "rate-limit" in shown(quiet, ("status",), "plain", 80)
    with quiet.store.write() as session:
        schedules.end(session, wanted.address, reason="enough", actor="ann")
    overview = shown(quiet, ("status",), "plain", 80)
    assert ("rate-limit" in overview, overview.splitlines()[-2]) == (False, "Next: asbuilt watch exports")
    with quiet.store.write() as session:
        schedules.set_(session, wanted._replace(schedule="s2"))
    (quiet.shop / "plans/rate-limit.md").unlink()
    assert "Scheduled: day at 9am" in shown(quiet, ("status", "rate-limit"), "plain", 80)
    assert "Nothing is scheduled." not in shown(quiet, ("run-plan", "next"), "plain", 80)


def test_no_plan_looks_finished_that_landed_in_part_or_was_only_approved(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "20:00:00")
    story.prove("20:30:00", "1", "4f1c9a2")
    story.land("20:31:00", **{"1": "4f1c9a2"})
    quiet.plan("exports", "21:00:00", kind="author").over("21:01:00", "done", "wrote plans/exports.md")
    assert [line.rstrip() for line in shown(quiet, ("status",), "plain", 80).splitlines()[3:5]] == [
        "○ exports       not run, approved 22:01    -",
        "○ rate-limit    1 of 4 landed 21:31        1 of 4",
    ]
    assert "exports   approved, not run\n" in shown(quiet, ("status", "exports"), "plain", 80)


def test_the_setup_before_the_checks_of_a_draft_is_named_until_they_have_run(quiet: Night) -> None:
    story = quiet.plan("exports", "21:20:00", {"draft": ("Write the plan", [])}, kind="author")
    accepted = StageJudged(phase="draft", number=1, outcome="accepted", stage="draft", round=1, finished="x")
    story.append("21:25:00", accepted, "judged")
    story.append("21:25:01", DraftSetup(command="pip install -e ."), "setup started")
    told = " ".join(shown(quiet, ("status", "exports"), "plain", 80).split())
    assert "asbuilt sets up a clean checkout (pip install -e .), then runs the draft's checks." in told
    story.append("21:30:00", DraftTried(number=1, rows=""), "tried")
    told = " ".join(shown(quiet, ("status", "exports"), "plain", 80).split())
    assert "asbuilt runs the draft's checks and saves it." in told


def test_a_sentence_as_the_id_of_a_phase_is_cut_at_a_word_in_tables_and_its_ref_is_whole(
    quiet: Night,
) -> None:
    first, second = "api-vat-py-has-vat-cents-that-returns-19", "the-report-calls-it"
    outline = {first: ("api/vat.py has vat(cents)", []), second: ("The report calls it", [first])}
    story = quiet.plan("vat", "21:20:00", outline)
    git = ["git", "-C", str(quiet.shop), "-c", "user.name=ann", "-c", "user.email=ann@example.org"]
    made = [*git, "commit-tree", "-p", "HEAD", "-m", "work", "HEAD^{tree}"]
    head = subprocess.run(made, check=True, capture_output=True, text=True).stdout
    ref = f"refs/asbuilt/attempts/{story.made.run}.{first}.1"
    subprocess.run([*git, "update-ref", ref, head.strip()], check=True)
    story.begin("21:22:00", first)
    story.end("21:30:00", first)
    kept = TreeKept(phase=first, number=1, commit=head.strip(), tree="d" * 40, changed=True)
    story.append("21:30:01", kept, "kept")
    assert shown(quiet, ("status", "vat"), "plain", 80).splitlines()[3:5] == [
        "● api-vat-py… api/vat.py has vat(cents)  checking                   since 22:30",
        "○ the-report… The report calls it        needs api-vat-py…",
    ]
    assert "api-vat-py…: checking" in shown(quiet, ("status",), "plain", 80)
    assert f"  {ref}\n" in shown(quiet, ("log", "vat", "--attempts"), "plain", 40)


def test_the_longest_word_of_the_log_is_followed_by_a_space(quiet: Night) -> None:
    story = quiet.plan("rate-limit", "20:00:00", landing="pr")
    story.append("20:31:00", PullSeen(state="open", asked_at="2099-11-13T20:31:00.000Z"), "pull/seen")
    log = shown(quiet, ("log", "rate-limit"), "plain", 80)
    assert "-   pull request open, checks none\n" in log
    assert "-   claim        taken\n" in log
