"""Real repositories in folders of their own; the developer's git settings are not seen."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PINNED = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def git() -> Callable[..., None]:
    """Give a function that runs git in a folder."""

    def run(folder: Path, *arguments: str) -> None:
        subprocess.run(  # git is found where the developer has it
            ["git", "-C", str(folder), *arguments],  # noqa: S607
            env={"PATH": os.environ["PATH"], **_PINNED},
            capture_output=True,
            check=True,
        )

    return run


@pytest.fixture
def shop(tmp_path: Path, git: Callable[..., None]) -> Path:
    """Make a repository with one commit on main."""
    root = tmp_path.resolve() / "shop-api"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Make the home of somebody without any plans."""
    folder = tmp_path.resolve() / "home"
    folder.mkdir()
    return folder
