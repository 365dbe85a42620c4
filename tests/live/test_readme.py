"""The session of docs/how-to/author.md, typed by a new user: a built wheel, an empty home, Claude Code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.live
ROOT = Path(__file__).parent.parent.parent


def test_from_installation_to_an_approved_plan_it_takes_the_two_commands_that_the_readme_shows() -> None:
    ended = subprocess.run(
        [sys.executable, str(ROOT / "scripts/two_commands.py"), "--check"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
