"""Somebody elsewhere on the same journal sees a plan, and answers it."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from tests.cli.inbox import DRAFT, TIGHTER, Desk, desk

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["desk"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Another checkout, which the journal has never heard of."""
    root = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)  # noqa: S607
    return root


def test_somebody_elsewhere_on_the_same_journal_sees_and_answers_it(desk: Desk, clone: Path) -> None:
    desk.draft(DRAFT)
    desk.draft(TIGHTER)
    desk.shop = clone
    assert desk.typed("approve", user="bob") == (
        "exit 0\n--- stdout\nNothing waits for you here.\n--- stderr\nNext: asbuilt status\n"
    )
    listed = re.sub(r" +\d+s$", " 2h", desk.typed("approve", "--all", user="bob"), flags=re.MULTILINE)
    assert listed == snapshot("""\
exit 0
--- stdout
  ID           KIND      ABOUT                             FROM              AGE
  shop-api:a2  plan      approve the plan “Rate limiting…  rate-limit.1 2h
--- stderr
Next: asbuilt approve show shop-api:a2
""")
    screen = desk.typed("approve", "show", "shop-api:a2", user="bob").splitlines()
    assert (screen[2], screen[-1]) == snapshot(
        (
            "Approve rate-limit?   shop-api:a2   revision 2, sha256:5606",
            "  or  edit it first: asbuilt approve yes shop-api:a2 --edit",
        )
    )
    assert desk.typed("approve", "yes", "shop-api:a1", user="bob").splitlines()[-1] == snapshot(
        "Next: asbuilt approve show shop-api:a2"
    )
    assert desk.typed("approve", "yes", "shop-api:a2", user="bob") == snapshot("""\
exit 0
--- stdout
✓ Approved Plan: bob, 21:48, revision 2
  plans/rate-limit.md is written next (not committed). Editing it needs a new
  approval.
  Phases 2a and 2b do not need each other.
""")
    assert [one.by for one in desk.drafts.approved] == ["bob"]


def test_a_question_is_answered_from_a_folder_that_is_in_no_repository(desk: Desk, tmp_path: Path) -> None:
    question = desk.ask("which store?")
    desk.shop = tmp_path / "nowhere"
    desk.shop.mkdir()
    assert f"shop-api:{question}" in desk.typed("approve", "--all")
    assert "which store?" in desk.typed("approve", "show", f"shop-api:{question}")
    assert desk.typed("approve", "yes", f"shop-api:{question}", "-m", "Redis").startswith("exit 0\n")
