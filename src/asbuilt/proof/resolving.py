"""Find out how a project is tested and made ready, from names in its base and a few of its files.

The one rule: nothing here runs anything, and what nobody has said is a proposal, never an answer.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LOOKED_INTO: Final = ("tests", "spec")
"""Folders whose files count; of all others only what lies at the top."""
READ: Final = (
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "Makefile",
    "makefile",
    "GNUmakefile",
)
_FOUND: Final = 5
_NAME: Final = 80
_PLACEHOLDER: Final = "no test specified"
_TEST_TARGET: Final = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_LOCKS: Final = (
    (("uv.lock", "uv sync --frozen"), ("poetry.lock", "poetry install --no-interaction")),
    (
        ("package-lock.json", "npm ci"),
        ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
        ("yarn.lock", "yarn install --frozen-lockfile"),
    ),
    (("Cargo.lock", "cargo fetch --locked"),),
    (("go.sum", "go mod download"),),
    (("Gemfile.lock", "bundle install"),),
)
"""One row for each kind of project; the first lock file of a row that is there decides."""
_WANTED: Final = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements*.txt",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Gemfile",
)
"""Files beside the lock files that say what a setup installs."""


class Project(NamedTuple):
    """What is looked at: names with their objects, and the texts of the few files named in `READ`."""

    names: Mapping[str, str]
    texts: Mapping[str, str]


class Given(NamedTuple):
    """Somebody has set the command."""

    command: str


class Detected(NamedTuple):
    """Nobody has; this one would fit what was found."""

    command: str
    found: tuple[str, ...]


class Unknown(NamedTuple):
    """There are signs of tests, and no command that would run them is known."""

    found: tuple[str, ...]


class NoTests(NamedTuple):
    """Nothing tests this project, or its owner says so."""

    said: bool = False


Resolved = Given | Detected | Unknown | NoTests


class Setup(NamedTuple):
    """How a checkout is made ready for checks."""

    command: str | None
    digest: str
    """Names the command and what it installs; the same digest is set up once."""


NO_SETUP: Final = Setup(None, "none")


def resolve(given: str | None, project: Project) -> Resolved:
    """Resolve the test command: what was set, where the empty text means no tests, else what is found."""
    if given is not None:
        return Given(given) if given.strip() else NoTests(said=True)
    signs = list(_signs(project))
    found = tuple(dict.fromkeys(_shown(name) for name, _ in signs))[:_FOUND]
    command = next((command for _, command in signs if command is not None), None)
    if command is not None:
        return Detected(command, found)
    return Unknown(found) if found else NoTests()


def commands_found(project: Project) -> list[tuple[str, tuple[str, ...]]]:
    """List every command that a sign of tests stands for, with those signs; the best first."""
    found: dict[str, list[str]] = {}
    for name, command in _signs(project):
        if command is not None:
            found.setdefault(command, []).append(_shown(name))
    return [(command, tuple(dict.fromkeys(names))) for command, names in found.items()]


def command_of(resolved: Resolved) -> str | None:
    """Give the command that proves, or None where no test can."""
    match resolved:
        case Given(command=command) | Detected(command=command):
            return command
        case Unknown() | NoTests():
            return None
        case _:
            assert_never(resolved)


def proposal(resolved: Resolved) -> str | None:
    """Give the key of what a person has to agree to, the same whenever the same is proposed."""
    match resolved:
        case Given() | NoTests():
            return None
        case Detected(command=command):
            said = ["with", command]
        case Unknown(found=found):
            said = ["without", *found]
        case _:
            assert_never(resolved)
    return f"tests/{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]}"


def written(resolved: Resolved) -> dict[str, Any]:
    """Give it as the data of an event."""
    return {
        "source": type(resolved).__name__.lower(),
        "command": command_of(resolved),
        "found": list(getattr(resolved, "found", ())),
        "said": getattr(resolved, "said", False),
    }


def read_back(data: Mapping[str, Any]) -> Resolved:
    """Read it from the data of an event."""
    found = tuple(data["found"])
    match data["source"]:
        case "given":
            return Given(data["command"])
        case "detected":
            return Detected(data["command"], found)
        case "unknown":
            return Unknown(found)
        case _:
            return NoTests(data["said"])


def resolve_setup(given: str | None, project: Project) -> Setup:
    """Resolve the setup: what was set, where the empty text means none, else what the lock files ask for."""
    command = given.strip() if given is not None else " && ".join(_installs(project))
    if not command:
        return NO_SETUP
    inputs = [*(name for row in _LOCKS for name, _ in row), *_WANTED]
    seen = sorted(
        (name, file)
        for name, file in project.names.items()
        if any(fnmatchcase(name, pattern) for pattern in inputs)
    )
    return Setup(command, hashlib.sha256(json.dumps([command, seen]).encode()).hexdigest()[:32])


def _installs(project: Project) -> Iterator[str]:
    for row in _LOCKS:
        command = next((command for name, command in row if name in project.names), None)
        if command is not None:
            yield command


def _signs(project: Project) -> Iterator[tuple[str, str | None]]:
    """Name every sign of tests, with the command it stands for; the best command comes first."""
    yield from _of_python(project)
    yield from _of_node(project)
    if "Cargo.toml" in project.names:
        yield "Cargo.toml", "cargo test"
    if "go.mod" in project.names:
        # Without -v, go does not tell how many tests ran.
        yield "go.mod", "go test -v ./..."
    if "Gemfile" in project.names and _matching(project, "spec/*"):
        yield "Gemfile", "bundle exec rspec"
    for name in ("Makefile", "makefile", "GNUmakefile"):
        if name in project.names:
            yield name, "make test" if _TEST_TARGET.search(project.texts.get(name, "")) else None
    for pattern in ("tests/*.sh", "tests/*.js"):
        yield from ((name, None) for name in _matching(project, pattern)[:1])


def _of_python(project: Project) -> Iterator[tuple[str, str | None]]:
    command = "python -m pytest -q"
    if "uv.lock" in project.names:
        command = "uv run pytest -q"
    elif "poetry.lock" in project.names:
        command = "poetry run pytest -q"
    for name in ("pytest.ini", "conftest.py"):
        if name in project.names:
            yield name, command
    tool = _table(project.texts.get("pyproject.toml", "")).get("tool")
    if isinstance(tool, dict) and any(name.startswith("pytest") for name in tool):
        yield "pyproject.toml", command
    for name, section in (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
        if section in project.texts.get(name, ""):
            yield name, command
    for pattern in ("tests/*.py", "test_*.py"):
        yield from ((name, command) for name in _matching(project, pattern)[:1])
    # Both make environments of their own, which takes a network that checks do not have.
    for name in ("tox.ini", "noxfile.py"):
        if name in project.names:
            yield name, None


def _of_node(project: Project) -> Iterator[tuple[str, str | None]]:
    scripts = _object(project.texts.get("package.json", "")).get("scripts")
    test = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(test, str) and test.strip() and _PLACEHOLDER not in test:
        runner = "npm"
        if "package-lock.json" not in project.names:
            locks = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"))
            runner = next((program for name, program in locks if name in project.names), runner)
        yield "package.json", f"{runner} test"
    for pattern, program in (
        ("vitest.config.*", "vitest run"),
        ("jest.config.*", "jest"),
        (".mocharc.*", "mocha"),
    ):
        for name in _matching(project, pattern)[:1]:
            yield name, f"npx --no-install {program}"


def _shown(name: str) -> str:
    """Make a name fit for a sentence, whoever chose it."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:_NAME])


def _matching(project: Project, pattern: str) -> list[str]:
    return sorted(name for name in project.names if fnmatchcase(name, pattern))


def _table(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
