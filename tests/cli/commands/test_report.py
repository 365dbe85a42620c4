from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.events.attempts import DriftFound
from tests.cli.nights import Night, Phases
from tests.cli.screens import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def night(tmp_path: Path, shop: Path) -> Iterator[Night]:
    """A run of two phases that has landed, and one that has just begun."""
    night = Night(tmp_path, shop)
    story = night.plan("rate-limit", "20:00:00", {"1": ("Token bucket", []), "2": ("Limits", ["1"])})
    story.prove("20:10:00", "1", "4f1c9a2", cost_usd=0.84)
    story.prove("20:20:00", "2", "9d01c44", cost_usd=0.5)
    story.land("20:21:00", **{"1": "4f1c9a2", "2": "9d01c44"})
    night.plan("importer", "21:20:00")
    yield night
    night.close()


def asbuilt(night: Night, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Type a command, without a terminal and with little else around it."""
    base = {"HOME": str(night.shop.parent), "PATH": os.environ["PATH"], "ASBUILT_HOME": str(night.home.path)}
    return subprocess.run(
        [sys.executable, "-P", "-m", "asbuilt", *arguments],
        cwd=night.shop, env={**base, **environ}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if ".git" not in path.parts)


def test_an_authoring_that_has_failed_is_not_sent_to_be_run(night: Night) -> None:
    night.plan("exports", "21:25:00", kind="author").over("21:26:00", "failed", "draft was given up")
    assert shown(night, ("report", "exports"), "plain", 80) == snapshot("""\
exit 3
--- stderr
error: exports has not run yet: exports.1 did not finish the plan
  Why:  A report shows what a run promised and proved.
  Next: asbuilt status exports
""")


def test_a_run_that_is_under_way_has_a_page_already(night: Night) -> None:
    lines = shown(night, ("report", "importer", "--markdown"), "plain", 80).splitlines()
    assert lines[:3] == ["exit 0", "--- stdout", "# importer"]
    assert [line for line in lines if line.startswith(("**running**, ", "- 2a"))] == [
        lines[6],
        "- 2a Redis store, after 1",
    ]


def test_the_report_of_a_plan_has_the_phases_that_earlier_runs_proved_and_that_have_not_landed(
    night: Night,
) -> None:
    phases: Phases = {"1": ("Token bucket", []), "2": ("Limits", ["1"])}
    first = night.plan("limits", "21:00:00", phases)
    first.prove("21:01:00", "1", "aa01f3e")
    first.over("21:02:00", "held", "proven; landing was not requested")
    again = night.plan("limits", "21:03:00", phases, [("1", first.made.run, "aa01f3e")])
    again.prove("21:04:00", "2", "bb01f3e")
    again.over("21:05:00", "held", "proven; landing was not requested")
    lead = "Proven: 0 of 0 items, 0 of 0 checks."
    assert f"{lead} Phase 1 was proven by limits.1.\n" in shown(night, ("report", "limits"), "plain", 80)
    assert f"{lead}\n" in shown(night, ("report", "limits.2"), "plain", 80)
    page = asbuilt(night, "report", "limits", "--markdown").stdout
    assert [line for line in page.splitlines() if line.startswith(("## Phase ", "Proven as"))] == [
        "## Phase 2: Limits **proven**",
        "Proven as `bb01f3e000`. 1 attempt. Judged against the text frozen as `9c41`.",
        "## Phase 1: Token bucket **proven**",
        "Proven as `aa01f3e000`, by limits.1. 1 attempt. Judged against the text frozen as `9c41`.",
    ]


def test_what_waits_before_a_landing_is_proven_and_not_done(night: Night) -> None:
    story = night.plan("limits", "21:00:00", {"1": ("Token bucket", [])})
    story.prove("21:01:00", "1", "aa01f3e")
    story.ask("21:02:00", "1")
    assert "limits   waiting, 1 of 1 phase proven\n" in shown(night, ("status", "limits"), "plain", 80)


def test_a_landed_run_names_its_commits_time_and_cost(night: Night) -> None:
    lines = shown(night, ("report", "rate-limit", "--markdown"), "plain", 80).splitlines()
    assert [line for line in lines if line.startswith(("**", "- Phase", "- $", "- 21m"))] == [
        "**landed** on main, `9d01c44000`, 13 Nov 2099, 21:21 CET",
        "- 21m 00s from start to end",
        "- $1.34 at API prices",
        "- Phase 1: `4f1c9a2000`",
        "- Phase 2: `9d01c44000`",
    ]


def test_several_numbers_that_are_far_off_advise_once_to_refine_the_plan(night: Night) -> None:
    story = night.plan("limits", "21:00:00", {"1": ("Token bucket", []), "2": ("Limits", ["1"])}, auto=False)
    for minute, phase, far in (("01", "1", 1), ("05", "2", 2)):
        at = f"21:{minute}:00"
        story.begin(at, phase)
        story.end(at, phase)
        story.check(at, phase)
        found = DriftFound(phase=phase, number=1, numbers=night.blobs.put(b"[]"), far=far)
        story.append(at, found, f"{phase}/1/drift")
        said = [shown(night, (look, "limits"), "plain", 80) for look in ("status", "report")]
        advice = "! 3 numbers of the plan are off by more than 10 %: asbuilt plan refine limits\n"
        assert [one.count(advice) for one in said] == [phase == "2"] * 2
    page = asbuilt(night, "report", "limits", "--markdown").stdout
    assert (
        "- **drift** 3 numbers of the plan are off by more than 10 %: `asbuilt plan refine limits`\n" in page
    )
    assert json.loads(asbuilt(night, "report", "limits", "--json").stdout)["advice"] == (
        "asbuilt plan refine limits"
    )


def test_claims_about_numbers_and_an_edited_phase_are_on_every_report(night: Night) -> None:
    claims = (
        "an agent says that bullet 2 is 7 and not 5; no check of ours counts it",
        "an agent's word on drift cannot be read: PLAN-TEXT-DRIFT: phase=1",
    )
    edited = "its text was changed in the plan during the run, and the new text was built"
    story = night.plan("limits", "21:00:00", {"1": ("Token bucket", []), "2": ("Limits", ["1"])}, auto=False)
    for phase in ("1", "2"):
        story.begin("21:01:00", phase, edited=phase == "2")
        story.end("21:01:00", phase)
        story.check("21:01:00", phase)
    found = DriftFound(phase="1", number=1, numbers=night.blobs.put(b"[]"), notes=claims)
    story.append("21:02:00", found, "1/1/drift")
    text = " ".join(shown(night, ("report", "limits"), "plain", 80).split())
    page = asbuilt(night, "report", "limits", "--markdown").stdout
    notes = json.loads(asbuilt(night, "report", "limits", "--json").stdout)["notes"]
    assert [one["text"] for one in notes if one["text"] in (*claims, edited)] == [*claims, edited]
    for one in (*claims, edited):
        assert one in text
        assert one in page
    status = " ".join(shown(night, ("status", "limits"), "plain", 80).split())
    assert f"Note phase 2: {edited}" in status
    log = " ".join(shown(night, ("log", "limits"), "plain", 80).split())
    assert "2 edited its text was changed in the plan" in log


def test_the_page_is_copied_where_somebody_says_and_never_over_a_file(night: Night) -> None:
    before = everything_in(night.shop)
    first = asbuilt(night, "report", "rate-limit", "--to", "../reports")
    assert (first.returncode, first.stderr) == (0, "")
    folder = night.shop.parent / "reports"
    assert everything_in(folder) == ["rate-limit.1.html", "rate-limit.1.md"]
    assert first.stdout.splitlines() == [f"{folder}/rate-limit.1.html", f"{folder}/rate-limit.1.md"]
    (folder / "rate-limit.1.html").unlink()
    (folder / "rate-limit.1.md").write_text("signed off by me", encoding="utf-8")
    again = asbuilt(night, "report", "rate-limit", "--to", "../reports")
    assert "there is a rate-limit.1.md already in" in " ".join(again.stderr.split())
    taken = folder / "rate-limit.1.md"
    assert (again.returncode, again.stderr.splitlines()[-4:]) == (
        1,
        [
            "  Why:  An existing report is never overwritten.",
            "  Next:",
            f"        mv {taken} {taken}.old",
            "        # or name another folder",
        ],
    )
    assert (folder / "rate-limit.1.md").read_text(encoding="utf-8") == "signed off by me"
    assert everything_in(folder) == ["rate-limit.1.md"]
    assert everything_in(night.shop) == before


def test_a_page_that_cannot_be_written_says_so(night: Night) -> None:
    (night.shop.parent / "file").write_text("", encoding="utf-8")
    refused = asbuilt(night, "report", "rate-limit", "--to", "../file/reports")
    assert "the page cannot be written into" in " ".join(refused.stderr.split())
    assert (refused.returncode, refused.stderr.splitlines()[-2:]) == (
        1,
        [
            "  Why:  It is made from the journal each time, so nothing is lost.",
            "  Next: asbuilt report rate-limit.1 --to ~/reports",
        ],
    )


def test_the_page_lies_in_the_runs_folder_and_a_browser_is_given_it(night: Night) -> None:
    browser, seen = night.shop.parent / "browser", night.shop.parent / "seen"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}\n', encoding="utf-8")
    browser.chmod(0o700)
    before = everything_in(night.shop)
    opened = asbuilt(night, "report", "rate-limit", "--open", BROWSER=str(browser))
    page = night.home.runs / "r1" / "report.html"
    assert (opened.returncode, opened.stdout, opened.stderr) == (0, f"{page}\n", "")
    assert seen.read_text(encoding="utf-8") == str(page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert page.with_suffix(".md").read_text(encoding="utf-8").startswith("# rate-limit\n")
    assert everything_in(night.shop) == before


@pytest.mark.parametrize("browser", ["", "/nowhere/browser", "false", "'"])
def test_where_no_browser_starts_the_path_is_told(night: Night, browser: str) -> None:
    opened = asbuilt(night, "report", "rate-limit", "--open", BROWSER=browser)
    page = night.home.runs / "r1" / "report.html"
    assert (opened.returncode, opened.stdout, opened.stderr) == (
        0, f"{page}\n", "! No browser could be started; open that file yourself.\n",
    )  # fmt: skip


def test_a_script_gets_the_sums_and_the_files(night: Night) -> None:
    told = json.loads(asbuilt(night, "report", "rate-limit", "--to", "../reports", "--json").stdout)
    folder = night.shop.parent / "reports"
    assert told == {
        "schema": "asbuilt.report/1", "run": "rate-limit.1", "plan": "plans/rate-limit.md",
        "state": "landed", "at": "2099-11-13T20:00:00Z", "ended_at": "2099-11-13T20:21:00Z", "reason": "",
        "items": 0, "checks": 0, "items_proven": 0, "checks_passed": 0, "not_run": 0, "waived": 0,
        "notes": [], "cost": {"usd": 1.34, "tokens": None, "is_whole": True, "basis": "api_price"},
        "advice": None, "failures": [], "next": None,
        "files": [f"{folder}/rate-limit.1.html", f"{folder}/rate-limit.1.md"],
    }  # fmt: skip
