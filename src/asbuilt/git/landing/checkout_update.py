"""Update a checkout together with its branch, and repair it after a crash. Rule: file contents decide.

The hook runs while receive-pack holds the branch. It takes the checkout's index lock as a hard link to a file
that names asbuilt, writes a note of what it is about to do, and replaces the index with one rename. So after
`kill -9` at any point the lock is recognized as ours, and the note names the two commits that a path can be
at.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from asbuilt.git.commits import contains
from asbuilt.git.files import LINK_TO_REPOSITORY, entries
from asbuilt.git.objects import compare
from asbuilt.git.repository import Checkout, Repository

NOTE: Final = "asbuilt-landing"
_LOCK: Final = "index.lock"
_INDEX: Final = "index.asbuilt"
_OURS: Final = b"asbuilt landing"

HOOK_WAITS: Final = "asbuilt-landing-waits"
"""Printed by the hook, and only by it, where another try is worthwhile; a push has no other way back."""

HOOK: Final = """\
#!/bin/sh
# Run by git when a landing moves a branch that is checked out. $1 is the new commit.
new=$1
here=$(cd "$GIT_DIR" && pwd -P) || exit 1
if [ "$here" != "$ASBUILT_CHECKOUT" ] || [ "$new" != "$ASBUILT_NEW" ]; then
    echo "HOOK_WAITS: the branch is checked out elsewhere than when it was looked at" >&2
    exit 1
fi
git="git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.fsync=all -c submodule.recurse=false"
claim="$here/asbuilt-claim.$$"
echo "asbuilt landing $$" >"$claim" || exit 1
if ! ln "$claim" "$here/index.lock"; then
    rm -f "$claim"
    echo "HOOK_WAITS: index.lock is held" >&2
    exit 1
fi
rm -f "$claim"
old=$($git rev-parse --verify HEAD)
if [ "$old" != "$ASBUILT_OLD" ]; then
    rm -f "$here/index.lock"
    echo "HOOK_WAITS: the tip has moved" >&2
    exit 1
fi
echo "$ASBUILT_OLD $new" >"$here/asbuilt-landing.new" &&
    mv -f "$here/asbuilt-landing.new" "$here/asbuilt-landing" &&
    cp -p "$here/index" "$here/index.asbuilt" &&
    { GIT_INDEX_FILE="$here/index.asbuilt" $git update-index -q --refresh >/dev/null || :; } &&
    GIT_INDEX_FILE="$here/index.asbuilt" $git read-tree -m -u "$ASBUILT_OLD" "$new" &&
    mv -f "$here/index.asbuilt" "$here/index"
status=$?
rm -f "$here/index.asbuilt" "$here/index.lock"
exit $status
""".replace("HOOK_WAITS", HOOK_WAITS)


class Settled(Struct, frozen=True, kw_only=True):
    """What `settle` did to repair a checkout."""

    restored: tuple[str, ...] = ()
    """Paths that were restored to the commit of the branch."""
    left: tuple[str, ...] = ()
    """Paths with contents that are not ours; they were left unchanged."""


def write_hook(folder: Path) -> None:
    """Write the landing hook into a folder, atomically."""
    hook = folder / "push-to-checkout"
    if hook.is_file() and hook.read_text("utf-8") == HOOK and os.access(hook, os.X_OK):
        return
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, made = tempfile.mkstemp(dir=folder, prefix=".hook-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(HOOK)
        os.fchmod(descriptor, 0o700)
    Path(made).replace(hook)


def is_locked(checkout: Checkout) -> bool:
    """Return whether a git other than ours holds the checkout's index lock."""
    return (checkout.git_dir / _LOCK).exists() and not _is_ours(checkout.git_dir / _LOCK)


def settle(repository: Repository, checkout: Checkout) -> Settled:
    """Repair a checkout after a landing that was killed. The caller holds the repository.

    Without a note the checkout was not touched. With a note, each path of the landing is restored to the
    branch's current commit if it is missing or its contents are those of one of the two commits, or a
    truncated copy of the new one. Any other contents are the user's and stay.
    """
    note = checkout.git_dir / NOTE
    _drop_locks(checkout)
    if not note.is_file():
        return Settled()
    old, new = note.read_text("ascii").split()
    head = checkout.git.line("rev-parse", "--verify", "HEAD")
    settled = Settled()
    if not contains(repository, head, new):
        settled = _bring_back(repository, checkout, (old, new, head))
    note.unlink()
    return settled


Entry = tuple[bytes, str]
"""Mode and object of a tree entry."""


class _Move(Struct, frozen=True, kw_only=True):
    """Paths of an interrupted landing: at its two commits, at the branch's tip, and on disk."""

    paths: tuple[bytes, ...]
    old: Mapping[bytes, Entry]
    new: Mapping[bytes, Entry]
    head: Mapping[bytes, Entry]
    disk: Mapping[bytes, Entry]

    def is_right(self, path: bytes) -> bool:
        return self.disk.get(path) == _seen(self.head.get(path))

    def is_ours(self, path: bytes) -> bool:
        """Return whether the file on disk is missing or is one of the two commits' versions."""
        return self.disk.get(path) in (None, _seen(self.old.get(path)), _seen(self.new.get(path)))


def _bring_back(repository: Repository, checkout: Checkout, commits: tuple[str, str, str]) -> Settled:
    move = _read_move(repository, checkout, *commits)
    wrong = [path for path in move.paths if not move.is_right(path)]
    ours = [path for path in wrong if move.is_ours(path) or _is_cut_short(checkout, move, path)]
    # Delete first: a file may be in the place of a folder that is restored, or a folder in that of a file.
    for path in ours:
        place = _place(checkout, path)
        if path in move.disk and path not in move.head and not place.is_dir():
            place.unlink()
            _remove_empty_parents(place, checkout.path)
    back = [path for path in ours if path in move.head and _is_free(checkout, path)]
    _write_out(checkout, back, move.head)
    _restore_index(repository, checkout, move)
    restored = {*back, *(path for path in ours if path not in move.head)}
    return Settled(
        restored=tuple(os.fsdecode(path) for path in sorted(restored)),
        left=tuple(os.fsdecode(path) for path in wrong if path not in restored),
    )


def _seen(entry: Entry | None) -> Entry | None:
    """Return an entry as it appears on disk: a submodule is a folder, whatever its commit."""
    return (LINK_TO_REPOSITORY, "") if entry is not None and entry[0] == LINK_TO_REPOSITORY else entry


def _read_move(repository: Repository, checkout: Checkout, old: str, new: str, head: str) -> _Move:
    paths = frozenset(change.path for change in compare(repository.git, old, new))
    at = [
        {path: entry for path, entry in entries(repository.git, commit).items() if path in paths}
        for commit in (old, new, head)
    ]
    disk = _on_disk(repository, checkout, sorted(paths))
    links = {path for row in at for path, entry in row.items() if entry[0] == LINK_TO_REPOSITORY}
    disk = {path: entry for path, entry in disk.items() if entry[0] != LINK_TO_REPOSITORY or path in links}
    return _Move(paths=tuple(sorted(paths)), old=at[0], new=at[1], head=at[2], disk=disk)


def _on_disk(repository: Repository, checkout: Checkout, paths: list[bytes]) -> dict[bytes, Entry]:
    """Read paths as git would store them, with the user's own filters; a folder counts as a submodule."""
    found: dict[bytes, Entry] = {}
    plain: dict[bytes, bytes] = {}
    for path in paths:
        try:
            status = _place(checkout, path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        if stat.S_ISLNK(status.st_mode):
            target = os.fsencode(_place(checkout, path).readlink())
            name = checkout.git.line("hash-object", "--no-filters", "--stdin", stdin=target)
            found[path] = (b"120000", name)
        elif stat.S_ISREG(status.st_mode):
            is_program = status.st_mode & stat.S_IXUSR and repository.file_mode
            plain[path] = b"100755" if is_program else b"100644"
        else:
            found[path] = (LINK_TO_REPOSITORY, "")
    given = b"".join(_quoted(path) + b"\n" for path in plain)
    names = checkout.git.run("hash-object", "--stdin-paths", stdin=given).line.split()
    found |= {path: (mode, name) for (path, mode), name in zip(plain.items(), names, strict=True)}
    return found


def _is_free(checkout: Checkout, path: bytes) -> bool:
    """Return whether a file can be written without replacing a folder, a link or a parent that is a file."""
    place = _place(checkout, path)
    if place.is_dir() and not place.is_symlink():
        return False
    inner = [parent for parent in place.parents if checkout.path in parent.parents]
    return all(
        not os.path.lexists(parent) or (parent.is_dir() and not parent.is_symlink()) for parent in inner
    )


def _is_cut_short(checkout: Checkout, move: _Move, path: bytes) -> bool:
    """Return whether a file is a truncated copy of the new commit's version."""
    place = _place(checkout, path)
    if path not in move.new or not place.is_file() or place.is_symlink():
        return False
    whole = checkout.git.run("cat-file", "--filters", b"--path=" + path, move.new[path][1]).out
    return whole.startswith(place.read_bytes())


def _write_out(checkout: Checkout, paths: list[bytes], wanted: Mapping[bytes, Entry]) -> None:
    """Let git write files as in any checkout of the user, with a temporary index."""
    if not paths:
        return
    with tempfile.TemporaryDirectory(prefix="asbuilt-git-") as made:
        git = replace(checkout.git, index=Path(made, "index"))
        lines = [_index_line(path, wanted[path]) for path in paths]
        git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))
        given = b"".join(path + b"\0" for path in paths)
        git.run("checkout-index", "--force", "--quiet", "-z", "--stdin", stdin=given)


def _restore_index(repository: Repository, checkout: Checkout, move: _Move) -> None:
    """Reset index entries that are at the new commit; entries that the user staged since stay."""
    staged: dict[bytes, Entry] = {}
    for field in checkout.git.run("ls-files", "-z", "--stage").fields:
        facts, path = field.split(b"\t", 1)
        mode, name, _ = facts.split(b" ")
        staged[path] = (mode, name.decode("ascii"))
    nothing = (b"0", repository.nothing)
    lines = [
        _index_line(path, move.head.get(path, nothing))
        for path in move.paths
        if staged.get(path) == move.new.get(path) != move.head.get(path)
    ]
    if lines:
        checkout.git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))
    checkout.git.run("update-index", "-q", "--refresh", allowed=(0, 1))


def _index_line(path: bytes, entry: Entry) -> bytes:
    return entry[0] + b" " + entry[1].encode("ascii") + b"\t" + path + b"\0"


def _quoted(path: bytes) -> bytes:
    """Quote a path as a C string, for a list of lines."""
    plain = b"".join(
        bytes([byte]) if 0x20 <= byte != 0x7F and byte not in b'"\\' else b"\\%03o" % byte for byte in path
    )
    return b'"' + plain + b'"'


def _place(checkout: Checkout, path: bytes) -> Path:
    return checkout.path / os.fsdecode(path)


def _remove_empty_parents(place: Path, root: Path) -> None:
    with suppress(OSError):
        for parent in place.parents:
            if parent == root:
                return
            parent.rmdir()


def _drop_locks(checkout: Checkout) -> None:
    """Remove our own leftovers; their owner is dead, because the caller holds the repository."""
    lock = checkout.git_dir / _LOCK
    for leftover in checkout.git_dir.glob("asbuilt-claim.*"):
        leftover.unlink(missing_ok=True)
    for name in (f"{_INDEX}.lock", _INDEX, f"{NOTE}.new"):
        (checkout.git_dir / name).unlink(missing_ok=True)
    if _is_ours(lock):
        lock.unlink()


def _is_ours(lock: Path) -> bool:
    try:
        return lock.read_bytes().startswith(_OURS)
    except FileNotFoundError:
        return False
