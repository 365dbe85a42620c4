"""What a repository needs before it is used: an owner that git trusts, and a first commit. Starts no git.

Rule: a run starts from what is committed, so a file that the command omits is missing in every workspace.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path


def is_foreign(root: Path, common: Path) -> bool:
    """Return whether another user owns a repository; root has that of the user who called sudo."""
    ours = {os.geteuid(), int(os.environ.get("SUDO_UID") or os.geteuid()) if os.geteuid() == 0 else -1}
    return not {root.stat().st_uid, common.stat().st_uid} <= ours


def first_commit(folder: Path, *, is_repository: bool = True) -> str:
    """Return the command; empty if the folder is a home or holds repositories, so it should become none."""
    here = folder.resolve()
    if not is_repository and (_is_home(here) or any(here.glob("*/.git"))):
        return ""
    # A file that is written before the command is typed belongs to the commit as well.
    empty = "" if _has_files(here) else " --allow-empty"
    return ("" if is_repository else "git init && ") + f'git add -A && git commit{empty} -m "First commit"'


def _is_home(folder: Path) -> bool:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    return folder in (home, *home.parents)


def _has_files(folder: Path) -> bool:
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        if files:
            return True
    return False
