"""Run the real command in a folder and a home of its own; exit code, stdout and stderr are one text."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asbuilt._version import VERSION
from asbuilt.policy.agent_kinds import KINDS
from tests.cli.nights import Night

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def without_agents(path: str) -> str:
    """Leave out of a PATH what has an agent in it: no test may find the one of whoever runs it."""
    programs = [kind.program for kind in KINDS.values() if kind.program]
    parts = (Path(part) for part in path.split(":"))
    return ":".join(str(one) for one in parts if not any((one / name).exists() for name in programs))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Make a repository with a first commit, which is empty."""
    root = tmp_path / "shop-api"
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)  # noqa: S607
    you = ("-c", "user.name=you", "-c", "user.email=you@shop.test")
    subprocess.run(["git", "-C", root, *you, "commit", "-q", "--allow-empty", "-m", "start"], check=True)  # noqa: S607
    return root


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Make an environment in which nothing of the person who runs the tests is seen."""
    # The organisation's file is named from the repository, so that no screen depends on a long folder's name.
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "PATH": without_agents(os.environ["PATH"]),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "ASBUILT_ORGANISATION_FILE": "../organisation.toml",
    }


@pytest.fixture
def named(environ: dict[str, str]) -> None:
    """Give git a name and an address, so that a command that commits works."""
    user = "[user]\n\tname = you\n\temail = you@shop.test\n"
    Path(environ["HOME"], ".gitconfig").write_text(user, encoding="utf-8")


@pytest.fixture
def asbuilt(tmp_path: Path, shop: Path, environ: dict[str, str]) -> Callable[..., str]:
    """Give a function that runs `asbuilt` and shows all that came out of it."""

    def run(*arguments: str, cwd: Path = shop, **more: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "asbuilt", *arguments],
            cwd=cwd,
            env=environ | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        shown = f"exit {done.returncode}\n"
        for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
            if text:
                shown += f"--- {name}\n{text.decode('utf-8', 'backslashreplace')}"
        for real, stable in (
            (str(tmp_path), "[TMP]"),
            (VERSION, "[VERSION]"),
            (platform.python_version(), "[PYTHON]"),
        ):
            shown = shown.replace(real, stable)
        return shown

    return run


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read the clock of this process as in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def quiet(tmp_path: Path, shop: Path) -> Iterator[Night]:
    """A journal with nothing in it yet, a worker, and the file of a plan."""
    (shop / "plans").mkdir()
    (shop / "plans" / "rate-limit.md").touch()
    night = Night(tmp_path, shop)
    night.wake()
    yield night
    night.close()
