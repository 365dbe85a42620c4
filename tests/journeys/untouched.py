"""A checkout as it was before a run. The one rule: all but what is announced stays as it was, to the byte."""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Name = TypeVar("Name")
Fact = TypeVar("Fact")

_OURS = ("refs/asbuilt/", "refs/heads/asbuilt/")


def git(checkout: Path, *arguments: str) -> bytes:
    """Ask git as a person would, with no settings but the repository's, changing nothing by asking."""
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    done = subprocess.run(
        ["git", *arguments],  # noqa: S607
        cwd=checkout,
        env=environment,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


@dataclass
class Before:
    """Records a checkout when it is made; `same_except` compares it with what is there now."""

    checkout: Path
    head: bytes = field(init=False)
    refs: dict[str, str] = field(init=False)
    index: dict[bytes, bytes] = field(init=False)
    status: dict[bytes, bytes] = field(init=False)
    stash: bytes = field(init=False)
    files: dict[str, tuple[int, bytes]] = field(init=False)
    settings: dict[str, tuple[int, bytes]] = field(init=False)
    locks: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.head = self._head()
        self.refs = self._refs()
        self.index = self._index()
        self.status = self._status()
        self.stash = git(self.checkout, "stash", "list")
        self.files = dict(_files(self.checkout))
        self.settings = dict(self._settings())
        self.locks = {path.name for path in _git_dir(self.checkout).glob("*.lock")}

    def announce(self, path: str) -> None:
        """Take a file as it is now for the person's own: they changed it themselves."""
        now = Before(self.checkout)
        self.files[path] = now.files[path]
        name = os.fsencode(path)
        for then, there in ((self.index, now.index), (self.status, now.status)):
            then.pop(name, None)
            then.update({name: there[name]} if name in there else {})

    def same_except(self, paths: Collection[str] = (), *, refs: Collection[str] = ()) -> None:
        """Assert that nothing differs but these paths and refs."""
        now = Before(self.checkout)
        named = set(map(os.fsencode, paths))
        assert _without(now.refs, refs) == _without(self.refs, refs)
        assert now.head == self.head
        assert now.stash == self.stash
        assert now.settings == self.settings
        assert now.locks == self.locks
        assert _without(now.files, paths) == _without(self.files, paths)
        assert _without(now.index, named) == _without(self.index, named)
        assert _without(now.status, named) == _without(self.status, named)

    def _head(self) -> bytes:
        return (_git_dir(self.checkout) / "HEAD").read_bytes()

    def _refs(self) -> dict[str, str]:
        told = git(self.checkout, "for-each-ref", "--format=%(refname) %(objectname)").decode().split("\n")
        rows = (line.rpartition(" ") for line in told if line)
        return {name: commit for name, _, commit in rows if not name.startswith(_OURS)}

    def _index(self) -> dict[bytes, bytes]:
        rows = (row.split(b"\t", 1) for row in _fields(self.checkout, "ls-files", "-s", "-z"))
        return {path: facts for facts, path in rows}

    def _status(self) -> dict[bytes, bytes]:
        rows = _fields(
            self.checkout, "status", "--porcelain", "-z", "--no-renames", "--ignored", "--untracked-files=all"
        )
        return {row[3:]: row[:2] for row in rows}

    def _settings(self) -> Iterator[tuple[str, tuple[int, bytes]]]:
        common = self.checkout / git(self.checkout, "rev-parse", "--git-common-dir").decode().strip()
        yield "config", _one(common / "config")
        for folder in ("hooks", "info"):
            if (common / folder).is_dir():
                yield from ((f"{folder}/{name}", one) for name, one in _files(common / folder))


def _git_dir(checkout: Path) -> Path:
    return Path(git(checkout, "rev-parse", "--absolute-git-dir").decode().strip())


def _fields(checkout: Path, *arguments: str) -> list[bytes]:
    return [field for field in git(checkout, *arguments).split(b"\0") if field]


def _files(root: Path) -> Iterator[tuple[str, tuple[int, bytes]]]:
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if ".git" not in name.parts[:1] and (path.is_symlink() or not path.is_dir()):
            yield str(name), _one(path)


def _one(path: Path) -> tuple[int, bytes]:
    mode = path.lstat().st_mode
    return mode, os.fsencode(path.readlink()) if stat.S_ISLNK(mode) else path.read_bytes()


def _without(facts: dict[Name, Fact], names: Collection[Name]) -> dict[Name, Fact]:
    return {name: fact for name, fact in facts.items() if name not in names}
