"""A machine with Python, git and the basic commands of a system, and nothing else."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.journeys.test_commands import Office, office

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["office"]
pytestmark = pytest.mark.crash
NEEDED = ("git", "sh", "cp", "ln", "mv", "rm", "grep")
"""Git, basic commands, and grep for the checks of the plan. No jq, perl, sed, awk or gh."""


def test_with_python_and_git_alone_a_plan_lands_and_what_is_missing_is_named(
    office: Office, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    office.environ |= {"PATH": str(programs), "GH_HOST": "forge.test"}
    said = " ".join(office.run("--finish", "--auto").split())
    assert "greet.1 landed on main: 4 phases proven" in said
    office.git("remote", "add", "origin", "https://forge.test/ann/shop.git")
    office.environ["ASBUILT_LANDING_MODE"] = "pr"
    shown = " ".join(office.asbuilt("doctor").split())
    assert "none of claude, codex, gemini, opencode, claude-acp found" in shown
    assert "there is no program gh on PATH" in shown
    assert "Install gh, then: gh auth login; landing by cherry-pick needs neither." in shown
