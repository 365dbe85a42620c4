"""`asbuilt mode plan` is what `/asbuilt:plan` says: it begins planning, or shows the plan that is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt.session.conversation import folder_of, hold_in, keep_hold, key_of

if TYPE_CHECKING:
    from collections.abc import Callable

INSIDE = {"CLAUDE_PID": str(os.getpid())}
"""As a command sees it that runs inside a conversation, whose agent this process is."""


@pytest.fixture
def folder(environ: dict[str, str]) -> Path:
    return Path(folder_of(environ, key_of(INSIDE)))


def test_outside_of_a_conversation_it_says_that_nothing_is_held(asbuilt: Callable[..., str]) -> None:
    assert asbuilt("mode", "plan") == (
        "exit 0\n--- stdout\n"
        "This terminal is in no conversation of Claude Code, so plan mode cannot be on\nhere.\n"
        "--- stderr\n"
        "Next: asbuilt session --plan -- claude\n      # starts one in a read-only sandbox\n"
    )


def test_it_begins_planning_with_the_folder_of_plans_to_write_to(
    asbuilt: Callable[..., str], shop: Path, folder: Path
) -> None:
    said = asbuilt("mode", "plan", **INSIDE)
    assert said == (
        "exit 0\n--- stdout\nEnabled plan mode. Read-only, except for a plan in plans. To turn it off,\n"
        "approve the plan or type: /asbuilt:plan exit\n"
    )
    hold = hold_in(str(folder))
    assert hold is not None
    assert (hold.by, hold.plans) == ("command", (str(shop / "plans"),))


def test_while_planning_it_shows_the_plan_once_there_is_one(
    asbuilt: Callable[..., str], shop: Path, folder: Path
) -> None:
    asbuilt("mode", "plan", **INSIDE)
    before = hold_in(str(folder))
    assert before is not None
    assert asbuilt("mode", "plan", **INSIDE).endswith("No plan written yet.\n")
    plan = shop / "plans" / "login.md"
    plan.parent.mkdir()
    plan.write_text("# Login\n\x1b[2J\n" + "a goal\n" * 300)
    # As the gate notes it when the plan is written.
    keep_hold(str(folder), before.changed(plans=(*before.plans, str(plan))))
    said = asbuilt("mode", "plan", **INSIDE)
    assert said.count("a goal\n") == 198
    assert said.endswith("\n102 lines more.\n")
    assert "\nPlan: plans/login.md\n\n# Login\n" in said
    assert "\x1b" not in said


def test_what_cannot_be_read_counts_as_held(asbuilt: Callable[..., str], folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "hold").write_text("{")
    said = asbuilt("mode", "plan", **INSIDE)
    assert "Plan mode counts as on, and every call is refused" in said
    assert (folder / "hold").read_text() == "{"
