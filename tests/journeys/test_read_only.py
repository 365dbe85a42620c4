"""A repository that nobody may write: refused in words, by the command and by the worker."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.journeys.shop import Shop, one_store

if TYPE_CHECKING:
    from pathlib import Path

WHY = "asbuilt keeps workspaces, attempts and what it lands in the repository's git folder."


def _read_only(folder: Path) -> tuple[str, ...]:
    return (
        "bwrap",
        "--die-with-parent",
        "--bind",
        "/",
        "/",
        "--dev-bind",
        "/dev",
        "/dev",
        "--ro-bind",
        str(folder),
        str(folder),
    )


def _asbuilt(tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    """Give exit code, stdout and stderr of a command in a repository that is read-only."""
    shop = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", "-b", "main", shop], check=True)  # noqa: S607
    (shop / "plan.md").write_text("# A\n\n## Phase 1 — B\n", encoding="utf-8")
    done = subprocess.run(
        [*_read_only(shop), sys.executable, "-m", "asbuilt", *arguments],
        cwd=shop,
        env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _words(shown: str) -> str:
    """Take the breaks out: a long path is broken wherever the screen ends."""
    return "".join(shown.split())


def test_a_command_that_would_write_there_says_so(tmp_path: Path) -> None:
    code, said, told = _asbuilt(tmp_path, "verify", "plan.md")
    assert (code, said) == (4, "")
    assert _words(told) == _words(
        f"error: {tmp_path / 'shop'}/.git is read-only for you Why: {WHY} Next: ls -ld"
        f" {tmp_path / 'shop'}/.git # names its owner # or work in a clone of it"
    )
    assert not (tmp_path / "home").exists()


def test_the_doctor_says_so_too(tmp_path: Path) -> None:
    code, said, _ = _asbuilt(tmp_path, "doctor")
    assert code == 1
    git = f"✗ git {tmp_path / 'shop'}/.git is read-only for you; no commit yet Why: {WHY}"
    assert _words(said).startswith(_words(git))


@one_store
def test_a_run_that_meets_it_ends_in_the_same_words(shop: Shop) -> None:
    run = shop.request(mode="phase")
    shop.start(within=_read_only(shop.checkout))
    state, reason = shop.over(run)
    assert state == "failed"
    assert reason == (
        f"{shop.checkout}/.git is read-only for you. Why: {WHY} Next: `ls -ld {shop.checkout}/.git`"
        " names its owner; or work in a clone of it."
    )
