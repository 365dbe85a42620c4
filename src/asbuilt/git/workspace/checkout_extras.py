"""What a check gets beside the files of its tree: a git folder, submodules and Git LFS contents.

Build backends call git for a version (`git describe`), tests for the list of files. Rules: HEAD has exactly
the checkout's tree, so that git reports a clean work tree. No object is written to the user's repository, and
nothing is fetched: what the clone lacks is reported, so that the user can get it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from asbuilt.git.command import Git, check_oid
from asbuilt.git.commits import ASBUILT
from asbuilt.git.files import LINK_TO_REPOSITORY, entries
from asbuilt.git.objects import read_object, tree_of
from asbuilt.git.refs import listed
from asbuilt.git.repository import Repository
from asbuilt.git.temporary_git_folder import settings_of
from asbuilt.git.trees import is_here as has
from asbuilt.git.workspace.checkouts import clean_checkout, delete

_BRANCH: Final = "refs/heads/main"
_LENT: Final = "asbuilt-lent"
_POINTER: Final = "version https://git-lfs.github.com/spec/v1"
_OID: Final = re.compile(rb"(?m)^oid sha256:([0-9a-f]{64})$")


class Reference(NamedTuple):
    """A path in a tree whose contents are stored elsewhere."""

    path: str
    kind: str
    """`submodule` or `lfs`."""
    name: str
    """Commit of a submodule, or digest of a file."""
    source: Path | None
    """The submodule's git folder, or the file; None if the clone lacks it."""


def lend(
    repository: Repository,
    folder: Path,
    *,
    tree: str,
    history: str,
    objects_at: str,
    index: Path | None = None,
) -> None:
    """Create or update the git folder of a checkout of `tree`; `history` is the commit that it builds on.

    `objects_at` is the path at which processes in the checkout see the repository's objects. `index` is an
    index of the tree to copy. Checks cannot write to the folder, so one that is as wanted stays.
    """
    tags = listed(repository, "refs/tags/")
    shallow = repository.common / "shallow"
    cut = shallow.read_bytes() if shallow.is_file() else b""
    settings = settings_of(repository, bare=False)
    wanted = json.dumps([tree, history, objects_at, settings, tags, cut.decode("ascii")]).encode()
    note = folder / _LENT
    if note.is_file() and note.read_bytes() == wanted:
        return
    for name in ("objects/info", "refs/heads"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    note.unlink(missing_ok=True)
    (folder / "config").write_text(settings, encoding="ascii")
    (folder / "objects" / "info" / "alternates").write_text(f"{objects_at}\n", encoding="utf-8")
    (folder / "HEAD").write_text(f"ref: {_BRANCH}\n", encoding="ascii")
    (folder / "shallow").unlink(missing_ok=True)
    if cut:
        (folder / "shallow").write_bytes(cut)
    (folder / "packed-refs").write_bytes(b"".join(os.fsencode(f"{at} {name}\n") for name, at in tags))
    commit = history
    if not history or tree_of(repository.git, check_oid(history)) != tree:
        commit = _write_commit(folder / "objects", check_oid(tree), history)
    (folder / _BRANCH).write_text(f"{commit}\n", encoding="ascii")
    if index is not None:
        shutil.copyfile(index, folder / "index")
    else:
        place = Git(git_dir=folder, index=folder / "index", objects=repository.common / "objects")
        place.run("read-tree", "--reset", tree)
    note.write_bytes(wanted)


def _write_commit(objects: Path, tree: str, parent: str) -> str:
    """Write a commit of a tree as a loose object of a folder of our own."""
    by = f"{ASBUILT.name} <{ASBUILT.email}> {ASBUILT.date.removeprefix('@')}"
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else []), f"author {by}", f"committer {by}"]
    body = "\n".join([*lines, "", "The tree under check\n"]).encode()
    data = b"commit %d\0" % len(body) + body
    name = hashlib.new("sha1" if len(tree) == 40 else "sha256", data, usedforsecurity=False).hexdigest()
    (objects / name[:2]).mkdir(exist_ok=True)
    (objects / name[:2] / name[2:]).write_bytes(zlib.compress(data))
    return name


def alternates_of(repository: Repository) -> tuple[Path, ...]:
    """List further object folders that the repository uses (alternates)."""
    file = repository.common / "objects" / "info" / "alternates"
    lines = os.fsdecode(file.read_bytes()).splitlines() if file.is_file() else []
    objects = repository.common / "objects"
    return tuple(path for line in lines if line and (path := (objects / line)).is_dir())


def references_of(repository: Repository, tree: str) -> tuple[Reference, ...]:
    """List the references of a tree."""
    found = entries(repository.git, tree)
    return (*_submodules(repository, tree, found), *_large_files(repository, tree, found))


def digest_of(references: tuple[Reference, ...]) -> str:
    """Return a digest of the available references, under which `borrow` stores their contents once."""
    named = [(reference.path, reference.name) for reference in references if reference.source is not None]
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
    for reference in references:
        place = folder / reference.path
        if reference.source is None:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if reference.kind == "lfs":
            shutil.copyfile(reference.source, place)
            continue
        inner = replace(repository, common=reference.source)
        clean_checkout(inner, reference.name, place)
        bring(inner, references_of(inner, reference.name), place)


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
    result = repository.git.run(
        "config", "--blob", f"{tree}:.gitmodules", "-z", "--get-regexp", wanted, allowed=(0, 1)
    )
    names = {}
    for field in result.fields:
        key, _, path = field.partition(b"\n")
        names[path] = os.fsdecode(key.removeprefix(b"submodule.").removesuffix(b".path"))
    for path, commit in links.items():
        name = names.get(path, "")
        kept = repository.common / "modules" / name
        # The repository chooses the name, so it must not lead out of `modules`.
        is_inside = bool(name) and ".." not in Path(name).parts and not Path(name).is_absolute()
        is_here = is_inside and (kept / "objects").is_dir() and has(replace(repository, common=kept), commit)
        here = kept if is_here else None
        yield Reference(os.fsdecode(path), "submodule", commit, here)


def _large_files(
    repository: Repository, tree: str, found: dict[bytes, tuple[bytes, str]]
) -> Iterator[Reference]:
    rules = [name for path, (_, name) in found.items() if path.rpartition(b"/")[2] == b".gitattributes"]
    if not any(b"filter=lfs" in read_object(repository.git, name, "blob") for name in rules):
        return
    output = repository.git.run("grep", "-z", "-l", "-I", "-F", "-e", _POINTER, tree, "--", allowed=(0, 1))
    for field in output.fields:
        path = field.partition(b":")[2]
        match = _OID.search(read_object(repository.git, found[path][1], "blob")[:1_000])
        if match is not None:
            name = match[1].decode("ascii")
            kept = repository.common / "lfs" / "objects" / name[:2] / name[2:4] / name
            yield Reference(os.fsdecode(path), "lfs", name, kept if kept.is_file() else None)
