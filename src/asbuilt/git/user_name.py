"""The user's name and address, without which git makes no commit."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from asbuilt.errors import GitFailed
from asbuilt.git.command import Git

NAMING: Final = (
    '`git config --global user.name "Your Name" &&` `git config --global user.email you@example.com`'
    " `# with your own name and address`"
)


def is_named(git_dir: Path) -> bool:
    """Return whether git knows the user; `git_dir` may be a folder that is no repository yet."""
    return Git(git_dir=git_dir, as_user=True).run("var", "GIT_AUTHOR_IDENT", allowed=(0, 128)).code == 0


def committing(command: str, git_dir: Path) -> str:
    """Return advice to type a command that commits, or first what gives git the user's name."""
    return f"`{command}`" if is_named(git_dir) else NAMING


def unknown_user() -> GitFailed:
    """Return the error for a user whom git does not know."""
    return GitFailed(
        "git does not know who you are",
        why="Outcome commits carry your name; git var GIT_AUTHOR_IDENT gives none.",
        next_step=NAMING,
    )
