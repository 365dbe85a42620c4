"""Find what must be masked in folders that a sandbox shows.

A read-only mount stops neither a connection to a socket nor a write to a pipe below it. An installation may
contain credentials: in the settings of a package tool, or of a git clone.

Rule: this runs before every command, so it opens only files with names of settings, and searches 6 levels.
docs/explanation/security.md describes what is deeper.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from asbuilt.policy.masking import masked, without_logins
from asbuilt.policy.sandbox.rules import Placed

_LEVELS: Final = 6
_ENTRIES: Final = 4_000
_SIZE: Final = 200_000
_SETTINGS: Final = frozenset(
    {
        *("npmrc", ".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", "pip.ini", "settings.xml", ".condarc"),
        *("condarc", "hooks.json", "auth.json", ".gemrc", "gradle.properties", "nuget.config"),
        "Renviron.site",
    }
)
"""Files that may contain a login; those that do are masked."""
_LOGINS: Final = frozenset(
    {".env", ".netrc", "_netrc", ".pypirc", ".git-credentials", "credentials", "credentials.toml"}
)
_FOLDERS: Final = frozenset({"mod/cache/vcs"})
"""Go's clones, with their URLs."""
_GITS: Final = frozenset(
    {
        *("HEAD", "objects", "refs", "packed-refs", "config", "config.worktree", "info", "shallow", "index"),
        *("logs", "modules", "lfs", "commondir", "gitdir", "ORIG_HEAD", "reftable"),
    }
)
"""What git itself reads of its folder; other tools keep keys and URLs there.

Other worktrees are left out: they belong to other runs, which remove them at any time. The worktree that a
process works in is shown by its own path.
"""
_OURS: Final = "asbuilt-"
"""Prefix of asbuilt's own files there (`git.locks`, `git.workspace`, `git.landing`). They hold no login."""
_LOCK: Final = ".lock"
_PASSED_OVER: Final = frozenset(
    {
        *("bin", "sbin", "lib", "lib64", "libexec", "include", "share", "man", "doc", "docs", "node_modules"),
        *("objects", "refs", "logs", "site-packages", "src", "toolchains", "registry", "shims"),
    }
)
"""Folders of programs and of git objects: large, and without a user's settings."""
_GITS_SETTINGS: Final = (
    *("config", "config.worktree"),
    *("modules/*/config", "modules/*/*/config", "modules/*/modules/*/config", "modules/*/*/*/config"),
)


def masks_in(folders: Iterable[str]) -> tuple[str, ...]:
    """List the files and folders to mask below the shown folders."""
    return tuple(dict.fromkeys(path for folder in folders for path in _below(folder)))


def _below(folder: str) -> Iterator[str]:
    left = _ENTRIES
    level = [folder]
    for _ in range(_LEVELS):
        deeper: list[str] = []
        for place in level:
            # Search a git folder even when the limit of 4,000 entries is used up: it has few entries.
            if not left and not place.endswith("/.git"):
                continue
            entries = _entries(place)
            names = {entry.name for entry in entries}
            # The git folder of a repository, or of a worktree.
            is_gits = {"HEAD", "objects"} <= names or {"HEAD", "commondir"} <= names
            for entry in entries if is_gits else entries[:left]:
                if _is_masked(entry, in_gits=is_gits):
                    yield entry.path
                elif entry.is_dir(follow_symlinks=False) and entry.name not in _PASSED_OVER:
                    deeper.append(entry.path)
            left = max(0, left - len(entries))
        level = deeper


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_masked(entry: os.DirEntry[str], *, in_gits: bool) -> bool:
    if entry.is_symlink():
        return False
    if in_gits and entry.name not in _GITS:
        # Short-lived files: a mask cannot be mounted on a file that is gone.
        return not entry.name.startswith(_OURS) and not entry.name.endswith(_LOCK)
    if entry.is_dir(follow_symlinks=False):
        return any(entry.path.endswith(f"/{name}") for name in _FOLDERS)
    if not entry.is_file(follow_symlinks=False):
        mode = entry.stat(follow_symlinks=False).st_mode
        return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)
    if entry.name in _LOGINS:
        return True
    is_gits = entry.name == "config" and entry.path.endswith("/.git/config")
    if entry.name not in _SETTINGS and not is_gits:
        return False
    try:
        text = Path(entry.path).read_bytes()[:_SIZE].decode("utf-8", "replace")
    except OSError:
        return False
    return (without_logins(text) if is_gits else masked(text)) != text


def cleaned(git_folders: Iterable[str], into: Path) -> tuple[Placed, ...]:
    """Write copies of git's settings without credentials, submodules included; return where to mount them."""
    placed = []
    folders = dict.fromkeys(Path(os.path.realpath(folder)) for folder in git_folders)
    files = dict.fromkeys(file for folder in folders for name in _GITS_SETTINGS for file in folder.glob(name))
    for number, file in enumerate(files):
        text = file.read_text(encoding="utf-8", errors="surrogateescape") if file.is_file() else ""
        if (shown := without_logins(text)) != text:
            copy = into / f"git-config-{number}"
            copy.write_text(shown, encoding="utf-8", errors="surrogateescape")
            placed.append(Placed(str(copy), str(file), writable=False))
    return tuple(placed)
