"""A mark that a user made and took back in the plan's file no longer counts, for any command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_commands import Office, office

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["office"]
pytestmark = pytest.mark.crash


def _far(office: Office) -> tuple[list[str], list[str]]:
    """Return the marks of the phases as `plan show` and as `status` print them: v is done."""
    shown = (office.asbuilt(*words) for words in (("plan", "show", "greet"), ("status", "greet")))
    show, status = (re.findall(r"^ *([○✓!·]) +[123]", text, re.MULTILINE) for text in shown)
    return show, status


def _checkout(office: Office) -> None:
    office.git("checkout", "-q", "plans/greet.md")


def _made_anew(office: Office) -> None:
    plan = office.shop / "plans" / "greet.md"
    plan.unlink()
    _checkout(office)


@pytest.mark.parametrize("take_back", [_checkout, _made_anew])
def test_a_phase_whose_mark_was_taken_back_in_the_file_is_built(
    office: Office, take_back: Callable[[Office], None]
) -> None:
    office.asbuilt("plan", "mark", "greet", "1", "done")
    take_back(office)
    assert "0 of 4 phases marked done" in office.asbuilt("plan", "show", "greet")
    assert "0 of 4 phases done" in office.asbuilt("status", "greet")
    ran = office.run("--finish", "--auto")
    assert "greet.1 landed on main: 4 phases proven" in ran
    assert (office.shop / "greet.py").exists()


def test_after_a_run_the_commands_agree_on_what_a_mark_counts(office: Office) -> None:
    office.run("--auto")
    office.git("commit", "-qam", "as it is", "--allow-empty")
    office.asbuilt("plan", "mark", "greet", "2a", "done")
    counted = ("2 of 4 phases", "2 of 4 phases done")
    assert counted[0] in office.asbuilt("plan", "show", "greet")
    assert counted[1] in office.asbuilt("status", "greet")
    _checkout(office)
    for words in (("plan", "show", "greet"), ("status", "greet")):
        assert "1 of 4 phases" in office.asbuilt(*words)
    assert "1 of 4" in office.asbuilt("status")


def test_a_landed_phase_that_was_marked_pending_is_done_again_once_the_file_says_so(office: Office) -> None:
    office.run("--auto")
    assert "phase 1 is marked pending: its proof no longer counts" in office.asbuilt(
        "plan", "mark", "greet", "1", "pending"
    )
    assert "0 of 4 phases" in office.asbuilt("status", "greet")
    _checkout(office)
    for words in (("plan", "show", "greet"), ("status", "greet")):
        assert "1 of 4 phases" in office.asbuilt(*words)


def test_a_mark_that_reopens_a_proven_phase_says_so(office: Office) -> None:
    office.run()
    told = office.asbuilt("plan", "mark", "greet", "1", "pending")
    assert "already" not in told
    assert "phase 1 is marked pending: its proof no longer counts, and the next run builds it." in told
    assert "0 of 4 phases" in office.asbuilt("status", "greet")
    assert "phase 1 is marked pending already." in office.asbuilt("plan", "mark", "greet", "1", "pending")
