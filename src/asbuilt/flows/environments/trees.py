"""The files of a phase: in its base, in the tree to prove, and where the two differ."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from asbuilt.git.files import entries
from asbuilt.git.objects import read_object
from asbuilt.git.refs import touched
from asbuilt.git.repository import Repository
from asbuilt.git.trees import contents, differing, mentioning, sizes_in, text_of
from asbuilt.proof.change.restored_test_settings import PutBack, is_infrastructure, put_back
from asbuilt.proof.projects.index import is_vendored, top_first
from asbuilt.proof.suites.path_roles import Role, is_test_code, role_of
from asbuilt.proof.trials.emptied import emptied
from asbuilt.proof.trials.weakened_tests import imported_as, may_help

_RECIPES: Final = ("Makefile", "makefile", "GNUmakefile", "justfile", "package.json")
_RECIPES_READ: Final = 20
_BLOB: Final = b"100"
"""Start of the mode of a regular file."""
_LARGEST: Final = 100_000_000
"""Upper limit of a file's size in a snapshot."""


class Trees:
    """Two trees of one repository. `base` is empty if there is no phase; then nothing differs."""

    def __init__(self, repository: Repository, base: str, tree: str) -> None:
        self._repository = repository
        self.tree = tree
        self.base = base
        self.there = touched(repository, base, tree) if base else {}
        """Every path that differs, and whether it exists in the tree."""
        self._helpers: dict[str, bool] = {}

    def since(self, base: str, tree: str = "") -> Trees:
        """Compare with another base, and another tree if given."""
        return Trees(self._repository, base, tree or self.tree)

    @property
    def changed(self) -> list[str]:
        """The files that the phase added or changed."""
        return sorted(path for path, is_there in self.there.items() if is_there)

    @cached_property
    def before(self) -> dict[str, str]:
        """The regular files of the base: path to object."""
        return self._files(self.base) if self.base else {}

    @cached_property
    def now(self) -> dict[str, str]:
        """The regular files of the tree: path to object."""
        return self._files(self.tree)

    def _files(self, tree: str) -> dict[str, str]:
        found = entries(self._repository.git, tree).items()
        return {os.fsdecode(path): file for path, (mode, file) in found if mode.startswith(_BLOB)}

    def content(self, file: str) -> bytes:
        """Read an object."""
        return read_object(self._repository.git, file, "blob")

    def text(self, file: str) -> str:
        """Read an object as text."""
        return text_of(self._repository, file)

    def text_now(self, path: str) -> str:
        """Read a file of the tree; empty if it does not exist."""
        file = self.now.get(path)
        return "" if file is None else self.text(file)

    def read(self, is_wanted: Callable[[str], bool]) -> dict[str, tuple[bytes, bytes]]:
        """Read files that the phase added or changed: old and new contents."""
        wanted = [path for path in self.changed if is_wanted(path) and path in self.now]
        return {
            path: (
                self.content(self.before[path]) if path in self.before else b"",
                self.content(self.now[path]),
            )
            for path in wanted
        }

    def emptied(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the emptied contents of files, without files that are empty already."""
        files = {path: self.now[path] for path in paths}
        held = dict(contents(self._repository, sorted({*files.values()}), _LARGEST))
        left = {path: emptied(path, held[file]) for path, file in files.items()}
        return {path: content for path, content in left.items() if content is not None}

    def largest_first(self, paths: Sequence[str]) -> list[str]:
        """Sort files of the tree by size, largest first."""
        sizes = sizes_in(self._repository, self.tree) if paths else {}
        return sorted(paths, key=lambda path: -sizes.get(path, 0))

    def mentioning(self, words: Sequence[str], among: Sequence[str]) -> list[str]:
        """List the files of the tree that match a pattern and contain one of the words."""
        return mentioning(self._repository, self.tree, words, among=among)

    def restored(self, command: str, text: str) -> tuple[PutBack, ...]:
        """Return the base's version of files that configure a runner, except files that `text` names."""
        if not self.base:
            return ()
        commands = "\n".join((command, *self._recipes()))
        wanted = {path for path in self.there if is_infrastructure(path) or path in commands}
        found = differing(self._repository, self.base, self.tree, cap=_LARGEST, among=wanted)
        return put_back(found, text, commands)

    def _recipes(self) -> list[str]:
        """Read what the test commands may call: the recipe files of the base, top folders first."""
        found = [
            path for path in self.before if path.rpartition("/")[2] in _RECIPES and not is_vendored(path)
        ]
        return [self.text(self.before[path]) for path in top_first(found)[:_RECIPES_READ]]

    def is_helper(self, path: str) -> bool:
        """Return whether only tests import a file outside of their folders."""
        if path not in self._helpers:
            self._helpers[path] = self._only_tests_import(path)
        return self._helpers[path]

    def _only_tests_import(self, path: str) -> bool:
        if path not in self.before or role_of(path) is not Role.PRODUCT or is_test_code(path):
            return False
        if not may_help(path, self.text(self.before[path])):
            return False
        users = {*mentioning(self._repository, self.base, imported_as(path), among=["*"])} - {path}
        return any(map(is_test_code, users)) and not any(
            role_of(user) is Role.PRODUCT and not is_test_code(user) for user in users
        )
