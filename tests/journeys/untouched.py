"""What is the user's, drawn before a run and compared after it: byte for byte, except what landed."""

from __future__ import annotations

import hashlib
import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Before:
    """A checkout as it was: files, index, stash, HEAD, and every ref that is not ours."""

    def __init__(self, checkout: Path, *, target: str = "refs/heads/main") -> None:
        self._checkout = checkout
        self._target = target
        self._was = self._drawn()

    def same_except(self, paths: set[str]) -> None:
        """Assert that nothing differs but the target's tip and these paths."""
        now = self._drawn()
        assert {path: now["files"].get(path) for path in self._was["files"] if path not in paths} == {
            path: mark for path, mark in self._was["files"].items() if path not in paths
        }
        assert set(now["files"]) - set(self._was["files"]) <= paths
        assert _but(now["index"], paths) == _but(self._was["index"], paths)
        assert _but(now["status"], paths) == _but(self._was["status"], paths)
        for matter in ("head", "stash", "refs", "locks"):
            assert now[matter] == self._was[matter], matter

    def _drawn(self) -> dict[str, dict[str, str]]:
        refs = dict(
            line.split(" ", 1) for line in self._git("for-each-ref", "--format=%(refname) %(objectname)")
        )
        ours = ("refs/asbuilt/", "refs/heads/cp-")
        return {
            "files": {
                str(path.relative_to(self._checkout)): _mark(path)
                for path in sorted(self._checkout.rglob("*"))
                if ".git" not in path.relative_to(self._checkout).parts and not path.is_dir()
            },
            "index": {
                path: facts
                for facts, path in (line.split("\t", 1) for line in self._git("ls-files", "--stage"))
            },
            "status": {
                line[3:]: line[:2]
                for line in self._git("status", "--porcelain", "--ignored", "--untracked-files=all")
            },
            "head": {"HEAD": (self._checkout / ".git/HEAD").read_text(encoding="ascii")},
            "stash": dict.fromkeys(self._git("stash", "list"), ""),
            "refs": {ref: at for ref, at in refs.items() if not ref.startswith(ours) and ref != self._target},
            "locks": {path.name: "" for path in (self._checkout / ".git").glob("*.lock")},
        }

    def _git(self, *arguments: str) -> list[str]:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        said = subprocess.run(
            ["git", "--no-optional-locks", "-c", "core.quotePath=false", *arguments],  # noqa: S607
            cwd=self._checkout,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return said.stdout.splitlines()


def _mark(path: Path) -> str:
    if path.is_symlink():
        return f"link {path.readlink()}"
    return f"{path.stat().st_mode & 0o777:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def _but(drawn: dict[str, str], paths: set[str]) -> dict[str, str]:
    return {path: mark for path, mark in drawn.items() if path not in paths}
