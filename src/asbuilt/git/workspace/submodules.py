"""Files that a tree only refers to, taken from the user's clone: submodules and Git LFS contents.

Rule: nothing is fetched. What the clone lacks is reported, so that the user can get it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.git.files import LINK_TO_REPOSITORY, entries
from asbuilt.git.workspace.checkouts import clean_checkout, delete

if TYPE_CHECKING:
    from collections.abc import Iterator

    from asbuilt.git.repository import Repository

_POINTER: Final = "version https://git-lfs.github.com/spec/v1"
_OID: Final = re.compile(rb"^oid sha256:([0-9a-f]{64})$", re.MULTILINE)


class Reference(NamedTuple):
    """A path in a tree whose contents are stored elsewhere."""

    path: str
    kind: str
    """`submodule` or `lfs`."""
    name: str
    """Commit of a submodule, or digest of a file."""
    source: Path | None
    """The submodule's git folder, or the file; None if the clone lacks it."""


def references_of(repository: Repository, tree: str) -> tuple[Reference, ...]:
    """List the references of a tree."""
    found = entries(repository.git, tree)
    return (*_submodules(repository, tree, found), *_large_files(repository, tree, found))


def digest_of(references: tuple[Reference, ...]) -> str:
    """Return a digest of the available references, under which `borrow` stores their contents once."""
    named = [(one.path, one.name) for one in references if one.source is not None]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:32]


def borrow(repository: Repository, references: tuple[Reference, ...], root: Path) -> Path:
    """Return a folder below `root` with the contents of the references; created once, atomically."""
    folder = root / digest_of(references)
    # `clean` empties folders but keeps them, for processes that hold them open.
    if not folder.is_dir() or not any(folder.iterdir()):
        making = folder.with_name(f".{folder.name}.{os.getpid()}")
        delete(making)
        making.mkdir(mode=0o700, parents=True)
        bring(repository, references, making)
        with suppress(OSError):  # another process was faster
            making.rename(folder)
        delete(making)
    return folder


def bring(repository: Repository, references: tuple[Reference, ...], folder: Path) -> None:
    """Write the contents that the clone has below a folder, each at its path."""
    for one in references:
        place = folder / one.path
        if one.source is None:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if one.kind == "lfs":
            shutil.copyfile(one.source, place)
            continue
        inner = replace(repository, common=one.source)
        clean_checkout(inner, one.name, place)
        bring(inner, references_of(inner, one.name), place)


def words_for(reference: Reference) -> str:
    """Describe what the clone lacks and how to get it."""
    if reference.kind == "lfs":
        return f"{reference.path} is a pointer of Git LFS, and your clone lacks its contents: git lfs pull"
    path = reference.path
    return f"submodule {path} is empty, because your clone lacks it: git submodule update --init {path}"


def _submodules(
    repository: Repository, tree: str, found: dict[bytes, tuple[bytes, str]]
) -> Iterator[Reference]:
    links = {path: name for path, (mode, name) in found.items() if mode == LINK_TO_REPOSITORY}
    if not links or b".gitmodules" not in found:
        return
    wanted = r"^submodule\..*\.path$"
    said = repository.git.said(
        "config", "--blob", f"{tree}:.gitmodules", "-z", "--get-regexp", wanted, allowed=(0, 1)
    )
    names = {}
    for field in said.fields:
        key, _, path = field.partition(b"\n")
        names[path] = os.fsdecode(key.removeprefix(b"submodule.").removesuffix(b".path"))
    for path, commit in links.items():
        name = names.get(path, "")
        kept = repository.common / "modules" / name
        # The repository chooses the name, so it must not lead out of `modules`.
        is_inside = bool(name) and ".." not in Path(name).parts and not Path(name).is_absolute()
        here = kept if is_inside and _has(repository, kept, commit) else None
        yield Reference(os.fsdecode(path), "submodule", commit, here)


def _has(repository: Repository, git_dir: Path, commit: str) -> bool:
    if not (git_dir / "objects").is_dir():
        return False
    git = replace(repository.git, git_dir=git_dir)
    return git.said("cat-file", "-e", f"{commit}^{{commit}}", allowed=(0, 1, 128)).code == 0


def _large_files(
    repository: Repository, tree: str, found: dict[bytes, tuple[bytes, str]]
) -> Iterator[Reference]:
    rules = [name for path, (_, name) in found.items() if path.rpartition(b"/")[2] == b".gitattributes"]
    if not any(b"filter=lfs" in repository.git.said("cat-file", "blob", name).out for name in rules):
        return
    told = repository.git.said("grep", "-z", "-l", "-I", "-F", "-e", _POINTER, tree, "--", allowed=(0, 1))
    for field in told.fields:
        path = field.partition(b":")[2]
        match = _OID.search(repository.git.said("cat-file", "blob", found[path][1]).out[:1_000])
        if match is not None:
            name = match[1].decode("ascii")
            kept = repository.common / "lfs" / "objects" / name[:2] / name[2:4] / name
            yield Reference(os.fsdecode(path), "lfs", name, kept if kept.is_file() else None)
