"""Find a test runner in a command line. Pure.

Rule: only a certain runner is found; a word that may be another program's argument is not.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from asbuilt.policy.shell.judge import argv_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PACKAGERS: Final = ("npm", "pnpm", "yarn")
_SHELL: Final = ("/bin/sh", "-c")
_LAST: Final = re.compile(r"(?s)(.*(?:&&|;|\n))?(\s*(?:[A-Za-z_]\w*=[\w./:,+@%-]*\s+)*)(.*)")
_MOVES: Final = re.compile(r"\b(?:cd|pushd)\b")
_PYTEST: Final = ("pytest", "py.test")
_BEFORE: Final = ("-m", "run", "--frozen", "--locked", "--offline", "--no-sync")
"""Words after which a pytest is the started program, not another program's argument."""
_VALUED: Final = ("--extra", "--group", "--only-group", "--python", "--package")
"""Options of uv and similar tools that take the next word."""
_STARTERS: Final = ("python", "uv", "poetry", "pdm", "hatch", "pipenv", "coverage")
_NODE_STARTERS: Final = ("npx", "node", "exec", "run", "c8", "nyc", "cross-env", *PACKAGERS)
_PHASES: Final = frozenset(("test", "package", "verify", "install"))


class Line(NamedTuple):
    """The last command of a command line, if it is a plain one."""

    head: str | None
    """What the shell runs before it, and its variables; None without a shell."""
    words: tuple[str, ...]

    @property
    def moves(self) -> bool:
        """Whether it may start in another folder, where paths of the tree do not apply."""
        return self.head is not None and _MOVES.search(self.head) is not None

    def argv(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the command line with other words as its last command."""
        return tuple(words) if self.head is None else (*_SHELL, self.head + shlex.join(words))


def line_of(argv: tuple[str, ...]) -> Line:
    """Split a command line before its last command: `cd api && CI=1 pytest -q` ends with pytest."""
    if argv[:2] != _SHELL or (found := _LAST.fullmatch(argv[2])) is None:
        return Line(None, argv)
    words = argv_of(found[3].strip())
    return Line(None, argv) if words[:2] == _SHELL else Line((found[1] or "") + found[2], words)


def name_of(word: str) -> str:
    """Return the name of a program without its folder."""
    return word.rpartition("/")[2]


def pytest_in(words: Sequence[str]) -> int | None:
    """Find the last word before pytest's own arguments."""
    names = [name_of(word) for word in words]
    if names[0] in _PYTEST:
        return 0
    if not names[0].startswith(_STARTERS):
        return None
    found = (at for at, name in enumerate(names) if name in _PYTEST)
    return next((at for at in found if words[at - 1] in _BEFORE or words[at - 2] in _VALUED), None)


def unittest_in(words: Sequence[str]) -> int | None:
    """Find the word `unittest` after `-m`."""
    if not name_of(words[0]).startswith(_STARTERS) or "unittest" not in words:
        return None
    at = words.index("unittest")
    return at if words[at - 1] == "-m" else None


def django_in(words: Sequence[str]) -> int | None:
    """Find the word `test` after `manage.py` or `django-admin`."""
    names = [name_of(word) for word in words]
    starts = (at for at, name in enumerate(names[:-1]) if name in ("manage.py", "django-admin"))
    return next((at + 1 for at in starts if names[at + 1] == "test"), None)


def node_in(words: Sequence[str]) -> int | None:
    """Find node itself if it runs tests: its options come before its files."""
    return 0 if name_of(words[0]) == "node" and "--test" in words else None


def tool(*names: str) -> Callable[[Sequence[str]], int | None]:
    """Return a function that finds a program of node's packages, alone or after programs that start one."""

    def find(words: Sequence[str]) -> int | None:
        for at, word in enumerate(words):
            name = name_of(word)
            if name in names:
                return at + 1 if [*words[at + 1 : at + 2]] == ["run"] else at
            if name not in _NODE_STARTERS and not word.startswith("-") and "=" not in word:
                return None
        return None

    return find


def started_as(*wanted: str) -> Callable[[Sequence[str]], int | None]:
    """Return a function that finds a command by its first words."""

    def find(words: Sequence[str]) -> int | None:
        is_it = (name_of(words[0]), *words[1 : len(wanted)]) == wanted
        return len(wanted) - 1 if is_it else None

    return find


def maven_in(words: Sequence[str]) -> int | None:
    """Find a Maven command that includes the phase `test`."""
    is_maven = name_of(words[0]) in ("mvn", "mvnw", "mvnd")
    return 0 if is_maven and not _PHASES.isdisjoint(words) else None


def gradle_in(words: Sequence[str]) -> int | None:
    """Find the Gradle task that runs tests."""
    if name_of(words[0]) not in ("gradle", "gradlew"):
        return None
    tasks = [at for at, word in enumerate(words) if word.rpartition(":")[2] in ("test", "check", "build")]
    return tasks[-1] if tasks else None
