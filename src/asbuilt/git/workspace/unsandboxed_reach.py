"""What an agent without a sandbox can reach in a repository, read before and after its work.

Rule: `reach` reads only what a user hardly changes meanwhile, so a difference is attributed to the agent.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from asbuilt.git.refs import listed
from asbuilt.git.repository import Repository
from asbuilt.git.workspace.workspaces import is_linked
from asbuilt.ports import Workspace

_PERSONS: Final = ("branch.", "remote.", "submodule.", "gui.", "user.")
"""Settings that git writes during normal work, such as a tracked branch or a remote; they are ignored."""
_SHOWN: Final = 120
_FILES: Final = 500
"""Maximum number of changed files that are compared by content; with more, none is."""
_LARGE: Final = 20_000_000


def reach(repository: Repository, workspace: Workspace, run: str) -> dict[str, str]:
    """Read what only asbuilt and git's own settings should change: name to content, or to its digest."""
    common = repository.common
    found = _settings(repository, common / "config")
    found |= _settings(repository, workspace.git_dir / "config.worktree")
    for name in ("info/attributes", "info/exclude", "objects/info/alternates"):
        found |= _digest(f".git/{name}", common / name)
    hooks = common / "hooks"
    for file in sorted(hooks.iterdir()) if hooks.is_dir() else ():
        if file.suffix != ".sample":
            found |= _digest(f".git/hooks/{file.name}", file)
    if not is_linked(workspace):
        found |= _digest("the workspace's .git", workspace.path / ".git") or {"the workspace's .git": "gone"}
    return found | dict(listed(repository, f"refs/asbuilt/attempts/{run}.*"))


def under_way(repository: Repository) -> dict[str, str]:
    """Read the files of the user's checkout that differ from its index, and its HEAD commit.

    Neither command starts a program from the repository's settings without the user's consent.
    """
    root = repository.root
    git = replace(repository.git, git_dir=repository.git_dir, work_tree=root)
    changed = git.run("diff-files", "-z", "--name-only", "--ignore-submodules=all").fields
    new = git.run("ls-files", "-z", "--others", "--exclude-standard").fields
    found = {"HEAD": git.line("rev-parse", "--verify", "HEAD")}
    differing = {*changed, *new}
    for name in map(os.fsdecode, differing if len(differing) <= _FILES else ()):
        found |= _digest(name, root / name) or {name: "gone"}
    return found


def _settings(repository: Repository, file: Path) -> dict[str, str]:
    if not file.is_file():
        return {}
    found: dict[str, str] = {}
    result = repository.git.run(
        "config", "--file", str(file), "--no-includes", "--list", "-z", allowed=(0, 1)
    )
    for field in result.fields:
        name, _, value = field.decode("utf-8", "replace").partition("\n")
        if not name.startswith(_PERSONS):
            key = f"git config {name}"
            found[key] = f"{found[key]}, {value[:_SHOWN]}" if key in found else value[:_SHOWN]
    return found


def _digest(name: str, file: Path) -> dict[str, str]:
    """Return a file's permissions and digest, or a link's target, by name; empty if it does not exist."""
    try:
        status = file.lstat()
        if file.is_symlink():
            return {name: f"a link to {file.readlink()}"}
        if not file.is_file() or status.st_size > _LARGE:
            return {name: f"{status.st_mode:o} {status.st_size}"}
        return {name: f"{status.st_mode & 0o777:o} {hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"}
    except OSError:
        return {}
