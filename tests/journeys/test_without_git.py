"""Without git on PATH, each command that needs it names it as what is missing."""

from __future__ import annotations

import pytest

from tests.journeys.test_commands import Office, office

__all__ = ["office"]
pytestmark = pytest.mark.crash
NEEDS_GIT = (
    "run greet --finish --auto", "run greet --dry-run", "author shout", "land greet", "clean", "verify greet",
    "log --attempts greet.1.1.1", "task add shout", "task plan 1", "task export", "plan check greet --try",
    "plan refine greet shout", "init", "claim list", "approve", "watch greet", "stop greet", "demo",
)  # fmt: skip
NEEDS_NONE = ("status", "plan list", "plan show greet", "log greet", "report greet", "doctor")


def test_each_command_that_needs_git_says_that_there_is_none(office: Office) -> None:
    assert office.asbuilt("task", "add", "greet").startswith("exit 0")
    assert "1 phase proven" in office.run("1", "--auto")
    office.environ["PATH"] = "/nowhere"
    shown = {typed: office.asbuilt(*typed.split()) for typed in (*NEEDS_GIT, *NEEDS_NONE)}
    missing = {typed: "error: there is no git on PATH" in text for typed, text in shown.items()}
    assert missing == dict.fromkeys(NEEDS_GIT, True) | dict.fromkeys(NEEDS_NONE, False)
    assert not [text for text in shown.values() if text.startswith("exit 70")]
