"""Look into a tree without checking it out. The one rule: what is read is bounded, whatever it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from asbuilt.git.command import check_oid

if TYPE_CHECKING:
    from collections.abc import Collection

    from asbuilt.git.repository import Repository

_TEXT_CAP: Final = 1_000_000
_LINES_CAP: Final = 20_000_000


def is_here(repository: Repository, commit: str) -> bool:
    """Tell whether a repository has a commit, and with it all that it holds."""
    named = f"{check_oid(commit)}^{{commit}}"
    return repository.git.said("cat-file", "-e", named, allowed=(0, 1, 128)).code == 0


def names_in(repository: Repository, tree: str, *, below: Collection[str] = ()) -> dict[str, str]:
    """List the files at the top of a tree, and all files below some folders: name to object."""
    listing = ("ls-tree", "-z", "--full-tree")
    fields = repository.git.said(*listing, check_oid(tree)).fields
    if below:
        fields += repository.git.said(*listing, "-r", tree, "--", *below).fields
    found = {}
    for one in fields:
        head, name = one.split(b"\t", 1)
        _, kind, file = head.split(b" ")
        if kind == b"blob":
            found[name.decode("utf-8", "replace")] = file.decode("ascii")
    return found


def text_of(repository: Repository, file: str) -> str:
    """Read a file by its object, as text; a very large one reads as empty."""
    size = int(repository.git.line("cat-file", "-s", check_oid(file)))
    if size > _TEXT_CAP:
        return ""
    return repository.git.said("cat-file", "blob", file).out.decode("utf-8", "replace")


def lines_of(repository: Repository, tree: str, path: str) -> int | None:
    """Count the lines of a file in a tree: none in one that is not text; None where no such file is."""
    if "\0" in path:
        return None
    place = f"{check_oid(tree)}:{path}"
    size = repository.git.said("cat-file", "-s", place, allowed=(0, 128))
    if size.code or int(size.line) > _LINES_CAP:
        return None
    found = repository.git.said("cat-file", "blob", place, allowed=(0, 128))
    if found.code:
        return None
    return 0 if b"\0" in found.out else len(found.out.splitlines())
