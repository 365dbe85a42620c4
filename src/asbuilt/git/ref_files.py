"""Read refs from the files in which git stores them, without starting git.

Rule: whatever is not a plain ref in a plain file is left to git, by raising `LeftToGit`. A loose file is read
before `packed-refs`: git packs a ref before it deletes the loose file, and unpacks none.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_OID: Final = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\n?")


class LeftToGit(Exception):
    """Only git can read this ref: a symbolic or broken one, or another format than files."""


def read_ref(common: Path, ref: str, ref_format: str) -> str | None:
    """Return the object that a full ref name is at, or None."""
    _need_files(ref_format)
    found = _loose(common / ref)
    if found is not None:
        return found
    packed = _packed(common)
    end = packed.find(b" " + os.fsencode(ref) + b"\n")
    return packed[packed.rfind(b"\n", 0, end) + 1 : end].decode("ascii") if end >= 0 else None


def read_refs(common: Path, start: str, ref_format: str) -> dict[str, str]:
    """Return the refs whose full names begin with `start`, sorted by name."""
    _need_files(ref_format)
    folder, _, first = start.rpartition("/")
    found: dict[str, str] = {}
    for path, folders, files in os.walk(common / folder):
        if path == str(common / folder):
            folders[:] = [name for name in folders if name.startswith(first)]
            files[:] = [name for name in files if name.startswith(first)]
        for name in files:
            ref = os.path.relpath(os.path.join(path, name), common)  # noqa: PTH118 - a name, not a place
            at = None if name.endswith(".lock") else _loose(common / ref)
            if at is not None:
                found[ref] = at
    for line in _packed(common).splitlines():
        at_bytes, _, name_bytes = line.partition(b" ")
        if name_bytes.startswith(os.fsencode(start)) and not line.startswith((b"#", b"^")):
            found.setdefault(os.fsdecode(name_bytes), at_bytes.decode("ascii"))
    return dict(sorted(found.items()))


def read_head(git_dir: Path, ref_format: str) -> str:
    """Return the ref that HEAD is at, or the commit if it is detached."""
    _need_files(ref_format)
    try:
        data = (git_dir / "HEAD").read_bytes()
    except OSError as error:
        raise LeftToGit from error
    if data.startswith(b"ref: "):
        return os.fsdecode(data[5:].strip())
    if not _OID.fullmatch(data):
        raise LeftToGit
    return data.decode("ascii").strip()


def _need_files(ref_format: str) -> None:
    if ref_format != "files":
        raise LeftToGit


def _loose(file: Path) -> str | None:
    try:
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    if not _OID.fullmatch(data):
        raise LeftToGit
    return data.decode("ascii").strip()


def _packed(common: Path) -> bytes:
    try:
        return (common / "packed-refs").read_bytes()
    except FileNotFoundError:
        return b""
