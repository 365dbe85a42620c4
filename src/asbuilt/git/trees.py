"""Read files of a tree without checking it out. Rule: every read has a size limit."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from asbuilt.git.command import MEGABYTE, check_oid
from asbuilt.git.files import LINK_TO_REPOSITORY, entries
from asbuilt.git.objects import compare, find, measure, read_all, read_object
from asbuilt.proof.suites.model import Change

if TYPE_CHECKING:
    from asbuilt.git.repository import Repository

_TEXT_CAP: Final = 1_000_000
_LINES_CAP: Final = 20_000_000
_READ_AT_ONCE: Final = 64 * MEGABYTE
_FOLLOWED: Final = 100
"""Maximum number of symbolic links that are resolved; further links are read as links."""
_LINK: Final = b"120000"


def differing(
    repository: Repository, before: str, after: str, *, cap: int, among: Collection[str] | None = None
) -> list[Change]:
    """Read every file that differs between two trees; a link is read as the file it points to in its tree.

    With `among`, only these paths are read. A file over `cap` bytes is returned as `contents` returns it.
    """
    sides: dict[str, tuple[str, str]] = {}
    links: dict[str, str] = {}
    submodules: dict[str, str] = {}
    followed = 0
    for change in compare(repository.git, check_oid(before), check_oid(after)):
        path = os.fsdecode(change.path)
        if among is not None and path not in among:
            continue
        found = []
        for tree, entry in ((before, change.old), (after, change.new)):
            end = repository.nothing if entry is None or entry.mode == LINK_TO_REPOSITORY else entry.oid
            if entry is not None and entry.mode == _LINK and followed < _FOLLOWED:
                followed += 1
                end = _end_of(repository, tree, change.path) or end
            found.append(end)
        sides[path] = (found[0], found[1])
        if change.new is not None and change.new.mode in (_LINK, LINK_TO_REPOSITORY):
            (links if change.new.mode == _LINK else submodules)[path] = change.new.oid
    wanted = {*links.values(), *(file for both in sides.values() for file in both)} - {repository.nothing}
    read = dict(contents(repository, sorted(wanted), cap))
    targets = {path: os.fsdecode(read.get(file, b"")) for path, file in links.items()}
    return [
        Change(path, read.get(old), read.get(new), targets.get(path), submodules.get(path))
        for path, (old, new) in sides.items()
    ]


def _end_of(repository: Repository, tree: str, name: bytes) -> str | None:
    """Return the object of the file that a link points to; None if the target is not a file of the tree."""
    if b"\n" in name:
        return None
    result = repository.git.run(
        "cat-file", "--batch-check", "--follow-symlinks", stdin=f"{tree}:".encode() + name + b"\n"
    )
    words = result.line.split(" ")
    return words[0] if words[1:2] == ["blob"] else None


def contents(repository: Repository, files: list[str], cap: int) -> Iterator[tuple[str, bytes]]:
    """Yield (object, bytes) of files, read in batches of about 64 MB.

    For a file over `cap` bytes, or one that this clone lacks, the bytes are its object name padded to `cap +
    1`.
    """
    batch: list[str] = []
    size = 0
    for file, known in zip(files, measure(repository.git, files), strict=True):
        if known is None or known.size > cap:
            yield file, file.encode("ascii").ljust(cap + 1)
            continue
        batch.append(file)
        size += known.size
        if size > _READ_AT_ONCE:
            yield from _read(repository, batch)
            batch, size = [], 0
    yield from _read(repository, batch)


def _read(repository: Repository, files: list[str]) -> Iterator[tuple[str, bytes]]:
    for file, found in zip(files, read_all(repository.git, files), strict=True):
        yield file, found.data if found is not None else b""


def is_here(repository: Repository, commit: str) -> bool:
    """Return whether the repository has a commit."""
    found = measure(repository.git, [commit])[0]
    return found is not None and found.kind == "commit"


def names_in(repository: Repository, tree: str) -> dict[str, str]:
    """Return every file of a tree: name to object. Submodules are left out."""
    found = entries(repository.git, check_oid(tree)).items()
    return {
        name.decode("utf-8", "replace"): file for name, (mode, file) in found if mode != LINK_TO_REPOSITORY
    }


def texts_of(repository: Repository, files: Mapping[str, str]) -> dict[str, str]:
    """Read several files by object name, as text; a file over 1 MB reads as empty."""
    read = dict(contents(repository, sorted({*files.values()}), _TEXT_CAP))
    whole = {name: read.get(file, b"") for name, file in files.items()}
    return {
        name: "" if len(data) > _TEXT_CAP else data.decode("utf-8", "replace") for name, data in whole.items()
    }


def text_of(repository: Repository, file: str) -> str:
    """Read a file by object name, as text; a file over 1 MB reads as empty."""
    return texts_of(repository, {"": check_oid(file)})[""]


def file_in(repository: Repository, tree: str, path: str) -> bytes | None:
    """Read a file of a tree; None if it does not exist or is over 20 MB."""
    entry = find(repository.git, check_oid(tree), os.fsencode(path))
    known = measure(repository.git, [entry.oid])[0] if entry is not None else None
    if entry is None or known is None or known.kind != "blob" or known.size > _LINES_CAP:
        return None
    return read_object(repository.git, entry.oid, "blob")


def lines_of(repository: Repository, tree: str, path: str) -> int | None:
    """Count the lines of a file in a tree: 0 for a binary file, None where `file_in` returns None."""
    found = file_in(repository, tree, path)
    if found is None:
        return None
    return 0 if b"\0" in found else len(found.splitlines())


def sizes_in(repository: Repository, tree: str) -> dict[str, int]:
    """Return the size of each file in a tree."""
    rows = repository.git.run("ls-tree", "-r", "-l", "-z", check_oid(tree)).fields
    split = (row.partition(b"\t") for row in rows)
    return {os.fsdecode(path): int(size) for head, _, path in split if (size := head.split()[3]).isdigit()}


def mentioning(
    repository: Repository, tree: str, words: Collection[str], *, among: Collection[str]
) -> list[str]:
    """List the files of a tree that match the pathspecs in `among` and contain one of the words."""
    if not words:
        return []
    given = [option for word in words for option in ("-e", word)]
    result = repository.git.run(
        "grep", "-l", "-z", "-w", "-F", *given, check_oid(tree), "--", *among, allowed=(0, 1)
    )
    return [os.fsdecode(field.partition(b":")[2]) for field in result.fields]
