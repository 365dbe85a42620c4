"""Index a tree by folder: its manifests and what looks like a test, without vendored code.

Rule: use names alone, in one pass, because a tree may have 100,000 files.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from asbuilt.proof.suites.path_roles import TESTS, Language

if TYPE_CHECKING:
    from asbuilt.proof.projects.model import Project

_READ_AT_MOST: Final = 400
_VENDORED: Final = re.compile(
    r"(^|/)(\.[^/]+|node_modules|bower_components|_?vendor(ed|s)?|third[-_]?party|3rdparty|extern(al)?|deps"
    r"|\.?venv|virtualenv|dist|build|target|out|site-packages|__pycache__)/"
)
_ASIDE: Final = re.compile(
    r"(?i)(^|/)(examples?|samples?|demos?|docs?|documentation|website|site|bench(es|marks?)?|perf|fuzz(ing)?"
    r"|_*fixtures?_*|testdata|test[-_]?(data|fixtures|projects?|apps?)|templates?|playgrounds?|tests?|specs?|__tests__"
    r"|e2e|tutorials?|\{\{[^/]*)(/|$)"
)
_MANIFESTS: Final = re.compile(
    r"(^|/)(pyproject\.toml|setup\.(cfg|py)|hatch\.toml|Pipfile|environment\.ya?ml|([\w.-]*[-_.])?requirements([-_.][\w.-]*)?\.(txt|in)"
    r"|requirements/[\w.-]+\.txt|package\.json|pnpm-workspace\.yaml|\.yarnrc\.yml|Cargo\.toml|go\.(mod|work)|pom\.xml"
    r"|(build|settings)\.gradle(\.kts)?|CMakeLists\.txt|meson\.build|meson(_options\.txt|\.options)|Gemfile|[\w.-]+\.gemspec)$"
)
"""Files that declare what a setup installs."""
_RECIPES: Final = re.compile(
    r"(^|/)(tox\.ini|tox\.toml|noxfile\.py|pytest\.ini|[Mm]akefile|GNUmakefile|Makefile\.am|\.?[Jj]ustfile|Rakefile)$"
)
"""Files that declare how tests are run."""
_LOCKS: Final = re.compile(
    r"(^|/)((uv|poetry|pdm|Cargo|Gemfile)\.lock|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock"
    r"|bun\.lockb?|go\.sum|gradle\.lockfile|gradle-wrapper\.properties|constraints[\w.-]*\.txt|rust-toolchain(\.toml)?"
    r"|\.npmrc|\.nvmrc|\.python-version|\.gitmodules)$"
)


def is_vendored(path: str) -> bool:
    """Return whether a path is in a folder of third-party or generated code."""
    return _VENDORED.search(path) is not None


def is_aside(folder: str) -> bool:
    """Return whether a folder has examples, documents or test data, which are no suite below another."""
    return _ASIDE.search(folder) is not None


def installs(path: str) -> bool:
    """Return whether a setup installs from a file."""
    return not is_vendored(path) and bool(_MANIFESTS.search(path) or _LOCKS.search(path))


def is_lock(path: str) -> bool:
    """Return whether a file pins the packages or the toolchain of a setup."""
    return _LOCKS.search(path) is not None


def wanted(names: Iterable[str]) -> list[str]:
    """List the files whose texts show how a project is tested, manifests and recipes, top folders first."""
    found = [
        name
        for name in names
        if not is_vendored(name)
        and (_MANIFESTS.search(name) or _RECIPES.search(name) or name.endswith("pnpm-lock.yaml"))
    ]
    return sorted(found, key=lambda name: (name.count("/"), name))[:_READ_AT_MOST]


def parent(path: str) -> str:
    """Return the folder of a path; "" is the root."""
    return path.rpartition("/")[0]


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def below(folder: str, name: str) -> str:
    """Return the path of a file in a folder."""
    return f"{folder}/{name}" if folder else name


def top_first(folders: Iterable[str]) -> list[str]:
    """Sort folders so that each comes after its parents."""
    return sorted(folders, key=lambda folder: (folder.count("/") + bool(folder), folder))


class Index:
    """A tree by folder."""

    def __init__(self, project: Project) -> None:
        self._texts = project.texts
        self._every = sorted(project.names)
        self.names = [name for name in self._every if not is_vendored(name)]
        self._in: dict[str, list[str]] = defaultdict(list)
        self.tests: dict[Language, list[str]] = {language: [] for language in TESTS}
        for name in self.names:
            self._in[parent(name)].append(name.rpartition("/")[2])
            language = next((candidate for candidate, pattern in TESTS.items() if pattern.search(name)), None)
            if language is not None:
                self.tests[language].append(name)
        self.folders = top_first({"", *self._in})
        """Every folder that has files, top folders first."""

    def here(self, folder: str, *patterns: str) -> list[str]:
        """List the files of a folder whose names match a pattern, in the order of the patterns."""
        there = self._in.get(folder, ())
        return [name for pattern in patterns for name in there if fnmatchcase(name, pattern)]

    def folders_in(self, folder: str) -> set[str]:
        """Return the names of the folders of a folder."""
        start = len(folder) + 1 if folder else 0
        found = (name[start:].partition("/") for name in self._below(self._every, folder))
        return {first for first, slash, _ in found if slash}

    def text(self, folder: str, name: str) -> str:
        """Return the text of a file; "" if it does not exist or was not read."""
        return self._texts.get(below(folder, name), "")

    def texts_below(self, folder: str, name: str) -> list[str]:
        """Return the texts of the files of one name in a folder and below it."""
        return [
            text
            for path, text in self._texts.items()
            if path.rpartition("/")[2] == name and is_within(path, folder)
        ]

    def tests_below(self, folder: str, language: Language) -> list[str]:
        """List the tests of a language below a folder."""
        return self._below(self.tests[language], folder)

    def exists(self, path: str) -> bool:
        """Return whether a path is a file or a folder of the tree."""
        path = path.rstrip("/")
        at = bisect_left(self._every, path)
        is_file = self._every[at : at + 1] == [path]
        return path in ("", ".") or is_file or bool(self._below(self._every, path))

    def releases(self, folder: str) -> list[str]:
        """List the yarn programs in a folder's `.yarn/releases`."""
        names = self._below(self._every, below(folder, ".yarn/releases"))
        return [name for name in names if name.endswith(".cjs")]

    @staticmethod
    def _below(names: list[str], folder: str) -> list[str]:
        if not folder:
            return names
        return names[bisect_left(names, f"{folder}/") : bisect_left(names, f"{folder}0")]
