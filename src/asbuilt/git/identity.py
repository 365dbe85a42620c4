"""The identity of a repository: an id in its own git config. Rule: only `ensure_identity` writes."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from asbuilt.errors import GitFailed
from asbuilt.git.locks import writing

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository


class Identity(Struct, frozen=True, kw_only=True):
    """An id and the folder that it was read from; with these the store distinguishes a copy from a move."""

    uuid: str
    common: Path
    device: int
    inode: int


def identity(repository: Repository) -> Identity | None:
    """Return the identity, or None if no command has created one yet."""
    result = repository.git.run("config", "--local", "--get", "asbuilt.repository", allowed=(0, 1))
    if result.code:
        return None
    stat = repository.common.stat()
    return Identity(uuid=result.line, common=repository.common, device=stat.st_dev, inode=stat.st_ino)


def ensure_identity(repository: Repository, *, is_copy: bool = False) -> Identity:
    """Return the identity; create it if there is none, or replace it (`is_copy`) in a copied repository."""
    before = identity(repository)
    if before is not None and not is_copy:
        return before
    with writing(repository, "config.lock") as git:
        known = identity(repository)
        if known is None or (is_copy and known == before):
            git.run("config", "--local", "asbuilt.repository", str(uuid.uuid4()))
            known = identity(repository)
    if known is None:
        raise GitFailed(
            "the repository's identity could not be read back",
            why="git config accepted asbuilt.repository and does not return it.",
            next_step="`git config --show-origin --get-all asbuilt.repository` names its file.",
        )
    return known
